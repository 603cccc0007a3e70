"""Comparisons: the one of the compare page, by the same address, for scripts and wikis; and those that are saved."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request

from apps.api import documents, pictures
from apps.api.conditional import publish
from apps.api.fields import FilterSerializer, LinkField, NumberField, PageField
from apps.api.openapi import ANY_FACT, BASE
from apps.api.renderers import DOCUMENT, PICTURES
from apps.api.resources.caveats import CaveatSerializer
from apps.api.viewsets import ScopedAPIView, ScopedViewSet
from apps.comparison.answer import answer
from apps.comparison.cells import Comparison, ComparisonCell, Correction, Outlier, Withheld
from apps.comparison.charts.chart import Chart
from apps.comparison.charts.comparison import chart_of, refusals
from apps.comparison.confounders import Confounder, Contrast, Suggestion
from apps.comparison.likeness import CellMember
from apps.comparison.models import SavedComparison
from apps.comparison.question import AXES, CHARTS, MOST_DRAWN, NOT_FILTERS, SCALES, QuestionError, parse
from apps.comparison.readings import Reading
from apps.comparison.saved_comparisons.question import resolve_all
from apps.comparison.statistics.factors import Effect, LevelPair
from apps.comparison.statistics.method import method_of
from apps.comparison.statistics.modes import Mode
from apps.runs.metrics import METRICS, OPERATIONS
from apps.runs.models import Run

Json = dict[str, Any]


class OutlierSerializer(serializers.Serializer[Outlier]):
    """A run whose value stands far from its cell's median."""

    run = serializers.IntegerField()
    value = NumberField()


class ModeSerializer(serializers.Serializer[Mode]):
    """One of several values round which a cell's runs lie."""

    n = serializers.IntegerField()
    value = NumberField(help_text="median of its runs")


class UnlikeConfigurationSerializer(serializers.Serializer[CellMember]):
    """One of the unlike configurations in a cell."""

    facts = serializers.DictField(child=serializers.CharField(), help_text="those that differ, as people write them")
    runs = serializers.ListField(child=serializers.IntegerField())
    mean = NumberField()


class CellSerializer(serializers.Serializer[ComparisonCell]):
    """All runs of one series at one x."""

    x = serializers.JSONField(help_text="number in base units, word, or null where unknown")
    series = serializers.CharField()
    n = serializers.IntegerField()
    mean = NumberField(allow_null=True)
    median = NumberField(allow_null=True)
    stdev = NumberField(allow_null=True)
    minimum = NumberField(allow_null=True)
    maximum = NumberField(allow_null=True)
    ci_low = NumberField(allow_null=True)
    ci_high = NumberField(allow_null=True)
    merged = NumberField(allow_null=True, help_text="percentile of the merged histograms")
    ratio = NumberField(allow_null=True)
    ratio_low = NumberField(allow_null=True)
    ratio_high = NumberField(allow_null=True)
    verdict = serializers.CharField(allow_null=True, help_text="better, worse, no significant difference, too few runs")
    runs = serializers.ListField(child=serializers.IntegerField())
    low = NumberField(allow_null=True)
    high = NumberField(allow_null=True)
    quality = serializers.CharField()
    missing = serializers.SerializerMethodField()
    method = serializers.CharField(help_text="of the ratio: welch, bootstrap, means, medians, or empty")
    effect_size = NumberField(allow_null=True, help_text="Hedges' g against the baseline")
    p = NumberField(allow_null=True)
    p_adjusted = NumberField(allow_null=True, help_text="for all cells; the verdict follows it")
    more_runs = serializers.IntegerField(
        allow_null=True, help_text="of this series and of the baseline, to settle what is open"
    )
    advice = serializers.CharField()
    unlike = serializers.IntegerField(
        help_text="configurations that the cell's values are of: 1 where all its runs are alike, 0 where it has no value. "
        "Of several there is no interval, no ratio and no verdict"
    )
    withheld = serializers.CharField(
        allow_null=True, help_text=f"why there is no verdict: {', '.join(Withheld)}; else null"
    )
    unlike_facts = serializers.ListField(child=serializers.CharField(), help_text="facts that differ inside the cell")
    confounders = serializers.ListField(
        child=serializers.CharField(), help_text="facts that differ from the baseline's cell as well"
    )
    unknown_facts = serializers.ListField(
        source="unknown",
        child=serializers.CharField(),
        help_text="facts that are known of neither the cell nor the baseline's, at unlike places, and may differ",
    )
    configurations = UnlikeConfigurationSerializer(
        source="members", many=True, help_text="of a mixture, the first of them"
    )
    split = serializers.SerializerMethodField(help_text="of a mixture: the query of compare/ that shows them apart")
    outliers = OutlierSerializer(many=True)
    modes = ModeSerializer(many=True)

    def get_missing(self, cell: ComparisonCell) -> str | None:
        return cell.missing or None

    def get_split(self, cell: ComparisonCell) -> str | None:
        return cell.split or None


class CorrectionSerializer(serializers.Serializer[Correction]):
    """How the verdicts of all cells are kept from false alarms."""

    method = serializers.CharField()
    tests = serializers.IntegerField()
    level = NumberField()


class ConfounderSerializer(serializers.Serializer[Confounder]):
    """A fact that differs beside those that are compared."""

    fact = serializers.CharField()
    kind = serializers.CharField(help_text="differs, along (from place to place of the axis), mixed or unknown")
    values = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    text = serializers.CharField()


class ContrastSerializer(serializers.Serializer[Contrast]):
    """What two series, or two configurations, differ in."""

    series = serializers.ListField(child=serializers.CharField(), help_text="two series, or two configurations")
    differs = ConfounderSerializer(many=True)
    unknown = ConfounderSerializer(many=True, help_text="known of one only")
    equal = serializers.ListField(child=serializers.CharField())


class MostEqualSerializer(serializers.Serializer[Suggestion]):
    """The two configurations that differ in the fewest other facts."""

    contrast = ContrastSerializer()
    filters = serializers.SerializerMethodField(help_text="leave just these two")

    @extend_schema_field(FilterSerializer(many=True))
    def get_filters(self, suggestion: Suggestion) -> list[Json]:
        return [{"name": name, "value": value} for name, value in suggestion.filters]


class HeldRatioSerializer(serializers.Serializer[Any]):
    """A ratio at one x."""

    x = serializers.JSONField()
    ratio = NumberField()


class HeldSerializer(serializers.Serializer[LevelPair]):
    """Ratios of one factor at equal levels of the others."""

    at = serializers.ListField(child=serializers.CharField(), help_text="levels of the other factors")
    contrast = ContrastSerializer()
    ratios = serializers.SerializerMethodField()

    @extend_schema_field(HeldRatioSerializer(many=True))
    def get_ratios(self, held: LevelPair) -> list[Json]:
        return [{"x": x, "ratio": ratio} for x, ratio in held.ratios]


class EffectSerializer(serializers.Serializer[Effect]):
    """What one of several factors does by itself."""

    factor = serializers.CharField()
    level = serializers.CharField()
    against = serializers.CharField()
    held = HeldSerializer(many=True)


class ComparisonSerializer(serializers.Serializer[Comparison]):
    """A comparison in base units. The context has its `permalink`."""

    metric = serializers.CharField(source="metric.name")
    unit = serializers.CharField(source="metric.unit")
    higher_is_better = serializers.BooleanField(source="metric.higher_is_better")
    operation = serializers.CharField()
    x = serializers.CharField()
    series = serializers.ListField(child=serializers.CharField())
    series_by = serializers.ListField(source="question.series", child=serializers.CharField())
    drawn = serializers.ListField(
        child=serializers.CharField(),
        help_text=f"series that a picture draws, at most {MOST_DRAWN}; a heat map has all",
    )
    baseline = serializers.CharField(allow_null=True)
    filters = serializers.SerializerMethodField()
    samples = serializers.IntegerField()
    cells = CellSerializer(many=True)
    correction = CorrectionSerializer(allow_null=True)
    method = serializers.SerializerMethodField(help_text="how the numbers were come by, in words")
    confounders = ConfounderSerializer(many=True)
    contrasts = ContrastSerializer(
        many=True, help_text="pairs of series; of more than 12 series, those with the baseline"
    )
    most_equal = MostEqualSerializer(source="suggestion", allow_null=True)
    effects = EffectSerializer(many=True, help_text="each of several factors by itself")
    caveats = CaveatSerializer(many=True)
    permalink = serializers.SerializerMethodField()

    @extend_schema_field(FilterSerializer(many=True))
    def get_filters(self, comparison: Comparison) -> list[Json]:
        return [{"name": name, "value": value} for name, value in comparison.question.filters]

    def get_method(self, comparison: Comparison) -> str:
        return str(method_of(comparison))

    @extend_schema_field(serializers.URLField)
    def get_permalink(self, comparison: Comparison) -> str:
        return str(self.context["permalink"])


class SavedComparisonSerializer(serializers.ModelSerializer[SavedComparison]):
    """A comparison whose question is kept under a name."""

    url = LinkField("api-comparison")
    page = PageField(help_text="the short permalink")
    compare_url = serializers.SerializerMethodField(
        help_text="its answer, computed now; null where what it is about was deleted"
    )
    problem = serializers.CharField(help_text="what it refers to and was deleted, as a sentence; else empty")

    class Meta:
        model = SavedComparison
        fields = ("id", "name", "url", "page", "compare_url", "problem", "created_by", "created_at")
        read_only_fields = fields

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_compare_url(self, saved: SavedComparison) -> str | None:
        if not saved.can_be_asked:
            return None
        return str(self.context["request"].build_absolute_uri(f"{reverse('api-compare')}?{saved.current_query}"))


class SavedComparisonViewSet(ListModelMixin, RetrieveModelMixin, ScopedViewSet[SavedComparison]):
    """Saved comparisons: their names and addresses, for scripts that follow what a lab keeps an eye on."""

    model = SavedComparison
    serializer_class = SavedComparisonSerializer

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """Return a page of comparisons, with what they refer to looked up together."""
        return list(resolve_all(super().paginate_queryset(queryset)))


PARAMETERS = [
    OpenApiParameter("metric", enum=list(METRICS), default="bandwidth"),
    OpenApiParameter("operation", enum=list(OPERATIONS), default="write"),
    OpenApiParameter("x", default="file_size", description="file_size, block_size, threads, iodepth, or any fact"),
    OpenApiParameter("series", default="label", description="one or more facts, with commas between them"),
    OpenApiParameter("baseline", description="a series' name, or `none`; the first series where it is left out"),
    OpenApiParameter("scale", enum=list(SCALES), default="linear"),
    BASE,
    OpenApiParameter("chart", enum=list(CHARTS), description="how a picture is drawn; lines or bars where left out"),
    OpenApiParameter(
        "axis",
        enum=list(AXES),
        description="x of lines in equal steps, or true; where left out, true along sizes and in equal steps along others",
    ),
    OpenApiParameter("order", many=True, description="names of the series that stand first, in this order"),
    OpenApiParameter(
        "draw",
        many=True,
        description=f"names of the series that a picture draws; where left out, the first {MOST_DRAWN}",
    ),
    *pictures.PARAMETERS,
]


class CompareView(ScopedAPIView):
    """The comparison of the compare page, by the same address."""

    serializer_class = ComparisonSerializer
    renderer_classes = (*DOCUMENT, *PICTURES)

    @extend_schema(
        parameters=PARAMETERS,
        description="Cells in base units, documents and pictures in people's. "
        f"Filters: `study`, `host`, `run`, … {ANY_FACT} "
        f"Reserved words are no filters: {', '.join(f'`{word}`' for word in sorted(NOT_FILTERS))}.",
    )
    def get(self, request: Request, format: str | None = None) -> HttpResponseBase:
        question = parse({name: [str(value) for value in values] for name, values in request.query_params.lists()})
        comparison, readings = answer(question)
        permalink = request.build_absolute_uri(f"{reverse('compare')}?{comparison.question.permalink}")
        if pictures.is_picture(request):
            return pictures.picture(request, draw(comparison, readings), permalink)
        newest = find_newest(comparison)
        return publish(
            request,
            ComparisonSerializer(comparison, context={"permalink": permalink}).data,
            lambda: documents.of_comparison(comparison, newest, permalink),
            permalink,
            beside=[question.base],  # of documents
        )


def draw(comparison: Comparison, readings: Sequence[Reading]) -> Chart:
    """Return the comparison's chart. A chart that the address names is drawn or refused, never replaced by another."""
    if sentences := refusals(comparison):
        chart = comparison.question.chart or comparison.question.axis
        raise QuestionError("chart", chart, " ".join(sentences))
    return chart_of(comparison, readings)


def find_newest(comparison: Comparison) -> datetime | None:
    """Return when the newest of the data came."""
    dates = Run.objects.filter(pk__in=comparison.runs).aggregate(finished=Max("finished_at"), made=Max("created_at"))
    newest: datetime | None = max((date for date in dates.values() if date), default=None)
    return newest
