"""Runs that were started by hand for a cell and are in no study yet: found, and taken into the study at their place.

A run fits a cell when it was made on the cell's target with just the cell's workload.
"""

from dataclasses import dataclass

from django.db import transaction

from apps.runs.models import Run
from apps.runs.workload import digest
from apps.studies.models import StudyRun
from apps.studies.plans.models import Plan, PlannedRun
from apps.studies.plans.shown import CellShown, PlanShown


@dataclass(frozen=True)
class Fitting:
    run: Run
    cell: CellShown


def fitting_runs(shown: PlanShown) -> list[Fitting]:
    """Oldest first. A report's plan takes none: it is over."""
    if shown.plan.is_from_report:
        return []
    cells = {
        (target, digest(cell.workload)): cell for cell in shown.cells if cell.workload and (target := _target(cell))
    }
    runs = Run.objects.filter(
        lab_id=shown.plan.study.lab_id, study_run=None, target__in={target for target, _ in cells},
        workload__sha256__in={asked for _, asked in cells},
    )  # fmt: skip
    found = [
        (run, cells.get((run.target_id, run.workload.sha256))) for run in runs.select_related("workload").order_by("id")
    ]
    return [Fitting(run, cell) for run, cell in found if cell]


def _target(cell: CellShown) -> int | None:
    configuration = cell.row.configuration
    return configuration.target_id if configuration and not cell.reason else None


@transaction.atomic
def take(shown: PlanShown) -> int:
    """Every run that fits becomes the next round of its cell. How many."""
    Plan.objects.select_for_update(of=("self",)).get(
        pk=shown.plan.pk
    )  # two who press the button at once take each run once
    rounds = {(cell.row.pk, cell.point.pk): max((run.round for run in cell.runs), default=0) for cell in shown.cells}
    fitting = fitting_runs(shown)
    for one in fitting:
        place = one.cell.row.pk, one.cell.point.pk
        rounds[place] += 1
        StudyRun.objects.create(run=one.run, configuration=one.cell.row.configuration)
        PlannedRun.objects.create(run=one.run, row=one.cell.row, point=one.cell.point, round=rounds[place])
    return len(fitting)
