"""Trends: what is watched, where it changed, and marks; for scripts that follow a lab's nights."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api import pictures
from apps.api.authentication import who
from apps.api.conditional import publish
from apps.api.documents import made
from apps.api.fields import FilterSerializer, LinkField, NumberField, PageField, show
from apps.api.openapi import BASE, problems
from apps.api.pagination import Whole
from apps.api.parsers import RefusedFieldError
from apps.api.problems import ProblemError
from apps.api.renderers import CSV, JSON, PICTURES
from apps.api.viewsets import ScopedViewSet
from apps.comparison.charts.chart import Chart
from apps.comparison.charts.data_table import as_table
from apps.comparison.saved_comparisons.question import resolve_all
from apps.core.quantities import all_written
from apps.core.tables import Document, Footer
from apps.core.unit_base import base
from apps.labs.models import TokenScope
from apps.trends.chart import chart_of_trend
from apps.trends.evaluation import trend_of
from apps.trends.forms import MarkForm
from apps.trends.models import ChangePoint, TrendMark, Watch
from apps.trends.queries import targets_of
from apps.trends.services import NoTargetError, mark
from apps.trends.watch_list import state_of, with_open_changes


class WatchSerializer(serializers.ModelSerializer[Watch]):
    """A watch as it was at the last look."""

    url = LinkField("api-trend")
    page = PageField()
    metric = serializers.CharField(source="resolved.question.metric")
    unit = serializers.CharField(source="metric.unit", help_text="base unit of all values")
    higher_is_better = serializers.BooleanField(source="metric.higher_is_better")
    operation = serializers.CharField(source="resolved.question.operation")
    filters = serializers.SerializerMethodField()
    problem = serializers.CharField(help_text="what it refers to and was deleted, as a sentence; else empty")
    threshold = NumberField(help_text="the least change that is told, as a fraction")
    state = serializers.SerializerMethodField(
        help_text="worse, drifting, steady, too few runs, not looked at yet, paused"
    )
    open_changes = serializers.IntegerField(help_text="for the worse, that nobody has acknowledged")
    runs = serializers.SerializerMethodField()
    level = NumberField(source="summary.level", allow_null=True, help_text="median since the last change")
    last_run = serializers.IntegerField(source="summary.last_run", allow_null=True)

    class Meta:
        model = Watch
        fields: tuple[str, ...] = (
            "id", "name", "url", "page", "metric", "unit", "higher_is_better", "operation", "filters", "problem",
            "threshold", "is_active", "state", "open_changes", "runs", "level", "last_run", "evaluated_at",
            "created_by", "created_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(FilterSerializer(many=True))
    def get_filters(self, watch: Watch) -> list[dict[str, str]]:
        return [{"name": name, "value": value} for name, value in watch.resolved.question.filters]

    def get_runs(self, watch: Watch) -> int:
        return int(watch.summary.get("runs", 0))

    def get_state(self, watch: Any) -> str:
        return state_of(watch, watch.open_changes)[1]


class TrendPointSerializer(serializers.Serializer[Any]):
    """A run of a trend."""

    run = serializers.IntegerField()
    at = serializers.DateTimeField()
    value = NumberField()
    outlier = serializers.BooleanField()


class SegmentSerializer(serializers.Serializer[Any]):
    """A stretch of runs between two boundaries."""

    first_run = serializers.IntegerField()
    last_run = serializers.IntegerField()
    runs = serializers.IntegerField()
    median = NumberField()
    began_by = serializers.CharField(help_text="start, change or mark")


class FactChangeSerializer(serializers.Serializer[Any]):
    """A fact that was one thing before a change and another after it."""

    fact = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name is meant
    before = serializers.CharField()
    after = serializers.CharField()


class ChangePointSerializer(serializers.ModelSerializer[ChangePoint]):
    """A change of level, as the data show it."""

    run = serializers.IntegerField(source="run_id", help_text="the first after")
    run_before = serializers.IntegerField(source="run_before_id", allow_null=True)
    ratio_low = NumberField(source="low", allow_null=True)
    ratio_high = NumberField(source="high", allow_null=True)
    at = serializers.DateTimeField()
    direction = serializers.CharField(help_text="better or worse")
    ratio = NumberField(help_text="after ÷ before")
    before = NumberField()
    after = NumberField()
    facts = serializers.SerializerMethodField(help_text="what changed with it")
    caveats = serializers.SerializerMethodField(help_text="what speaks against it")
    is_backfill = serializers.BooleanField(help_text="was in the data when they came; nobody was told")

    class Meta:
        model = ChangePoint
        fields = (
            "id", "run", "run_before", "ratio_low", "ratio_high", "at", "found_at", "direction", "ratio", "before",
            "after", "n_before", "n_after", "facts", "caveats", "is_backfill", "acknowledged_by", "acknowledged_at",
            "notified_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(FactChangeSerializer(many=True))
    def get_facts(self, change: ChangePoint) -> list[dict[str, str]]:
        return list(change.facts)

    def get_caveats(self, change: ChangePoint) -> list[str]:
        return list(all_written(change.caveats, base()))


class MarkSerializer(serializers.ModelSerializer[TrendMark]):
    """A person's word that something was changed on purpose."""

    run = serializers.IntegerField(source="run_id", allow_null=True)
    watch = serializers.IntegerField(source="watch_id", allow_null=True)
    target = serializers.IntegerField(
        source="target_id", allow_null=True, help_text="then it counts for every watch of the target's runs"
    )

    class Meta:
        model = TrendMark
        fields = ("id", "at", "text", "run", "watch", "target", "created_by", "created_at")
        read_only_fields = fields


class NewMarkSerializer(serializers.Serializer[Any]):
    """The body that makes a mark: at a run or at a time, not both."""

    text = serializers.CharField(max_length=300)
    run = serializers.IntegerField(required=False, help_text="the first run after the change")
    at = serializers.DateTimeField(required=False)
    everywhere = serializers.BooleanField(required=False, help_text="for every watch of the target")


class DriftSerializer(serializers.Serializer[Any]):
    """A steady change that no steps explain."""

    per_run = NumberField(help_text="fraction")
    total = NumberField(help_text="fraction, over the newest stretch")
    direction = serializers.CharField()


class TrendSerializer(WatchSerializer):
    """A watch with its `trend` of now."""

    noise = NumberField(source="trend.noise", allow_null=True, help_text="spread from run to run, as a fraction")
    missing_runs = serializers.IntegerField(
        source="trend.missing", help_text="wanted until changes can be told from chance"
    )
    unlike_facts = serializers.ListField(
        source="trend.unlike",
        child=serializers.CharField(),
        help_text="what the runs differ in where they are of several things; then no change is told",
    )
    drift = DriftSerializer(source="trend.drift", allow_null=True)
    points = serializers.SerializerMethodField()
    left_out = serializers.SerializerMethodField(help_text="runs whose value is not above zero")
    segments = serializers.SerializerMethodField()
    change_points = serializers.SerializerMethodField()
    marks = serializers.SerializerMethodField()

    class Meta(WatchSerializer.Meta):
        fields = (
            *WatchSerializer.Meta.fields, "noise", "missing_runs", "unlike_facts", "drift", "points", "left_out",
            "segments", "change_points", "marks",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(TrendPointSerializer(many=True))
    def get_points(self, watch: Watch) -> Any:
        trend = watch.trend
        points = [
            {"run": point.run, "at": point.at, "value": point.value, "outlier": place in trend.outliers}
            for place, point in enumerate(trend.points)
        ]
        return TrendPointSerializer(points, many=True).data

    def get_left_out(self, watch: Watch) -> list[int]:
        return [point.run for point in watch.trend.left_out]

    @extend_schema_field(SegmentSerializer(many=True))
    def get_segments(self, watch: Watch) -> Any:
        points = watch.trend.points
        segments = [
            {
                "first_run": points[segment.start].run,
                "last_run": points[segment.end - 1].run,
                "runs": segment.n,
                "median": segment.median,
                "began_by": segment.began_by,
            }
            for segment in watch.trend.segments
        ]
        return SegmentSerializer(segments, many=True).data

    @extend_schema_field(ChangePointSerializer(many=True))
    def get_change_points(self, watch: Watch) -> Any:
        return ChangePointSerializer(ChangePoint.objects.filter(watch=watch).standing(), many=True).data

    @extend_schema_field(MarkSerializer(many=True))
    def get_marks(self, watch: Watch) -> Any:
        marks = TrendMark.objects.for_watch(watch, targets_of(watch.trend.points))
        return MarkSerializer(marks, many=True).data


class WatchViewSet(ListModelMixin, ScopedViewSet[Watch]):
    """What is watched, as it was at the last look."""

    model = Watch
    serializer_class = WatchSerializer
    serializer_classes = {"retrieve": TrendSerializer}
    formats = {"retrieve": [JSON, CSV, *PICTURES]}
    detail_parameters = {"retrieve": pictures.NAMES}

    def get_queryset(self) -> QuerySet[Watch]:
        watches: QuerySet[Watch] = with_open_changes(super().get_queryset())
        return watches

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        return list(resolve_all(super().paginate_queryset(queryset)))

    @extend_schema(parameters=[BASE, *pictures.PARAMETERS], responses={200: TrendSerializer, **problems(404, 409)})
    def retrieve(self, request: Request, pk: int) -> HttpResponseBase:
        """Return one watch: its runs, levels, changes and marks, computed now.

        Its chart can be had as a table (CSV) or as a picture.
        """
        watch = self.get_object()
        watch.trend = trend_of(watch)
        permalink = request.build_absolute_uri(watch.get_absolute_url())
        chart = chart_of_trend(watch.trend, watch.metric, str(watch), base())
        if pictures.is_picture(request):
            return pictures.picture(request, chart, permalink)
        newest = watch.trend.points[-1].at if watch.trend.points else None
        data = self.get_serializer(watch).data
        return publish(request, data, lambda: document_of_chart(chart, newest, permalink), permalink)


@extend_schema_view(list=extend_schema(responses={200: MarkSerializer, **problems(409)}))
class TrendMarkViewSet(ListModelMixin, ScopedViewSet[TrendMark]):
    """“Changed on purpose here”: at a run or at a time, not both."""

    keeps_answers = True
    model = TrendMark
    serializer_class = MarkSerializer
    pagination_class = Whole
    filter_backends = ()
    needed_scope = TokenScope.RUN

    def get_queryset(self) -> QuerySet[TrendMark]:
        watch = get_object_or_404(Watch, pk=self.kwargs["pk"])
        marks: QuerySet[TrendMark] = TrendMark.objects.for_watch(watch, targets_of(trend_of(watch).points))
        return marks

    @extend_schema(request=NewMarkSerializer, responses={201: MarkSerializer, **problems(409)})
    def create(self, request: Request, pk: int) -> Response:
        watch = get_object_or_404(Watch, pk=pk, lab=self.lab)
        form = MarkForm(self.lab.pk, form_data(request.data))
        if not form.is_valid():
            field, messages = next(iter(form.errors.items()))
            expected = "text, and either the id of a run of this lab or a time"
            raise ProblemError(400, f"{field}: {' '.join(map(str, messages))}", field=field, expected=expected)
        data = form.cleaned_data
        try:
            trend_mark = mark(
                watch, form.moment, data["text"], who(request), run=data["run"], everywhere=data["everywhere"]
            )
        except NoTargetError as error:
            raise ProblemError(400, str(error), field="everywhere", found=True, expected="false") from None
        return Response(self.get_serializer(trend_mark).data, status=201)


def form_data(data: object) -> QueryDict:
    """Return a request's body as form data; a body that is no object is an empty form.

    Raises:
        RefusedFieldError: A field is unknown, or of a type that a form would make a text or a true of.
    """
    fields = QueryDict(mutable=True)
    if isinstance(data, dict):
        names = list(map(str, NewMarkSerializer().fields))
        for name, value in data.items():
            if name not in names:
                raise RefusedFieldError(str(name), show(value), f"one of the fields {', '.join(names)}")
            kind, expected = (bool, "true or false") if name == "everywhere" else (str, "a text")
            if name in ("text", "everywhere") and value is not None and not isinstance(value, kind):
                raise RefusedFieldError(name, show(value), expected)
        fields.update({name: str(data[name]) for name in names if data.get(name) not in (None, False)})
    return fields


def document_of_chart(chart: Chart, newest: datetime | None, permalink: str) -> Document:
    """Return the chart's numbers as a table."""
    footer = Footer(made(f"{len(chart.series[0].points)} runs", newest), permalink)
    return Document(chart.title, (chart.description,), (), footer, as_table(chart))
