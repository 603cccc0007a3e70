"""The shape of a trend in the REST interface's description."""

from typing import Any

from rest_framework import serializers as s

from apps.publishing.comparison_schema import Filter


class Watch(s.Serializer[Any]):
    id = s.IntegerField()
    name = s.CharField()
    url = s.URLField()
    page = s.URLField()
    metric = s.CharField()
    unit = s.CharField(help_text="base unit of all values")
    higher_is_better = s.BooleanField()
    operation = s.CharField()
    filters = Filter(many=True)
    threshold = s.FloatField(help_text="the least change that is told, as a fraction")
    is_active = s.BooleanField()
    state = s.CharField(help_text="worse, drifting, steady, too few runs, not looked at yet, paused")
    open_changes = s.IntegerField(help_text="for the worse, that nobody has acknowledged")
    runs = s.IntegerField()
    level = s.FloatField(allow_null=True, help_text="median since the last change")
    last_run = s.IntegerField(allow_null=True)
    evaluated_at = s.DateTimeField(allow_null=True)
    created_by = s.CharField()
    created_at = s.DateTimeField()


class TrendPoint(s.Serializer[Any]):
    run = s.IntegerField()
    at = s.DateTimeField()
    value = s.FloatField()
    outlier = s.BooleanField()


class Segment(s.Serializer[Any]):
    first_run = s.IntegerField()
    last_run = s.IntegerField()
    runs = s.IntegerField()
    median = s.FloatField()
    began_by = s.CharField(help_text="start, change or mark")


class FactChange(s.Serializer[Any]):
    fact = s.CharField()
    label = s.CharField()  # type: ignore[assignment]  # a field of this name is meant
    before = s.CharField()
    after = s.CharField()


class ChangePoint(s.Serializer[Any]):
    id = s.IntegerField()
    run = s.IntegerField(help_text="the first after")
    run_before = s.IntegerField(allow_null=True)
    at = s.DateTimeField()
    found_at = s.DateTimeField()
    direction = s.CharField(help_text="better or worse")
    ratio = s.FloatField(help_text="after ÷ before")
    ratio_low = s.FloatField(allow_null=True)
    ratio_high = s.FloatField(allow_null=True)
    before = s.FloatField()
    after = s.FloatField()
    n_before = s.IntegerField()
    n_after = s.IntegerField()
    facts = FactChange(many=True, help_text="what changed with it")
    caveats = s.ListField(child=s.CharField(), help_text="what speaks against it")
    is_backfill = s.BooleanField(help_text="was in the data when they came; nobody was told")
    acknowledged_by = s.CharField()
    acknowledged_at = s.DateTimeField(allow_null=True)
    notified_at = s.DateTimeField(allow_null=True)


class Mark(s.Serializer[Any]):
    id = s.IntegerField()
    at = s.DateTimeField()
    text = s.CharField()
    run = s.IntegerField(allow_null=True)
    watch = s.IntegerField(allow_null=True)
    target = s.IntegerField(allow_null=True, help_text="then it counts for every watch of the target's runs")
    created_by = s.CharField()
    created_at = s.DateTimeField()


class NewMark(s.Serializer[Any]):
    text = s.CharField(max_length=300)
    run = s.IntegerField(required=False, help_text="the first run after the change")
    at = s.DateTimeField(required=False)
    everywhere = s.BooleanField(required=False, help_text="for every watch of the target")


class Drift(s.Serializer[Any]):
    per_run = s.FloatField(help_text="fraction")
    total = s.FloatField(help_text="fraction, over the newest stretch")
    direction = s.CharField()


class Trend(Watch):
    noise = s.FloatField(allow_null=True, help_text="spread from run to run, as a fraction")
    missing_runs = s.IntegerField(help_text="wanted until changes can be told from chance")
    drift = Drift(allow_null=True)
    points = TrendPoint(many=True)
    left_out = s.ListField(child=s.IntegerField(), help_text="runs whose value is not above zero")
    segments = Segment(many=True)
    change_points = ChangePoint(many=True)
    marks = Mark(many=True)
