"""Plans of studies: matrix with states, order, guards. Reading only; plans do not start by themselves yet."""

from typing import Any

from django.db.models import Q
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from apps.comparison.question import text
from apps.publishing import plan_schema, schema
from apps.publishing.answers import no_document, publish
from apps.publishing.pagination import page
from apps.publishing.resource import resource
from apps.studies.plans.held import runs_of
from apps.studies.plans.models import Plan
from apps.studies.plans.shown import CellShown, PlanShown

STUDY = OpenApiParameter("study", description="slug or id")
OWN = ("name", "title", "order", "seed", "stopping", "are_means", "is_from_report", "notes")
ROW = ("name", "label", "largest_file_size", "limit_reason", "reason")
POINT = (
    "name", "label", "tool", "command", "file_size", "ram_multiple", "block_size", "threads", "iodepth", "operations",
    "labels",
)  # fmt: skip
GUARD = ("kind", "is_required", "parameters", "sentence", "note")
CACHE = ("host", "ram", "largest", "multiple", "factor", "is_met")
ESTIMATE = ("seconds", "by_host", "known", "unknown")


@schema.described(plan_schema.PlanSummary, paged=True, parameters=[STUDY], errors=(400,), operation_id="plans_list")
@resource()
def plans(request: Request) -> Response:
    """Plans of own studies and of published ones."""
    chosen = Plan.objects.select_related("study")
    if study := request.query_params.get("study"):
        name = text("study", study)
        by_id = Q(study=int(name)) if name.isdecimal() and len(name) < 19 else Q()
        chosen = chosen.filter(Q(study__slug=name) | by_id) if by_id else chosen.filter(study__slug=name)
    return page(request, chosen, lambda some: [_summary(request, one) for one in some])


@schema.described(plan_schema.Plan, errors=(404,), operation_id="plans_read", also={304: None})
@resource()
def plan(request: Request, pk: int) -> HttpResponseBase:
    """One plan with the state of every cell and all its steps in their order."""
    found = get_object_or_404(Plan.objects.whole(), pk=pk)
    permalink = request.build_absolute_uri(found.get_absolute_url())
    data = _summary(request, found) | _whole(PlanShown(found, runs_of(found.study)))
    return publish(request, data, no_document, permalink)


def _summary(request: Request, found: Plan) -> dict[str, Any]:
    return {
        "id": found.pk,
        "url": request.build_absolute_uri(reverse("api-plan", args=[found.pk])),
        "page": request.build_absolute_uri(found.get_absolute_url()),
        "study": found.study.slug,
        **_picked(found, OWN),
    }


def _whole(shown: PlanShown) -> dict[str, Any]:
    rows, points = list(shown.plan.rows.all()), shown.points
    return {
        "configurations": [
            {
                **_picked(row, ROW),
                "configuration": row.configuration.name if row.configuration else None,
                "host": row.host.pk if row.host else None,
            }
            for row in rows
        ],
        "points": [_picked(point, POINT) for point in points],
        "guards": [_picked(guard, GUARD) for guard in shown.plan.guards.all()],
        "cells": [_cell(cell) for cell in shown.cells],
        "steps": [
            {"position": step.position, "round": step.round, "configuration": rows[step.row].name, "point": points[step.point].name}
            for step in shown.steps
        ],
        "cache_rule": [_picked(one, CACHE) for one in shown.cache],
        "remaining": _picked(shown.remaining, ESTIMATE) if shown.remaining else None,
    }  # fmt: skip


def _cell(cell: CellShown) -> dict[str, Any]:
    return {
        "configuration": cell.row.name,
        "point": cell.point.name,
        "state": cell.state,
        **_picked(cell.progress, ("done", "least", "most")),
        "progress": cell.progress.fraction,
        **_picked(cell, ("file_size", "reason", "note", "workload")),
        "runs": [run.pk for run in cell.runs],
    }


def _picked(one: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(one, name) for name in names}
