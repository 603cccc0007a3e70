"""The rounds of a cell as the SNIA performance test judges them: for the plot on the plan's page, in REST and as a picture.

The judgement is that of the stopping rule (`apps.studies.plans.stopping_rule.steady_window`), so that the plot can never
say something else than what ended the cell.
"""

from dataclasses import dataclass

from apps.core.quantities import quantity
from apps.studies.plans.cell_values import BANDWIDTH
from apps.studies.plans.plan_page import PlanPage, PlanPageCell
from apps.studies.plans.stopping_rule import SteadyWindow, steady_window


@dataclass(frozen=True)
class MeasuredRound:
    """A round that counts: its number from 1, its run, and the value that is judged, in bytes/s."""

    number: int
    run: int
    value: float


@dataclass(frozen=True)
class SteadyCell:
    """An operation of a cell whose rounds are judged; `window` is None until there are enough rounds."""

    cell: PlanPageCell
    rounds: tuple[MeasuredRound, ...]
    window: SteadyWindow | None
    range_percent: float
    slope_percent: float
    needed: int  # rounds of a window
    operation: str = ""

    @property
    def label(self) -> str:
        where = f"{self.cell.row.label}, {self.cell.point}"
        return f"{where}, {self.operation}" if len(self.cell.operations) > 1 else where

    @property
    def has_ended(self) -> bool:
        """Return whether no further round will be made, though the state may not be steady."""
        return len(self.rounds) >= self.cell.progress.most

    @property
    def statement(self) -> str:
        """Return what the rounds show, in a sentence; values are written as quantities."""
        if self.window is None:
            count = len(self.rounds)
            return f"{count} of the {self.needed} rounds that a window has {'is' if count == 1 else 'are'} measured."
        window = self.window
        figures = (
            f"excursion {100 * window.spread:.1f} % (at most {self.range_percent:g} %), "
            f"slope {100 * window.excursion:.1f} % (at most {self.slope_percent:g} %)"
        )
        where = f"rounds {window.first} to {window.last}"
        if window.is_steady:
            return f"Steady state in {where}: average {quantity(window.mean, 'B/s')}, {figures}."
        end = f" after {len(self.rounds)} rounds, the most that the plan makes" if self.has_ended else " yet"
        return f"No steady state{end}: {where} have {figures}."


def steady_cells(page: PlanPage) -> list[SteadyCell]:
    """Return the cells of a steady-state plan that have a measured round, once for each operation that they measure.

    Empty where the plan has another rule.
    """
    rule = page.plan.rule
    if rule.kind != "steady_state":
        return []
    found = []
    for cell, operation in _operations_of(page):
        rounds = _rounds_of(page, cell, operation)
        if rounds:
            window = steady_window([entry.value for entry in rounds], rule.data)
            limits = rule.data["range_percent"], rule.data["slope_percent"]
            found.append(SteadyCell(cell, rounds, window, *limits, needed=rule.data["window"], operation=operation))
    return found


def _operations_of(page: PlanPage) -> list[tuple[PlanPageCell, str]]:
    return [(cell, operation) for cell in page.cells for operation in cell.operations]


def _rounds_of(page: PlanPage, cell: PlanPageCell, operation: str) -> tuple[MeasuredRound, ...]:
    of_cell = page.assignment.values.get((cell.row.pk, cell.point.pk), {})
    values = {pk: value for pk, run in of_cell.items() if (value := run.of(operation, BANDWIDTH)) is not None}
    counted = [run.pk for run in cell.runs if run.is_counted and run.pk in values]
    return tuple(MeasuredRound(number, run, values[run]) for number, run in enumerate(counted, 1))
