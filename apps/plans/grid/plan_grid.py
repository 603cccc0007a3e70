"""A plan's matrix as grids: for each configuration one option by another, each cell a number whose colour is its heat.

It says less of a cell than the table does, so that a plan of hundreds of points fits on a page; the chosen cell is shown
in full below its grid.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.comparison.charts.comparison import share
from apps.core.unit_base import base
from apps.core.units import ColumnUnit, human, unit_for
from apps.plans.grid.axes import GridShape, OptionValue
from apps.runs.metrics import Metric
from apps.runs.models import Run
from apps.runs.series.progress import LiveFigure
from apps.studies.models import PlanConfiguration
from apps.studies.plans.plan_page import PlanPageCell, PlanPageRow
from apps.studies.plans.progress import DONE, NOT_RUN, WAITING

SHADES = 10  # of the ramp in `static/css/plans.css`
LOGARITHMIC_FROM = 10.0  # times the least value: then a colour stands for a factor and not for a difference


@dataclass(frozen=True)
class GridCell:
    """One cell: `number` in the grids' unit, empty where nothing is measured; `shade` 0 to 9, None without a number.

    `note`: its state in a word or two, empty where it is done.
    """

    place: str
    number: str
    note: str
    shade: int | None
    is_now: bool = False
    is_failed: bool = False

    @property
    def is_quiet(self) -> bool:
        """Return whether its note is for screen readers only, for it is that of most cells of a young plan."""
        return not self.is_now and self.note in (WAITING, NOT_RUN)


@dataclass(frozen=True)
class GridTable:
    """One grid: of one configuration, and of one combination of the options that are neither row nor column.

    Where cells have figures of several operations there is one for each, which `words` name.
    """

    row: PlanConfiguration
    words: str
    lines: Sequence[tuple[str, Sequence[GridCell | None]]]


@dataclass
class PlanGrid:
    """The grids of some rows of a plan's matrix.

    Args:
        runs: The runs under way, by the ids of row and point.
        figures: What these do now, by the run's id.
        chosen: The cell that is shown in full, as `GridCell.place` names it.
    """

    shape: GridShape
    rows: Sequence[PlanPageRow]
    metric: Metric
    runs: Mapping[tuple[int, int], Run]
    figures: Mapping[int, Sequence[LiveFigure]]
    chosen: str = ""

    @cached_property
    def columns(self) -> Sequence[OptionValue]:
        return self.shape.columns.values

    @cached_property
    def unit(self) -> ColumnUnit:
        return unit_for(self._values, self.metric.unit, base())

    @cached_property
    def _values(self) -> list[float]:
        cells = [cell for row in self.rows for cell in row.cells]
        found = (self._value_of(cell, name) for cell in cells for name in self._operations_of(cell))
        return [value for value in found if value is not None]

    def _figures_of(self, cell: PlanPageCell) -> Sequence[LiveFigure]:
        run = self.runs.get((cell.row.pk, cell.point.pk))
        return self.figures.get(run.pk, ()) if run else ()

    def _operations_of(self, cell: PlanPageCell) -> list[str]:
        return cell.operations or [figure.operation for figure in self._figures_of(cell)]

    def _value_of(self, cell: PlanPageCell, operation: str) -> float | None:
        """Return what a cell measured of an operation, or else what its run does now."""
        if stored := cell.value_of(self.metric.name, operation):
            return stored.mean
        figures = self._figures_of(cell)
        return next((figure.value for figure in figures if figure.operation == operation), None)

    @cached_property
    def _bounds(self) -> tuple[float, float, bool]:
        least, most = min(self._values), max(self._values)
        return least, most, least > 0 and most / least >= LOGARITHMIC_FROM

    @property
    def legend(self) -> tuple[str, str, bool] | None:
        """Return the least and the most value in words, and whether colours stand for factors; None without values."""
        if not self._values:
            return None
        least, most, is_log = self._bounds
        return human(least, self.metric.unit, base()), human(most, self.metric.unit, base()), is_log

    @property
    def shades(self) -> range:
        return range(SHADES)

    @cached_property
    def tables(self) -> list[GridTable]:
        """Return the grids, configuration by configuration."""
        places = [(row, group) for row in self.rows for group in self.shape.groups]
        return [self._make_table(row, group, name) for row, group in places for name in self._operations_in(row, group)]

    def _operations_in(self, row: PlanPageRow, group: tuple[Hashable, ...]) -> list[str]:
        """Return the operations that have a grid each; an empty name where no cell has several."""
        every = [self._operations_of(row.cells[at]) for at in self._points_of[group].values()]
        return sorted({name for names in every for name in names}) if any(len(names) > 1 for names in every) else [""]

    def _make_table(self, row: PlanPageRow, group: tuple[Hashable, ...], operation: str) -> GridTable:
        by_place = self._points_of[group]
        lines = []
        for line in self.shape.rows.values:
            at = [by_place.get((line.key, column.key)) for column in self.columns]
            if any(place is not None for place in at):
                cells = [None if place is None else self._make_cell(row.cells[place], operation) for place in at]
                lines.append((line.words, cells))
        words = ", ".join(filter(None, [self.shape.words_of_group(group), operation]))
        return GridTable(row.row, words, lines)

    @cached_property
    def _points_of(self) -> dict[tuple[Hashable, ...], dict[tuple[Hashable, Hashable], int]]:
        """Return the places of the points in the plan, by group and by row and column."""
        points: dict[tuple[Hashable, ...], dict[tuple[Hashable, Hashable], int]] = {}
        for at in range(len(self.shape.rows.of_points)):
            group, row, column = self.shape.place_of(at)
            points.setdefault(group, {})[row, column] = at
        return points

    def _make_cell(self, cell: PlanPageCell, operation: str) -> GridCell:
        run = self.runs.get((cell.row.pk, cell.point.pk))
        value = self._value_of(cell, operation or next(iter(self._operations_of(cell)), ""))
        number = "" if value is None else self.unit.text(value)
        shade = None if value is None else self._shade_of(value)
        return GridCell(_place_of(cell), number, _note_of(cell, run), shade, run is not None, cell.state == "failed")

    def _shade_of(self, value: float) -> int:
        least, most, is_log = self._bounds
        return min(SHADES - 1, math.floor(share(value, least, most, is_log) * SHADES))

    def find_chosen(self) -> PlanPageCell | None:
        """Return the cell that is shown in full."""
        cells = (cell for row in self.rows for cell in row.cells)
        return next((cell for cell in cells if _place_of(cell) == self.chosen), None)


def _place_of(cell: PlanPageCell) -> str:
    """Return how an address names a cell."""
    return f"{cell.row.pk}-{cell.point.pk}"


def _note_of(cell: PlanPageCell, run: Run | None) -> str:
    """Return a cell's state in a word or two; empty where it is done."""
    if run is not None:
        return f"{run.progress:.0%}" if run.state == "running" else str(run.state)
    if cell.state == DONE:
        return "rule not met" if cell.is_rule_missed else ""
    progress = cell.progress
    return f"{progress.done} of {progress.most}" if progress.done and cell.state == "partly" else cell.state
