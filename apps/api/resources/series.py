"""What a run measured over time and over latency: as data, and drawn."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api import pictures
from apps.api.filters import read_choice, read_flag
from apps.api.pagination import Whole
from apps.api.problems import ProblemError
from apps.api.renderers import CSV, JSON, PICTURES
from apps.api.resources.studies import ChartSerializer
from apps.api.viewsets import ScopedAPIView
from apps.comparison.charts.chart import Chart, ChartKind
from apps.comparison.charts.data_table import as_table
from apps.comparison.charts.json_payload import as_json
from apps.comparison.queries.run_charts import Part, chart_over_time, heat_charts, latency_charts
from apps.core.tables import Cell
from apps.runs.metrics import METRICS
from apps.runs.models import Histogram, Run
from apps.runs.models import Series as SeriesRow
from apps.runs.series.arrays import part_of, unpack, unpacked_points
from apps.runs.series.intervals import unpack_intervals
from apps.runs.series.latencies import latencies_of
from apps.runs.series.progress import series_so_far
from apps.wiki.dialects import csv

MOST_POINTS = 4000  # more than a screen has pixels
AT_ONCE = 5000  # lines of a streamed file
FORMS = [JSON, CSV, *PICTURES]
NAMES = ("operation", "metric", "section", "source")
HEAT = "heat"
DRAWN = {"histogram": ChartKind.HISTOGRAM, "curve": ChartKind.CURVE, HEAT: ChartKind.HEAT}


class SeriesSerializer(serializers.Serializer[Any]):
    """Values of one metric over time in one run."""

    id = serializers.IntegerField(allow_null=True, help_text="null while the run goes on: nothing is saved yet")
    operation = serializers.CharField()
    metric = serializers.CharField()
    unit = serializers.CharField(allow_null=True)
    section = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]  # a serializer has an attribute of this name
    count = serializers.IntegerField()
    overview = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()), help_text="[seconds, min, mean, max, count]"
    )
    points = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        required=False,
        help_text="[seconds, value], with ?full=1",
    )
    window = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        required=False,
        help_text="as overview, of ?start=…&end=… alone",
    )


class HistogramSerializer(serializers.Serializer[Any]):
    """Latency bins of one operation in one run."""

    operation = serializers.CharField()
    kind = serializers.CharField()
    section = serializers.IntegerField()
    bins = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()), help_text="[ns, count], ascending"
    )
    intervals = serializers.ListField(
        child=serializers.ListField(), allow_null=True,
        help_text="with ?over_time=1: [seconds at its end, [[ns, count], …]] of each interval, as fio's histogram log has "
        "them; null without it, and where no log was read",
    )  # fmt: skip


class HistogramListSerializer(serializers.Serializer[Any]):
    """All latency bins of a run, with the chart that the address asks for."""

    results = HistogramSerializer(many=True)
    chart = ChartSerializer(required=False, help_text="with ?chart=…")


class RunSeriesView(ScopedAPIView):
    """A run's values over time."""

    renderer_classes = FORMS
    pagination_class = Whole
    parameters = ("full", "start", "end", "points", "metric", *pictures.NAMES)

    @extend_schema(
        operation_id="runs_series",
        responses={200: SeriesSerializer(many=True)},
        parameters=[
            OpenApiParameter("full", bool, description="every point, not only the overview"),
            OpenApiParameter("start", float, description="with `end`: `window` is the overview of these seconds alone"),
            OpenApiParameter("end", float),
            OpenApiParameter("points", int, description=f"how many buckets the window has, at most {MOST_POINTS}"),
            OpenApiParameter("base", enum=["1000", "1024"], default="1000", description="of a picture's units"),
            OpenApiParameter("metric", str, description="only this one; a picture shows one, the first where left out"),
            *pictures.PARAMETERS,
        ],
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """Return the run's values over time; while the run goes on, those that have arrived.

        `overview` has at most 1,000 buckets of [seconds, min, mean, max, count]. CSV is streamed.
        """
        run = get_object_or_404(Run.objects.select_related("workload"), pk=pk)
        is_full = read_flag(request, "full")
        part = _part(request)
        is_packed = is_full or part is not None
        if pictures.is_picture(request):
            chart = _over_time(request, run, list(_rows(run, "", is_packed)), part)
            return pictures.picture(request, chart, _page(request, run))
        if metric := request.query_params.get("metric", ""):
            read_choice(request, "metric", METRICS)
        rows = _rows(run, metric, is_packed)
        if request.accepted_renderer.format == "csv":
            return _file(_series_lines(rows, is_full, part), f"run-{pk}-series.csv")
        return Response({"results": [_series(row, is_full, part) for row in rows]})


class RunHistogramsView(ScopedAPIView):
    """A run's latency bins."""

    serializer_class = HistogramListSerializer
    renderer_classes = FORMS
    parameters = ("chart", "over_time", "operation", "section", *pictures.NAMES)

    @extend_schema(
        operation_id="runs_histograms",
        parameters=[
            OpenApiParameter(
                "chart",
                enum=list(DRAWN),
                default="histogram",
                description="which picture; where it is given, CSV has that chart's numbers and JSON has the chart "
                "besides the bins",
            ),
            OpenApiParameter("over_time", bool, description="the bins of each interval too, where a log has them"),
            OpenApiParameter("operation", str, description="only this one; a heat map is of the first where left out"),
            OpenApiParameter("section", int, description="only this job or part of the output"),
            *pictures.PARAMETERS,
        ],
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """Return the run's latency bins in ns, and the charts of them.

        For a percentile of several runs, add their bins up first.
        """
        run = get_object_or_404(Run.objects.select_related("workload"), pk=pk)
        histograms = _histograms(request, run)
        if pictures.is_picture(request):
            return pictures.picture(request, _latency(request, run, histograms), _page(request, run))
        is_over_time = read_flag(request, "over_time")
        names = ("operation", "kind", "section", "bins", *(("intervals",) if is_over_time else ()))
        rows = histograms.values_list(*names)
        chart = read_choice(request, "chart", DRAWN)
        if request.accepted_renderer.format == "csv":
            of_bins = _interval_lines(rows) if is_over_time else _bin_lines(rows)
            lines = _chart_lines(_latency(request, run, histograms)) if chart else of_bins
            return _file(lines, f"run-{pk}-{chart or 'histograms'}.csv")
        bins = {"results": [_histogram(dict(zip(names, row, strict=True))) for row in rows]}
        return Response(bins | ({"chart": as_json(_latency(request, run, histograms))} if chart else {}))


def _rows(run: Run, metric: str, is_packed: bool) -> Iterable[SeriesRow]:
    """Return the run's series of one metric, or of all where `metric` is empty.

    While the run goes on they are computed from what has arrived, for nothing is stored before the end. With
    `is_packed` the packed points are read too.
    """
    if not run.has_ended:
        return [row for row in series_so_far(run) if metric in ("", row.metric)]
    saved = run.series.filter(metric=metric) if metric else run.series.all()
    return saved if is_packed else saved.defer("packed")


def _over_time(request: Request, run: Run, rows: Sequence[SeriesRow], part: Part | None) -> Chart:
    metrics = [name for name in METRICS if any(row.metric == name and row.overview for row in rows)]
    if not metrics:
        raise ProblemError(404, f"Run {run.pk} has no values over time: there is nothing to draw.")
    base = 1024 if request.query_params.get("base") == "1024" else 1000
    return chart_over_time(run, read_choice(request, "metric", metrics, metrics[0]), rows, part, base)


def _part(request: Request) -> Part | None:
    """Return (first second, last second, buckets) of the part that the address asks for, or None."""
    given = {name: request.query_params[name] for name in ("start", "end", "points") if name in request.query_params}
    if not {"start", "end"} & given.keys():
        return None
    start, end = _number(given, "start", 0.0), _number(given, "end", 1e12)
    return start, end, min(max(int(_number(given, "points", 1000)), 1), MOST_POINTS)


def _number(given: dict[str, str], name: str, otherwise: float) -> float:
    text = given.get(name, "")
    try:
        value = float(text) if text else otherwise
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ProblemError(
            400, f"{name}: found {text!r}, expected a number", field=name, found=text, expected="a number"
        )
    return value


def _series(row: SeriesRow, is_full: bool, part: Part | None) -> dict[str, Any]:
    metric = METRICS.get(row.metric)
    names = ("id", *NAMES, "count", "overview")
    data = {name: getattr(row, name) for name in names} | {"unit": metric.unit if metric else None}
    if is_full:
        data["points"] = [list(point) for point in unpacked_points(row.packed)]
    if part:
        data["window"] = part_of(row.packed, *part)
    return data


def _series_lines(rows: Iterable[SeriesRow], is_full: bool, part: Part | None) -> Iterator[str]:
    columns = ("seconds", "value") if is_full else ("seconds", "min", "mean", "max", "count")
    yield csv.lines([("series", *NAMES, "unit", *columns)])
    for series in _one_by_one(rows):
        metric = METRICS.get(series.metric)
        first: tuple[Cell, ...] = (
            series.pk,
            *(getattr(series, name) for name in NAMES),
            metric.unit if metric else None,
        )
        for points in _points(series) if is_full else [part_of(series.packed, *part) if part else series.overview]:
            yield csv.lines([*first, *point] for point in points)


def _one_by_one(rows: Iterable[SeriesRow]) -> Iterator[SeriesRow]:
    """Yield the series; of stored ones only one is in memory at a time.

    It runs while the answer is sent, when no lab is in scope; the QuerySet holds the scope already.
    """
    if not isinstance(rows, QuerySet):
        yield from rows
        return
    for key in list(rows.values_list("pk", flat=True)):
        yield rows.get(pk=key)


def _points(series: SeriesRow) -> Iterator[Sequence[Sequence[float]]]:
    times, values = unpack(series.packed)
    for start in range(0, len(times), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        yield list(zip(times[part].tolist(), values[part].tolist(), strict=True))


def _histograms(request: Request, run: Run) -> "QuerySet[Histogram]":
    """Return the run's histograms of the operation and the section that the address names."""
    histograms: QuerySet[Histogram] = run.histograms.all()
    for name in ("operation", "section"):
        known = run.histograms.order_by(name).values_list(name, flat=True).distinct()
        if wanted := read_choice(request, name, map(str, known)):
            histograms = histograms.filter(**{name: wanted})
    return histograms


def _latency(request: Request, run: Run, histograms: "QuerySet[Histogram]") -> Chart:
    name = read_choice(request, "chart", DRAWN, "histogram")
    if name == HEAT:
        return _heat(run, histograms)
    if not (latencies := latencies_of(run, histograms)):
        raise ProblemError(404, f"Run {run.pk} has no latency bins: there is nothing to draw.")
    return next(chart for chart in latency_charts(run, latencies) if chart.kind is DRAWN[name])


def _heat(run: Run, histograms: "QuerySet[Histogram]") -> Chart:
    charts = heat_charts(run, histograms)
    if not charts:
        raise ProblemError(404, f"Run {run.pk} has no histogram log of these: there is nothing to draw.")
    return charts[0][1]


def _histogram(row: dict[str, Any]) -> dict[str, Any]:
    packed = row.get("intervals")
    intervals = None if packed is None else [[second, bins] for second, bins in unpack_intervals(packed).rows()]
    return row | {"intervals": intervals}


def _interval_lines(rows: "QuerySet[Any, tuple[Any, ...]]") -> Iterator[str]:
    """Yield the lines of a CSV file of the bins of each interval; see `_bin_lines`."""
    yield csv.lines([("operation", "kind", "section", "seconds", "ns", "count")])
    for key in list(rows.filter(intervals__isnull=False).values_list("pk", flat=True)):
        for operation, kind, section, _, packed in rows.filter(pk=key):
            for second, bins in unpack_intervals(packed).rows():
                yield csv.lines((operation, kind, section, second, ns, count) for ns, count in bins)


def _bin_lines(rows: "QuerySet[Any, tuple[Any, ...]]") -> Iterator[str]:
    """Yield the lines of a CSV file of latency bins; one histogram is in memory at a time.

    It runs while the answer is sent, when no lab is in scope; the QuerySet holds the scope already.
    """
    yield csv.lines([("operation", "kind", "section", "ns", "count")])
    for key in list(rows.values_list("pk", flat=True)):
        for operation, kind, section, bins in rows.filter(pk=key):
            yield csv.lines((operation, kind, section, ns, count) for ns, count in bins)


def _chart_lines(chart: Chart) -> Iterator[str]:
    table = as_table(chart)
    yield csv.lines([[column.title for column in table.columns], *table.rows])


def _file(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _page(request: Request, run: Run) -> str:
    return request.build_absolute_uri(run.get_absolute_url())
