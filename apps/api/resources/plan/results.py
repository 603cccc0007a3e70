"""What a plan found out by its rule: the curve and answer of a search for saturation, and the rounds of a steady state."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from apps.api import pictures
from apps.api.conditional import publish
from apps.api.documents import made
from apps.api.fields import NumberField
from apps.api.openapi import BASE, problems
from apps.api.problems import ProblemError
from apps.api.renderers import CSV, JSON, PICTURES
from apps.api.resources.studies import ChartSerializer
from apps.api.viewsets import ScopedAPIView
from apps.comparison.charts.chart import Chart
from apps.comparison.charts.data_table import as_table
from apps.comparison.charts.json_payload import as_json
from apps.core.quantities import written
from apps.core.tables import Document, Footer
from apps.core.unit_base import base
from apps.plans.results.charts import saturation_chart, steady_state_chart
from apps.plans.results.steady_state import SteadyCell, steady_cells
from apps.studies.models import Plan
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.saturation.row_ladders import RowLadder

Json = dict[str, Any]
FORMS = [JSON, CSV, *PICTURES]


class SaturationPointSerializer(serializers.Serializer[Any]):
    """A point of a search: medians of its rounds that count, null where it was not measured."""

    point = serializers.CharField()
    iodepth = serializers.IntegerField()
    jobs = serializers.IntegerField()
    iops = NumberField(allow_null=True, help_text="1/s, of reads and writes together")
    latency = NumberField(allow_null=True, help_text="ns, of the slower operation")
    rounds = serializers.IntegerField()
    is_within = serializers.BooleanField(allow_null=True, help_text="the bound; null where it was not measured")


class SaturationSearchSerializer(serializers.Serializer[Any]):
    """The search of one configuration."""

    configuration = serializers.CharField(help_text="name of the plan's row")
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name is meant
    percentile = serializers.IntegerField(
        help_text="of latency from submission to completion; of completion latency (clat) where a result has only that"
    )
    bound = NumberField(help_text="ns")
    state = serializers.CharField(
        help_text="searching, passed (the bound), capped (every point is within it), stuck (a point failed)"
    )
    best = serializers.CharField(allow_null=True, help_text="the point with the highest IOPS within the bound")
    lightest = serializers.CharField(
        allow_null=True, help_text="the first point within the bound with at most 2 % fewer IOPS than the best one"
    )
    passed = serializers.CharField(allow_null=True, help_text="the first point beyond the bound")
    next = serializers.CharField(allow_null=True, help_text="the point that is measured now or next")
    statement = serializers.CharField()
    points = SaturationPointSerializer(many=True)


class SaturationSerializer(serializers.Serializer[Any]):
    """All searches of a plan with their curve."""

    results = SaturationSearchSerializer(many=True)
    chart = ChartSerializer()


class SteadyRoundSerializer(serializers.Serializer[Any]):
    """A round that counts."""

    round = serializers.IntegerField()
    run = serializers.IntegerField()
    value = NumberField(help_text="B/s")


class SteadyWindowSerializer(serializers.Serializer[Any]):
    """The last rounds as the SNIA performance test judges them."""

    first = serializers.IntegerField(help_text="round")
    last = serializers.IntegerField(help_text="round")
    mean = NumberField(help_text="B/s")
    excursion = NumberField(help_text="highest less lowest, as a fraction of the mean")
    slope = NumberField(help_text="rise or fall of the least-squares line over the window, as a fraction of the mean")
    line = serializers.ListField(child=NumberField(), help_text="where the least-squares line begins and ends, B/s")
    is_steady = serializers.BooleanField()


class SteadyCellSerializer(serializers.Serializer[Any]):
    """An operation of a cell whose rounds are judged."""

    configuration = serializers.CharField(help_text="name of the plan's row")
    point = serializers.CharField()
    operation = serializers.CharField(help_text="that is judged: a cell of several has each")
    range_percent = NumberField(help_text="the most that the excursion may be")
    slope_percent = NumberField(help_text="the most that the slope may be")
    rounds = SteadyRoundSerializer(many=True)
    window = SteadyWindowSerializer(allow_null=True, help_text="null until there are enough rounds")
    statement = serializers.CharField()
    chart = ChartSerializer()


class SteadyStateSerializer(serializers.Serializer[Any]):
    """All cells of a steady-state plan that have a measured round."""

    results = SteadyCellSerializer(many=True)


class PlanSaturationView(ScopedAPIView):
    """The search for saturation of a plan."""

    serializer_class = SaturationSerializer
    renderer_classes = FORMS

    @extend_schema(
        operation_id="plans_saturation", parameters=pictures.PARAMETERS,
        responses={200: SaturationSerializer, **problems(404)},
    )  # fmt: skip
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """Return the curve of latency over IOPS, and the highest IOPS within the bound; as data, table or picture.

        A plan with another rule has an empty list.
        """
        page = _page(pk)
        permalink = request.build_absolute_uri(page.plan.get_absolute_url())
        chart = saturation_chart(page.ladders, f"Saturation of {page.plan.title}")
        if pictures.is_picture(request):
            if not page.ladders:
                raise ProblemError(404, "This plan does not search for saturation: there is nothing to draw.")
            return pictures.picture(request, chart, permalink)
        data = {"results": [_search(ladder) for ladder in page.ladders], "chart": as_json(chart)}
        return publish(request, data, lambda: _document(chart, permalink), permalink)


class PlanSteadyStateView(ScopedAPIView):
    """The rounds of a steady-state plan."""

    serializer_class = SteadyStateSerializer
    renderer_classes = FORMS

    @extend_schema(
        operation_id="plans_steady_state", responses={200: SteadyStateSerializer, **problems(404)},
        parameters=[
            OpenApiParameter("configuration", description="name of the plan's row: only its cells"),
            OpenApiParameter("point", description="name of the plan's point: only its cells"),
            OpenApiParameter("operation", description="such as `randread`: only what cells measured of it"),
            BASE, *pictures.PARAMETERS,
        ],
    )  # fmt: skip
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """Return the rounds of each cell with the window that is judged; as data, or the first cell as table or picture.

        A plan with another rule has an empty list.
        """
        page = _page(pk)
        permalink = request.build_absolute_uri(page.plan.get_absolute_url())
        cells = _chosen(request, steady_cells(page))
        if pictures.is_picture(request):
            return pictures.picture(request, _first_chart(cells), permalink)
        data = {"results": [_steady(cell) for cell in cells]}
        return publish(request, data, lambda: _document(_first_chart(cells), permalink), permalink)


def _page(pk: int) -> PlanPage:
    plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk)
    return PlanPage(plan, runs_of(plan.study, plan_id=plan.pk))


def _chosen(request: Request, cells: Sequence[SteadyCell]) -> list[SteadyCell]:
    row, point, operation = (request.query_params.get(name, "") for name in ("configuration", "point", "operation"))
    return [
        steady
        for steady in cells
        if (not row or steady.cell.row.name == row)
        and (not point or steady.cell.point.name == point)
        and (not operation or steady.operation == operation)
    ]


def _search(found: RowLadder) -> Json:
    ladder = found.ladder

    def name(place: int | None) -> str | None:
        return None if place is None else found.points[place].name

    points = [
        {
            "point": point.name, "iodepth": result.load.depth, "jobs": result.load.jobs, "iops": result.iops,
            "latency": result.latency, "rounds": result.rounds,
            "is_within": None if result.latency is None else result.latency <= ladder.bound,
        }
        for point, result in zip(found.points, ladder.results, strict=True)
    ]  # fmt: skip
    return {
        "configuration": found.row.name, "label": found.label, "percentile": found.percentile, "bound": ladder.bound,
        "state": ladder.state, "best": name(ladder.best), "lightest": name(ladder.lightest), "passed": name(ladder.passed), "next": name(ladder.open),
        "statement": found.statement, "points": points,
    }  # fmt: skip


def _steady(steady: SteadyCell) -> Json:
    window = steady.window and {
        "first": steady.window.first, "last": steady.window.last, "mean": steady.window.mean,
        "excursion": steady.window.spread, "slope": steady.window.excursion,
        "line": [steady.window.start, steady.window.end], "is_steady": steady.window.is_steady,
    }  # fmt: skip
    return {
        "configuration": steady.cell.row.name, "point": steady.cell.point.name, "operation": steady.operation,
        "range_percent": steady.range_percent, "slope_percent": steady.slope_percent,
        "rounds": [{"round": entry.number, "run": entry.run, "value": entry.value} for entry in steady.rounds],
        "window": window, "statement": written(steady.statement, base()),
        "chart": as_json(steady_state_chart(steady, base())),
    }  # fmt: skip


def _first_chart(cells: Sequence[SteadyCell]) -> Chart:
    if not cells:
        raise ProblemError(404, "No round of such a cell is measured: there is nothing to draw.")
    return steady_state_chart(cells[0], base())


def _document(chart: Chart, permalink: str) -> Document:
    source = f"{len(chart.points)} points"
    return Document(chart.title, (chart.description,), (), Footer(made(source, None), permalink), as_table(chart))
