"""Claims of studies: statement, verdict, numbers, samples, and the readings that would turn the verdict."""

import math
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request

from apps.api.conditional import no_document, publish
from apps.api.fields import LinkField, NumberField, PageField
from apps.api.openapi import BASE
from apps.api.resources.questions.serializers import FactorAnswerSerializer
from apps.api.viewsets import ScopedViewSet
from apps.comparison.claims.checks.outcomes import VERDICTS
from apps.comparison.claims.matched.claimed_question import DIRECTIONS, ClaimedQuestion
from apps.comparison.claims.matched.confounders import confounder_words
from apps.comparison.claims.models import Claim, VerdictChange
from apps.comparison.claims.presentation import matched_of
from apps.comparison.question import QuestionError, text
from apps.comparison.questions import BY_NAME
from apps.core.quantities import all_written, written
from apps.core.text import whole_number
from apps.core.unit_base import base

Json = dict[str, Any]


class ClaimLineSerializer(serializers.Serializer[Any]):
    """One comparison of a check, with its arithmetic."""

    at = serializers.CharField(help_text="what the comparison is made for: `write · 2000 MiB`")
    words = serializers.CharField(help_text="the arithmetic")
    holds = serializers.BooleanField(
        allow_null=True, help_text="null where it could not be made, or a range leaves it open"
    )
    low = NumberField(allow_null=True, help_text="the comparison's number; it is a range where low and high differ")
    high = NumberField(allow_null=True)
    unit = serializers.CharField()
    samples = serializers.ListField(child=serializers.IntegerField())


class ClaimCheckSerializer(serializers.Serializer[Any]):
    """A part of a claim that is checked by itself."""

    kind = serializers.CharField()
    sentence = serializers.CharField()
    name = serializers.CharField()
    state = serializers.CharField(help_text="holds, partly, fails, no data")
    holds = serializers.IntegerField(help_text="comparisons that hold")
    made = serializers.IntegerField(help_text="comparisons that could be made")
    left_out = serializers.IntegerField(help_text="what some group has and another lacks")
    lines = ClaimLineSerializer(many=True)


class ClaimComputedSerializer(serializers.Serializer[Any]):
    """What the data say about a claim."""

    checks = ClaimCheckSerializer(many=True)


class ClaimDoubtSerializer(serializers.Serializer[Any]):
    """A doubtful reading that would turn a verdict."""

    sample = serializers.IntegerField()
    run = serializers.IntegerField()
    why = serializers.CharField()
    printed = serializers.CharField()
    place = serializers.CharField()
    instead_of = NumberField(allow_null=True, help_text="the value as it is taken, in base units")
    value = NumberField(help_text="the reading that turns the verdict")
    verdict = serializers.CharField(help_text="the verdict that it turns to")


class ClaimConfounderSerializer(serializers.Serializer[Any]):
    """A fact that differs between the samples of a claim."""

    fact = serializers.CharField()
    kind = serializers.CharField(
        help_text="differs, mixed (inside one group) or unknown (for some of the groups); of matched sets also "
        "implied (comes with the factor), not_recorded (by any run) and time (one level measured before the other)"
    )
    text = serializers.CharField(help_text="of the first comparison in which it differs")
    comparisons = serializers.IntegerField(help_text="in how many of the claim's comparisons it differs")


class ClaimCaveatSerializer(serializers.Serializer[Any]):
    """A caveat about the samples of a claim."""

    rule = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    arithmetic = serializers.ListField(child=serializers.CharField())


class RunFilterSerializer(serializers.Serializer[Any]):
    """A fact of runs and the values that count."""

    name = serializers.CharField()
    equals = serializers.ListField(child=serializers.CharField())


class ClaimedQuestionSerializer(serializers.Serializer[Any]):
    """What a claim says of a question with everything else held equal."""

    factor = serializers.CharField(help_text=", ".join(BY_NAME))
    level = serializers.CharField()
    against = serializers.CharField(help_text="the level that it is held against")
    operation = serializers.CharField()
    metric = serializers.CharField()
    direction = serializers.CharField(help_text=", ".join(DIRECTIONS))
    size = NumberField(
        allow_null=True, help_text="higher: the least ratio; lower: the greatest; else how far from equal; null: any"
    )
    low = serializers.SerializerMethodField(help_text="the least ratio that is claimed")
    high = serializers.SerializerMethodField(help_text="the greatest ratio that is claimed; null: no limit")
    hold = serializers.ListField(child=serializers.CharField(), help_text="facts that were held beside the usual ones")
    ignore = serializers.ListField(child=serializers.CharField(), help_text="facts that were left out")
    published = serializers.BooleanField(help_text="with the runs of published reports")
    where = RunFilterSerializer(many=True, help_text="whose runs count")

    @extend_schema_field(NumberField)
    def get_low(self, claimed: ClaimedQuestion) -> float:
        return claimed.claimed_ratios[0]

    @extend_schema_field(NumberField(allow_null=True))
    def get_high(self, claimed: ClaimedQuestion) -> float | None:
        high = claimed.claimed_ratios[1]
        return high if math.isfinite(high) else None


class ClaimHistorySerializer(serializers.ModelSerializer[VerdictChange]):
    """An evaluation that found something new."""

    before = serializers.SerializerMethodField()
    after = serializers.CharField()

    class Meta:
        model = VerdictChange
        fields = ("at", "before", "after", "why")
        read_only_fields = fields

    def get_before(self, change: VerdictChange) -> str | None:
        return change.before or None


class ClaimSerializer(serializers.ModelSerializer[Claim]):
    """A claim as it was evaluated last. What was computed is shown as it is stored, with units as they are asked for."""

    url = LinkField("api-claim")
    page = PageField()
    study = serializers.CharField(source="study.slug")
    kind = serializers.CharField()
    language = serializers.CharField()
    definition = serializers.DictField(help_text="the typed form, as it was written")
    verdict = serializers.CharField(help_text=", ".join(VERDICTS))
    computed = serializers.SerializerMethodField()
    samples = serializers.ListField(
        child=serializers.IntegerField(), help_text="ids of the samples that the numbers are from"
    )
    question = serializers.SerializerMethodField(help_text="of a claim about a question; null for one with checks")
    answer = serializers.SerializerMethodField(
        help_text="what its matched sets said when it was evaluated last; null for a claim with checks"
    )
    confounders = serializers.SerializerMethodField(
        help_text="what else differs between the samples, or the sides of the sets, that are held against each other"
    )
    caveats = serializers.SerializerMethodField(help_text="what Compare's rules find in the same samples")
    sensitivity = serializers.SerializerMethodField(
        help_text="doubtful readings that would turn the verdict, one at a time"
    )
    doubtful_samples = serializers.SerializerMethodField()
    readings_tried = serializers.SerializerMethodField()
    problem = serializers.CharField(help_text="why it could not be evaluated; empty where it was")
    history = ClaimHistorySerializer(many=True, help_text="newest first")

    class Meta:
        model = Claim
        fields = (
            "id", "url", "page", "study", "code", "statement", "language", "statement_english", "source_lines", "quote",
            "comment", "kind", "definition", "verdict", "question", "answer", "computed", "samples", "confounders", "caveats", "sensitivity",
            "doubtful_samples", "readings_tried", "problem", "evaluated_at", "history",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(ClaimedQuestionSerializer(allow_null=True))
    def get_question(self, claim: Claim) -> Any:
        matched = matched_of(claim)
        return ClaimedQuestionSerializer(matched.claimed).data if matched else None

    @extend_schema_field(FactorAnswerSerializer(allow_null=True))
    def get_answer(self, claim: Claim) -> Any:
        matched = matched_of(claim)
        if matched is None or matched.answer is None:
            return None
        address = self.context["request"].build_absolute_uri(matched.link)
        context = {**self.context, "addresses": {matched.factor.name: address}}
        return FactorAnswerSerializer(matched.answer, context=context).data

    @extend_schema_field(ClaimConfounderSerializer(many=True))
    def get_confounders(self, claim: Claim) -> list[Json]:
        if not claim.is_about_question:
            return [dict(one) for one in ClaimConfounderSerializer(claim.confounders, many=True).data]
        return [{**one, "text": confounder_words(one)} for one in claim.confounders]

    @extend_schema_field(ClaimComputedSerializer)
    def get_computed(self, claim: Claim) -> Json:
        if claim.is_about_question:
            return {"checks": []}
        in_base = base()
        checks = [
            {
                **check,
                "sentence": written(check["sentence"], in_base),
                "lines": [{**line, "words": written(line["words"], in_base)} for line in check["lines"]],
            }
            for check in claim.computed.get("checks", [])
        ]
        return {**claim.computed, "checks": checks} if checks else claim.computed

    @extend_schema_field(ClaimCaveatSerializer(many=True))
    def get_caveats(self, claim: Claim) -> list[Json]:
        return [{**caveat, "arithmetic": all_written(caveat["arithmetic"], base())} for caveat in claim.caveats]

    @extend_schema_field(ClaimDoubtSerializer(many=True))
    def get_sensitivity(self, claim: Claim) -> list[Json]:
        return claim.overturned_by

    def get_doubtful_samples(self, claim: Claim) -> int:
        return int(claim.sensitivity.get("doubtful_samples", 0))

    def get_readings_tried(self, claim: Claim) -> int:
        return int(claim.sensitivity.get("readings_tried", 0))


STUDY = OpenApiParameter("study", description="slug or id; the same name twice means either")
VERDICT = OpenApiParameter("verdict", enum=list(VERDICTS))


@extend_schema_view(
    list=extend_schema(description="In the order in which they were written.", parameters=[STUDY, VERDICT, BASE])
)
class ClaimViewSet(ListModelMixin, ScopedViewSet[Claim]):
    """Claims of own studies and of published ones."""

    model = Claim
    serializer_class = ClaimSerializer
    filters = ("study", "verdict")

    def get_queryset(self) -> QuerySet[Claim]:
        """Return the claims without the numbers of former evaluations, which may be long."""
        history = Prefetch("history", VerdictChange.objects.defer("computed"))
        return super().get_queryset().select_related("study").prefetch_related(history)

    def filter_queryset(self, queryset: Any) -> Any:
        claims = super().filter_queryset(queryset)
        if studies := self.request.query_params.getlist("study"):
            claims = claims.filter(match_studies(studies))
        if verdicts := self.request.query_params.getlist("verdict"):
            for verdict in verdicts:
                if verdict not in VERDICTS:
                    raise QuestionError("verdict", verdict, f"one of: {', '.join(VERDICTS)}")
            claims = claims.filter(verdict__in=verdicts)
        return claims

    @extend_schema(parameters=[BASE], responses={200: ClaimSerializer, 304: None})
    def retrieve(self, request: Request, pk: int) -> HttpResponseBase:
        """Return one claim, with the history of its verdict."""
        claim = self.get_object()
        permalink = request.build_absolute_uri(claim.get_absolute_url())
        return publish(request, self.get_serializer(claim).data, no_document, permalink)


def match_studies(studies: list[str]) -> Q:
    """Return the condition that a claim belongs to any of these studies, each given by its slug or id."""
    either = Q()
    for study in studies:
        name = text("study", study)
        number = whole_number(name)
        either |= Q(study__slug=name) | (Q() if number is None else Q(study=number))
    return either
