"""Which step of a plan a host takes next. Pure: from the plan's order and the runs that exist, each time anew.

A step is a cell (row and point) in one round. It is settled when a run of it is under way or has finished, or when it
failed more often than it may be made again. Runs of the cell that were made for no step, such as uploaded ones, stand
for the first rounds that are not settled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.studies.plans.order import Cell, Step
from apps.studies.plans.plan_page import PlanPage, PlanPageCell, target_host
from apps.studies.plans.progress import OPEN_STATES, HeldRun


@dataclass(frozen=True)
class CellProgress:
    """`needed` rounds as far as the stopping rule tells now, at most `most`; `runs` oldest first."""

    needed: int
    most: int
    runs: Sequence[HeldRun] = ()


def next_step(steps: Sequence[Step], waiting: Mapping[Cell, Sequence[int]]) -> Step | None:
    """Return the first step in the plan's order that is still to be made, or None.

    Args:
        steps: Steps in the plan's order; those of other hosts' cells are passed over.
        waiting: The rounds of each cell that are still to be made (`find_waiting_rounds`), by the cell's positions in
            the plan's rows and points.
    """
    rounds = {cell: set(numbers) for cell, numbers in waiting.items()}
    return next((step for step in steps if step.round in rounds.get((step.row, step.point), ())), None)


def find_waiting(page: PlanPage, retries: int) -> dict[int, dict[Cell, list[int]]]:
    """Return the rounds that are still to be made, by host and by the positions of row and point in the whole plan.

    Every host with a cell that can be started is named; a cell of which nothing is left has an empty list.
    """
    waiting: dict[int, dict[Cell, list[int]]] = {}
    for cell in page.cells:
        host_id = target_host(cell.row)
        if host_id is not None and cell.can_be_started:
            place = cell.row.position, cell.point.position
            waiting.setdefault(host_id, {})[place] = find_waiting_rounds(_progress(cell), retries)
    return waiting


def is_anything_left(page: PlanPage, retries: int) -> bool:
    """Return whether some host of the plan has a step to make, now or when a target that is gone is there again.

    Failed steps are made again `retries` times each.
    """
    if find_cells_of_gone_targets(page, retries):
        return True
    return any(rounds for of_host in find_waiting(page, retries).values() for rounds in of_host.values())


def find_cells_of_gone_targets(page: PlanPage, retries: int) -> list[PlanPageCell]:
    """Return the cells that have rounds left and whose target its host does not offer any more, or not now."""
    return [cell for cell in page.cells if cell.is_target_gone and find_waiting_rounds(_progress(cell), retries)]


def _progress(cell: PlanPageCell) -> CellProgress:
    return CellProgress(cell.progress.needed, cell.progress.most, cell.runs)


def find_waiting_rounds(cell: CellProgress, retries: int) -> list[int]:
    """Return the rounds of a cell that are still to be made, from the lowest."""
    by_round = _by_round(cell.runs)
    settled = {number for number, runs in by_round.items() if is_settled(runs, retries)}
    failed = {number for number in settled if not any(map(_counts, by_round[number]))}
    # A rule that looks at the values goes on past a round that failed for good; a fixed number of rounds does not.
    last = min(cell.most, cell.needed + len(failed))
    rounds = [number for number in range(1, last + 1) if number not in settled]
    unplanned = sum(1 for run in cell.runs if not run.round and _counts(run))
    return rounds[unplanned:]


def is_settled(runs: Sequence[HeldRun], retries: int) -> bool:
    """Return whether nothing more is to be done for a step of which these are the runs."""
    if any(_counts(run) for run in runs):
        return True
    failures = [run for run in runs if not run.is_retried]
    return len(failures) > retries


def _by_round(runs: Sequence[HeldRun]) -> dict[int, list[HeldRun]]:
    rounds: dict[int, list[HeldRun]] = {}
    for run in runs:
        if run.round:
            rounds.setdefault(run.round, []).append(run)
    return rounds


def _counts(run: HeldRun) -> bool:
    """Return whether a run is under way, or has finished with its required guards passed."""
    return run.state in OPEN_STATES or run.is_counted
