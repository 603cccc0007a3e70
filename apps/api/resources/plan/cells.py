"""One cell of a plan's matrix: skip it with a reason, run it after all, and make its failed steps again."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import who
from apps.api.fields import TextField
from apps.api.openapi import problems
from apps.api.problems import ProblemError
from apps.api.resources.plans import PlanCellShapeSerializer
from apps.api.resources.runs import KnownFieldsSerializer
from apps.api.viewsets import ScopedAPIView
from apps.labs.models import TokenScope
from apps.plans.models import load_plan
from apps.plans.services import retry_failed
from apps.studies.models import Plan, PlanConfiguration, PlanPoint
from apps.studies.plans.plan_page import CELL_METRICS, PlanPage, PlanPageCell
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.services import set_cell

LONGEST_REASON = 500  # as on the cell's page
Cell = tuple[Plan, PlanConfiguration, PlanPoint]


class SkipCellSerializer(KnownFieldsSerializer):
    """Why a cell is not run."""

    reason = TextField(max_length=LONGEST_REASON, help_text="why it is not run")


class PlanCellMixin(ScopedAPIView):
    """What the addresses of a cell share. `configuration` and `point` are the names that the plan's cells have."""

    keeps_answers = True
    serializer_class: Any = PlanCellShapeSerializer
    needed_scope = TokenScope.RUN

    def own_cell(self, pk: int, configuration: str, point: str) -> Cell:
        plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk, study__lab=self.lab)
        row = get_object_or_404(PlanConfiguration, plan=plan, name=configuration)
        return plan, row, get_object_or_404(PlanPoint, plan=plan, name=point)

    def represent(self, cell: Cell, status: int) -> Response:
        """Return the cell as `GET plans/{id}/` has it."""
        return Response(PlanCellShapeSerializer(self.find_on_page(cell)).data, status=status)

    def find_on_page(self, cell: Cell) -> PlanPageCell:
        plan, row, point = cell
        page = PlanPage(load_plan(plan.pk), runs_of(plan.study, plan_id=plan.pk, metrics=CELL_METRICS[1:]))
        return next(found for found in page.cells if (found.row.pk, found.point.pk) == (row.pk, point.pk))


class PlanCellSkipView(PlanCellMixin):
    """A cell that somebody skips."""

    @extend_schema(
        operation_id="plans_cells_skip", request=SkipCellSerializer,
        responses={202: PlanCellShapeSerializer, **problems(404, 409)},
    )  # fmt: skip
    def post(self, request: Request, pk: int, configuration: str, point: str) -> Response:
        """Skip a cell with a reason; a run of it that is under way goes on. A skipped cell gets the new reason."""
        cell = self.own_cell(pk, configuration, point)
        set_cell(*cell, actor=who(request), **self.validate_body(SkipCellSerializer))
        return self.represent(cell, 202)

    @extend_schema(
        operation_id="plans_cells_run", request=None, responses={202: PlanCellShapeSerializer, **problems(404, 409)}
    )
    def delete(self, request: Request, pk: int, configuration: str, point: str) -> Response:
        """Run a cell after all that was skipped; what was measured of it counts again. Its note stays."""
        cell = self.own_cell(pk, configuration, point)
        found = self.find_on_page(cell)
        if not found.is_left_out:
            detail = "This cell was not skipped." + (f" {found.reason}" if found.reason else "")
            raise ProblemError(409, detail, field="state", found=found.state, expected="a cell that was skipped")
        set_cell(*cell, actor=who(request), reason="")
        return self.represent(cell, 202)


class PlanCellRetryView(PlanCellMixin):
    """The failed steps of a cell."""

    @extend_schema(
        operation_id="plans_cells_retry", request=None, responses={202: PlanCellShapeSerializer, **problems(404, 409)}
    )
    def post(self, request: Request, pk: int, configuration: str, point: str) -> Response:
        """Make the failed steps of one cell again; those of other cells stay as they are."""
        cell = self.own_cell(pk, configuration, point)
        self.refuse_body()
        plan, row, column = cell
        retry_failed(plan, actor=who(request), row=row, point=column)
        return self.represent(cell, 202)
