"""Trends: what is watched, where it changed, and marks; for scripts that follow a lab's nights."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.http import HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.comparison.drawing.as_table import as_table
from apps.comparison.drawing.chart import Chart
from apps.comparison.drawing.of_trend import chart_of_trend
from apps.comparison.trends.evaluation import trend_of
from apps.comparison.trends.forms import MarkForm
from apps.comparison.trends.listed import state_of, with_open_changes
from apps.comparison.trends.loading import targets_of
from apps.comparison.trends.marking import NoTargetError, mark
from apps.comparison.trends.models import ChangePoint, TrendMark, Watch
from apps.comparison.trends.shape import Trend
from apps.labs.models import Role, Scope
from apps.lib.quantities import all_written
from apps.lib.reader_base import base
from apps.lib.tables import Document, Footer
from apps.publishing import pictures, schema, trend_schema
from apps.publishing.answers import publish
from apps.publishing.authentication import who
from apps.publishing.documents import made
from apps.publishing.pagination import page
from apps.publishing.problems import ProblemError
from apps.publishing.renderers import CSV, JSON, PICTURES
from apps.publishing.resource import resource

_LISTED = ("run", "text", "at", "everywhere")


@schema.described(trend_schema.Watch, paged=True, operation_id="trends_list")
@resource()
def trends(request: Request) -> Response:
    """What is watched, as it was at the last look."""
    return page(request, with_open_changes(Watch.objects.all()), lambda found: [_watch(request, one) for one in found])


@schema.described(
    trend_schema.Trend, errors=(400, 404), operation_id="trends_read", pictures=True, parameters=[schema.BASE, *pictures.PARAMETERS],
    also={(200, "text/csv"): str},
)  # fmt: skip
@resource(formats=[JSON, CSV, *PICTURES])
def trend(request: Request, pk: int) -> HttpResponseBase:
    """One watch: its runs, levels, changes and marks, computed now; its chart as a table (CSV) or a picture."""
    watch = get_object_or_404(with_open_changes(Watch.objects.all()), pk=pk)
    found, here = trend_of(watch), request.build_absolute_uri(watch.get_absolute_url())
    chart = chart_of_trend(found, watch.metric, str(watch), base())
    newest = found.points[-1].at if found.points else None
    if pictures.is_picture(request):
        return pictures.picture(request, chart, here)
    data = {**_watch(request, watch), **_trend(watch, found)}
    return publish(request, data, lambda: _document(chart, newest, here), here)


@schema.described(trend_schema.Mark, errors=(404,), methods=["GET"], operation_id="trends_marks_list", many=True)
@schema.described(
    trend_schema.Mark, status=201, errors=(400, 404), methods=["POST"], operation_id="trends_marks_create",
    request=trend_schema.NewMark, description="“Changed on purpose here”: at a run or at a time, not both.",
)  # fmt: skip
@resource("GET", "POST", needed_scope=Scope.RUN, needed_role=Role.ENGINEER)
def marks(request: Request, pk: int) -> Response:
    if request.method == "POST":
        return _mark(request, pk)
    watch = get_object_or_404(Watch, pk=pk)
    found = TrendMark.objects.for_watch(watch, targets_of(trend_of(watch).points))
    return Response({"results": [_marked(one) for one in found]})


def _mark(request: Request, pk: int) -> Response:
    lab: Any = request._request.lab  # type: ignore[attr-defined]
    watch = get_object_or_404(Watch, pk=pk, lab=lab)
    form = MarkForm(lab.pk, _posted(request.data))
    if not form.is_valid():
        field, said = next(iter(form.errors.items()))
        expected = "text, and either the id of a run of this lab or a time"
        raise ProblemError(400, f"{field}: {' '.join(map(str, said))}", field=field, expected=expected)
    data = form.cleaned_data
    try:
        made = mark(watch, form.moment, data["text"], who(request), run=data["run"], everywhere=data["everywhere"])
    except NoTargetError as error:
        raise ProblemError(400, str(error), field="everywhere", found=True, expected="false") from None
    return Response(_marked(made), status=201)


def _posted(data: Any) -> QueryDict:
    """The body as a form has it; what is no object has no fields."""
    found = QueryDict(mutable=True)
    if isinstance(data, dict):
        found.update({name: str(data[name]) for name in _LISTED if data.get(name) not in (None, False)})
    return found


def _document(chart: Chart, newest: datetime | None, permalink: str) -> Document:
    footer = Footer(made(f"{len(chart.series[0].points)} runs", newest), permalink)
    return Document(chart.title, (chart.description,), (), footer, as_table(chart))


def _watch(request: Request, watch: Any) -> dict[str, Any]:
    question = watch.question
    return {
        "id": watch.pk,
        "name": watch.name,
        "url": request.build_absolute_uri(reverse("api-trend", args=[watch.pk])),
        "page": request.build_absolute_uri(watch.get_absolute_url()),
        "metric": question.metric,
        "unit": watch.metric.unit,
        "higher_is_better": watch.metric.higher_is_better,
        "operation": question.operation,
        "filters": [{"name": name, "value": value} for name, value in question.filters],
        "threshold": watch.threshold,
        "is_active": watch.is_active,
        "state": state_of(watch, watch.open_changes)[1],
        "open_changes": watch.open_changes,
        "runs": watch.summary.get("runs", 0),
        "level": watch.summary.get("level"),
        "last_run": watch.summary.get("last_run"),
        "evaluated_at": watch.evaluated_at,
        "created_by": watch.created_by,
        "created_at": watch.created_at,
    }


def _trend(watch: Watch, found: Trend) -> dict[str, Any]:
    kept = TrendMark.objects.for_watch(watch, targets_of(found.points))
    return {
        "noise": found.noise,
        "missing_runs": found.missing,
        "drift": asdict(found.drift) if found.drift else None,
        "points": [
            {"run": one.run, "at": one.at, "value": one.value, "outlier": place in found.outliers}
            for place, one in enumerate(found.points)
        ],
        "left_out": [one.run for one in found.left_out],
        "segments": [
            {
                "first_run": found.points[one.start].run,
                "last_run": found.points[one.end - 1].run,
                "runs": one.n,
                "median": one.median,
                "began_by": one.began_by,
            }
            for one in found.segments
        ],
        "change_points": [_change(one) for one in ChangePoint.objects.filter(watch=watch).standing()],
        "marks": [_marked(one) for one in kept],
    }


def _change(found: ChangePoint) -> dict[str, Any]:
    names = (
        "at", "found_at", "direction", "ratio", "before", "after", "n_before", "n_after", "facts", "caveats", "is_backfill",
        "acknowledged_by", "acknowledged_at", "notified_at",
    )  # fmt: skip
    plain = {name: getattr(found, name) for name in names} | {"caveats": all_written(found.caveats, base())}
    return {
        "id": found.pk, "run": found.run_id, "run_before": found.run_before_id, "ratio_low": found.low,
        "ratio_high": found.high, **plain,
    }  # fmt: skip


def _marked(found: TrendMark) -> dict[str, Any]:
    return {
        "id": found.pk,
        "at": found.at,
        "text": found.text,
        "run": found.run_id,
        "watch": found.watch_id,
        "target": found.target_id,
        "created_by": found.created_by,
        "created_at": found.created_at,
    }
