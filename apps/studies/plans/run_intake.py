"""Runs that were started by hand for a cell: find them and add them to the study.

A run fits a cell when it was made on the cell's target with just the cell's workload.
"""

from dataclasses import dataclass

from django.db import transaction

from apps.runs.models import Run
from apps.runs.workload import digest
from apps.studies.models import Plan, PlannedRun, StudyRun
from apps.studies.plans.plan_page import PlanPage, PlanPageCell


@dataclass(frozen=True)
class Fitting:
    run: Run
    cell: PlanPageCell


def fitting_runs(plan_shown: PlanPage) -> list[Fitting]:
    """Return runs that fit cells of the plan and are in no study, oldest first.

    There are none for a report's plan, which is over.
    """
    if plan_shown.plan.is_from_report:
        return []
    cells = {
        (target, digest(cell.workload)): cell
        for cell in plan_shown.cells
        if cell.workload and (target := _target(cell))
    }
    runs = Run.objects.filter(
        lab_id=plan_shown.plan.study.lab_id, study_run=None, target__in={target for target, _ in cells},
        workload__sha256__in={sha256 for _, sha256 in cells},
    )  # fmt: skip
    fitting = [
        (run, cells.get((run.target_id, run.workload.sha256))) for run in runs.select_related("workload").order_by("id")
    ]
    return [Fitting(run, cell) for run, cell in fitting if cell]


def _target(cell: PlanPageCell) -> int | None:
    configuration = cell.row.configuration
    return configuration.target_id if configuration and not cell.reason else None


@transaction.atomic
def take(plan_shown: PlanPage) -> int:
    """Add every fitting run as the next round of its cell, and return how many."""
    Plan.objects.select_for_update(of=("self",)).get(
        pk=plan_shown.plan.pk
    )  # two who press the button at once take each run once
    rounds = {
        (cell.row.pk, cell.point.pk): max((run.round for run in cell.runs), default=0) for cell in plan_shown.cells
    }
    fitting = fitting_runs(plan_shown)
    for run in fitting:
        place = run.cell.row.pk, run.cell.point.pk
        rounds[place] += 1
        StudyRun.objects.create(run=run.run, configuration=run.cell.row.configuration)
        PlannedRun.objects.create(run=run.run, row=run.cell.row, point=run.cell.point, round=rounds[place])
    return len(fitting)
