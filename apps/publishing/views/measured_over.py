"""What a run measured over time and over latency: as data, and drawn."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.comparison.drawing.as_json import as_json
from apps.comparison.drawing.as_table import as_table
from apps.comparison.drawing.chart import Chart, Kind
from apps.comparison.run_charts import Part, chart_over_time, latency_charts
from apps.lib.tables import Cell
from apps.publishing import pictures, schema, study_schema
from apps.publishing.dialects import csv
from apps.publishing.problems import ProblemError
from apps.publishing.renderers import CSV, JSON, PICTURES
from apps.publishing.resource import resource
from apps.runs.latencies import latencies_of
from apps.runs.live_series import series_so_far
from apps.runs.metrics import METRICS
from apps.runs.models import Run
from apps.runs.models import Series as SeriesRow
from apps.runs.packing import part_of, unpack, unpacked_points

MOST_POINTS = 4000  # more than a screen has
AT_ONCE = 5000  # lines of a streamed file
FORMS = [JSON, CSV, *PICTURES]
NAMES = ("operation", "metric", "section", "source")
HISTOGRAMS = inline_serializer(
    "HistogramList",
    {"results": schema.Histogram(many=True), "chart": study_schema.Chart(required=False, help_text="with ?chart=…")},
)
DRAWN = {"histogram": Kind.HISTOGRAM, "curve": Kind.CURVE}


@schema.described(
    schema.Series, many=True, pictures=True, errors=(400, 404), operation_id="runs_series",
    also={(200, "text/csv"): str},
    parameters=[
        OpenApiParameter("full", bool, description="every point, not only the overview"),
        OpenApiParameter("start", float, description="with `end`: `window` is the overview of these seconds alone"),
        OpenApiParameter("end", float),
        OpenApiParameter("points", int, description=f"how many buckets the window has, at most {MOST_POINTS}"),
        OpenApiParameter("base", enum=["1000", "1024"], default="1000", description="of a picture's units"),
        OpenApiParameter("metric", str, description="only this one; a picture shows one, the first where left out"),
        *pictures.PARAMETERS,
    ],
)  # fmt: skip
@resource(formats=FORMS)
def run_series(request: Request, pk: int) -> HttpResponseBase:
    """Values over time; while the run goes on, those that have arrived. `overview` has at most 1,000 buckets of
    [seconds, min, mean, max, count]. CSV is streamed.
    """
    found = get_object_or_404(Run.objects.select_related("workload"), pk=pk)
    is_full = request.query_params.get("full", "") in ("1", "true", "yes")
    part = _part(request)
    is_packed = is_full or part is not None
    if pictures.is_picture(request):
        chart = _over_time(request, found, list(_rows(found, "", is_packed)), part)
        return pictures.picture(request, chart, _page(request, found))
    if metric := request.query_params.get("metric", ""):
        _known(metric, list(METRICS))
    rows = _rows(found, metric, is_packed)
    if request.accepted_renderer.format == "csv":
        return _file(_series_lines(rows, is_full, part), f"run-{pk}-series.csv")
    return Response({"results": [_series(one, is_full, part) for one in rows]})


def _rows(run: Run, metric: str, is_packed: bool) -> Iterable[SeriesRow]:
    """Nothing is saved while the run goes on. An empty `metric` is all of them."""
    if not run.has_ended:
        return [one for one in series_so_far(run) if metric in ("", one.metric)]
    saved = run.series.filter(metric=metric) if metric else run.series.all()
    return saved if is_packed else saved.defer("packed")


def _over_time(request: Request, run: Run, rows: Sequence[SeriesRow], part: Part | None) -> Chart:
    metrics = [name for name in METRICS if any(one.metric == name and one.overview for one in rows)]
    if not metrics:
        raise ProblemError(404, f"Run {run.pk} has no values over time: there is nothing to draw.")
    base = 1024 if request.query_params.get("base") == "1024" else 1000
    return chart_over_time(run, _known(request.query_params.get("metric") or metrics[0], metrics), rows, part, base)


def _known(metric: str, metrics: Sequence[str]) -> str:
    if metric in metrics:
        return metric
    expected = f"one of: {', '.join(metrics)}"
    raise ProblemError(
        400, f"metric: found {metric!r}, expected {expected}", field="metric", found=metric, expected=expected
    )


def _part(request: Request) -> Part | None:
    """(first second, last second, buckets), where a part is asked for."""
    asked = {name: request.query_params[name] for name in ("start", "end", "points") if name in request.query_params}
    if not {"start", "end"} & asked.keys():
        return None
    start, end = _number(asked, "start", 0.0), _number(asked, "end", 1e12)
    return start, end, min(max(int(_number(asked, "points", 1000)), 1), MOST_POINTS)


def _number(asked: dict[str, str], name: str, otherwise: float) -> float:
    text = asked.get(name, "")
    try:
        value = float(text) if text else otherwise
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ProblemError(
            400, f"{name}: found {text!r}, expected a number", field=name, found=text, expected="a number"
        )
    return value


def _series(one: SeriesRow, is_full: bool, part: Part | None) -> dict[str, Any]:
    metric = METRICS.get(one.metric)
    names = ("id", *NAMES, "count", "overview")
    shown = {name: getattr(one, name) for name in names} | {"unit": metric.unit if metric else None}
    if is_full:
        shown["points"] = [list(point) for point in unpacked_points(one.packed)]
    if part:
        shown["window"] = part_of(one.packed, *part)
    return shown


def _series_lines(rows: Iterable[SeriesRow], is_full: bool, part: Part | None) -> Iterator[str]:
    columns = ("seconds", "value") if is_full else ("seconds", "min", "mean", "max", "count")
    yield csv.lines([("series", *NAMES, "unit", *columns)])
    for one in _one_by_one(rows):
        metric = METRICS.get(one.metric)
        first: tuple[Cell, ...] = (one.pk, *(getattr(one, name) for name in NAMES), metric.unit if metric else None)
        for some in _points(one) if is_full else [part_of(one.packed, *part) if part else one.overview]:
            yield csv.lines([*first, *row] for row in some)


def _one_by_one(rows: Iterable[SeriesRow]) -> Iterator[SeriesRow]:
    """Of saved series one is in memory at a time. The scope is already in the QuerySet."""
    if not isinstance(rows, QuerySet):
        yield from rows
        return
    for key in list(rows.values_list("pk", flat=True)):
        yield rows.get(pk=key)


def _points(one: SeriesRow) -> Iterator[Sequence[Sequence[float]]]:
    times, values = unpack(one.packed)
    for start in range(0, len(times), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        yield list(zip(times[part].tolist(), values[part].tolist(), strict=True))


@schema.described(
    HISTOGRAMS, pictures=True, errors=(400, 404), operation_id="runs_histograms",
    also={(200, "text/csv"): str},
    parameters=[
        OpenApiParameter(
            "chart", enum=list(DRAWN), default="histogram",
            description="which picture; where it is given, CSV has that chart's numbers and JSON has the chart besides the bins",
        ),
        *pictures.PARAMETERS,
    ],
)  # fmt: skip
@resource(formats=FORMS)
def run_histograms(request: Request, pk: int) -> HttpResponseBase:
    """Latency bins in ns, and the charts of them. Add bins of several runs up before you take a percentile."""
    found = get_object_or_404(Run.objects.select_related("workload"), pk=pk)
    if pictures.is_picture(request):
        return pictures.picture(request, _latency(request, found), _page(request, found))
    rows = found.histograms.values_list("operation", "kind", "section", "bins")
    asked = request.query_params.get("chart")
    if request.accepted_renderer.format == "csv":
        lines = _chart_lines(_latency(request, found)) if asked else _bin_lines(rows)
        return _file(lines, f"run-{pk}-{asked or 'histograms'}.csv")
    bins = {"results": [dict(zip(("operation", "kind", "section", "bins"), row, strict=True)) for row in rows]}
    return Response(bins | ({"chart": as_json(_latency(request, found))} if asked else {}))


def _latency(request: Request, run: Run) -> Chart:
    asked = request.query_params.get("chart") or "histogram"
    if asked not in DRAWN:
        expected = f"one of: {', '.join(DRAWN)}"
        raise ProblemError(
            400, f"chart: found {asked!r}, expected {expected}", field="chart", found=asked, expected=expected
        )
    if not (latencies := latencies_of(run)):
        raise ProblemError(404, f"Run {run.pk} has no latency bins: there is nothing to draw.")
    return next(chart for chart in latency_charts(run, latencies) if chart.kind is DRAWN[asked])


def _bin_lines(rows: "QuerySet[Any, tuple[Any, ...]]") -> Iterator[str]:
    """One histogram in memory at a time. The scope is already in the QuerySet."""
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
