"""Claims of studies: statement, verdict, numbers, samples, and the readings that would turn the verdict."""

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
from apps.api.viewsets import ScopedViewSet
from apps.comparison.claims.checks.outcomes import VERDICTS
from apps.comparison.claims.models import Claim, VerdictChange
from apps.comparison.question import QuestionError, text
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
    kind = serializers.CharField(help_text="differs, mixed (inside one group) or unknown (for some of the groups)")
    text = serializers.CharField(help_text="of the first comparison in which it differs")
    comparisons = serializers.IntegerField(help_text="in how many of the claim's comparisons it differs")


class ClaimCaveatSerializer(serializers.Serializer[Any]):
    """A caveat about the samples of a claim."""

    rule = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    arithmetic = serializers.ListField(child=serializers.CharField())


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
    confounders = ClaimConfounderSerializer(
        many=True, help_text="what else differs between the samples that are held against each other"
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
            "comment", "kind", "definition", "verdict", "computed", "samples", "confounders", "caveats", "sensitivity",
            "doubtful_samples", "readings_tried", "problem", "evaluated_at", "history",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(ClaimComputedSerializer)
    def get_computed(self, claim: Claim) -> Json:
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
