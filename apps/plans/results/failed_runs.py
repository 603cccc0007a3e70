"""The runs of a plan that have ended and do not count for their step: why, and by which run the step was made again."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.core.quantities import written
from apps.runs.models import Run
from apps.runs.states import ENDED
from apps.studies.plans.plan_page import PlanPageCell
from apps.studies.plans.progress import HeldRun

OTHER_RESULT = "It measured something else than was asked"


@dataclass(frozen=True)
class FailedRun:
    """A run that does not count for its step.

    `again`: the next run of the same step; None where there is none. `is_left`: nobody has asked for the step once more
    since, and it is made again by itself only as often as the plan's retries say.
    """

    cell: PlanPageCell
    run: HeldRun
    problem: str
    again: int | None

    @property
    def is_left(self) -> bool:
        return self.again is None and not self.run.is_retried


def find_failed_runs(cells: Iterable[PlanPageCell]) -> list[FailedRun]:
    """Return the runs of these cells that were made for a step and do not count, oldest first; in one query."""
    failed = [
        (cell, run) for cell in cells for run in cell.runs if run.round and run.state in ENDED and not run.is_counted
    ]
    problems = dict(Run.objects.filter(pk__in=[run.pk for _, run in failed]).values_list("pk", "problem"))
    found = [
        FailedRun(cell, run, _problem_of(run, problems.get(run.pk, "")), _find_next(cell, run)) for cell, run in failed
    ]
    return sorted(found, key=lambda entry: entry.run.pk)


def find_failed_steps(failed_runs: Iterable[FailedRun]) -> list[FailedRun]:
    """Return of these runs the newest of each step that has failed, of any round, and that would be made again if asked for."""
    return [entry for entry in failed_runs if entry.is_left and entry.cell.remaining]


def _problem_of(run: HeldRun, problem: str) -> str:
    if run.state != "finished":
        return problem
    return OTHER_RESULT if run.is_other_result else written(run.failed_guard)


def _find_next(cell: PlanPageCell, run: HeldRun) -> int | None:
    return min((other.pk for other in cell.runs if other.round == run.round and other.pk > run.pk), default=None)
