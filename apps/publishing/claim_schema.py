"""The shape of a claim in the REST interface's description."""

from typing import Any

from rest_framework import serializers as s

from apps.comparison.claims.outcomes import VERDICTS


class ClaimLine(s.Serializer[Any]):
    at = s.CharField(help_text="what the comparison is made for: `write · 2000 MiB`")
    words = s.CharField(help_text="the arithmetic")
    holds = s.BooleanField(allow_null=True, help_text="null where it could not be made, or a range leaves it open")
    low = s.FloatField(allow_null=True, help_text="the comparison's number; it is a range where low and high differ")
    high = s.FloatField(allow_null=True)
    unit = s.CharField()
    samples = s.ListField(child=s.IntegerField())


class ClaimCheck(s.Serializer[Any]):
    kind = s.CharField()
    sentence = s.CharField()
    name = s.CharField()
    state = s.CharField(help_text="holds, partly, fails, no data")
    holds = s.IntegerField(help_text="comparisons that hold")
    made = s.IntegerField(help_text="comparisons that could be made")
    left_out = s.IntegerField(help_text="what some group has and another lacks")
    lines = ClaimLine(many=True)


class ClaimComputed(s.Serializer[Any]):
    checks = ClaimCheck(many=True)


class ClaimDoubt(s.Serializer[Any]):
    sample = s.IntegerField()
    run = s.IntegerField()
    why = s.CharField()
    printed = s.CharField()
    place = s.CharField()
    instead_of = s.FloatField(allow_null=True, help_text="the value as it is taken, in base units")
    value = s.FloatField(help_text="the reading that turns the verdict")
    verdict = s.CharField(help_text="the verdict that it turns to")


class ClaimHistory(s.Serializer[Any]):
    at = s.DateTimeField()
    before = s.CharField(allow_null=True)
    after = s.CharField()
    why = s.CharField()


class Claim(s.Serializer[Any]):
    id = s.IntegerField()
    url = s.URLField()
    page = s.URLField()
    study = s.CharField()
    code = s.CharField()
    statement = s.CharField()
    language = s.CharField()
    statement_english = s.CharField()
    source_lines = s.CharField()
    quote = s.CharField()
    comment = s.CharField()
    kind = s.CharField()
    definition = s.DictField(help_text="the typed form, as it was written")
    verdict = s.CharField(help_text=", ".join(VERDICTS))
    computed = ClaimComputed()
    samples = s.ListField(child=s.IntegerField(), help_text="ids of the samples that the numbers are from")
    sensitivity = ClaimDoubt(many=True, help_text="doubtful readings that would turn the verdict, one at a time")
    doubtful_samples = s.IntegerField()
    readings_tried = s.IntegerField()
    problem = s.CharField(help_text="why it could not be evaluated; empty where it was")
    evaluated_at = s.DateTimeField(allow_null=True)
    history = ClaimHistory(many=True, help_text="newest first")
