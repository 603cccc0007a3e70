"""The table: pure, from sums to rows. What was not measured is NaN in arrays, and None as a cell.

Its figures are kept in arrays, one place for each cell: 320 cells with 20 figures each as objects would take longer than the database takes
to sum them up (`tests/benchmarks/test_p9_side_by_side.py`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.comparison.cells import Verdict
from apps.comparison.side_by_side.judging import Judged, judged
from apps.comparison.side_by_side.memory import NONE, Memory, marks, touched
from apps.comparison.statistics import ENOUGH
from apps.comparison.words import natural
from apps.lib import units
from apps.lib.student import student
from apps.lib.units import ColumnUnit
from apps.runs.metrics import METRICS, OPERATIONS, Metric

ORDER = {name: place for place, name in enumerate(OPERATIONS)}
METRIC_ORDER = {name: place for place, name in enumerate(METRICS)}
SUMS = ("n", "without", "mean", "stdev", "low", "high", "log_mean", "log_variance")
N, WITHOUT, MEAN, STDEV, LOW, HIGH, LOG_MEAN, LOG_VARIANCE = range(len(SUMS))
LOGS = [N, LOG_MEAN, LOG_VARIANCE]
Key = tuple[int, int, int]  # of a row: measure, point and section
Bounds = tuple[float | None, float | None]


class Place(msgspec.Struct, frozen=True, gc=False):
    """What a row is about: sizes in bytes; `section` is the part of the tool's output, 0 for most, `parts` what its cells' runs call that."""

    operation: str
    metric: str
    file_size: int | None
    block_size: int | None
    threads: int | None
    iodepth: int | None
    section: int
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A target or a configuration; `ram` of the host in its last run, bytes. If its runs are not alike in memory, `Sums` has it by cell."""

    id: int
    name: str
    address: str
    ram: float | None = None
    memory: Memory = NONE
    is_alike: bool = True
    filters: tuple[tuple[str, str], ...] = ()  # of the comparison that has it as a series


class Single(msgspec.Struct, frozen=True, gc=False):
    """The one sample of a cell, as its tool printed it; `source_line` counts from 1."""

    run: int
    printed: str
    source_line: int | None


@dataclass(frozen=True, slots=True)
class Sums:
    """Of the last runs, in base units, cells in any order.

    `cells`: id of the column and key of the row; `figures`: one row of SUMS for each cell, NaN where there is none; `bounds`: of the cells (by
    number) that have samples which are a range and no number; `single`: of those that have one sample; `memory`: where it is not the column's.
    """

    places: Mapping[Key, Place]
    cells: Sequence[tuple[int, Key]]
    figures: Any
    bounds: Mapping[int, Bounds]
    single: Mapping[int, Single] = field(default_factory=dict)
    memory: Mapping[int, Memory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figures:
    """Arrays of rows × columns: `sums` has SUMS as a third dimension; `half` is of the mean's 95 % interval; `in_ram` and `partly_in_ram` are
    what `memory.marks` says. `judged` are the cells at `places` (row, column), which had something to be held against.
    """

    sums: Any
    half: Any
    in_ram: Any
    partly_in_ram: Any
    judged: Judged
    places: list[tuple[int, int]]
    bounds: Mapping[tuple[int, int], Bounds]
    single: Mapping[tuple[int, int], Single]


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """Value ÷ baseline with its 95 % interval; no interval and no p where there are fewer than three runs."""

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    verdict: Verdict


class Cell(msgspec.Struct, frozen=True, gc=False):
    """One cell by itself, base units; `without` samples are no number, at most bounds."""

    column: int
    n: int
    without: int
    mean: float | None
    stdev: float | None
    low: float | None
    high: float | None
    bound_low: float | None  # of samples that are a range, not a number
    bound_high: float | None
    half: float | None
    judgement: Judgement | None
    in_ram: bool
    partly_in_ram: bool


@dataclass(frozen=True, slots=True)
class Row:
    place: Place
    metric: Metric
    unit: ColumnUnit


@dataclass(frozen=True, slots=True)
class Table:
    columns: list[Column]
    baseline: Column | None
    rows: list[Row]
    figures: Figures

    def cells(self) -> list[list[Cell | None]]:
        """The figures of each row, one by one: for those who need them as objects."""
        figures = self.figures
        judgements = dict(zip(figures.places, _one_by_one(figures.judged), strict=True))
        return [
            [
                _cell(figures, (row, place), column, judgements.get((row, place)))
                for place, column in enumerate(self.columns)
            ]
            for row in range(len(self.rows))
        ]


def table(columns: Sequence[Column], sums: Sums, baseline: int = 0, base: int = 1000) -> Table:
    """`baseline` 0 is the first column. Rows by operation, metric and point, in the field's order."""
    keys = sorted(sums.places, key=lambda key: _order(sums.places[key]))
    places = [sums.places[key] for key in keys]
    against = next((place for place, column in enumerate(columns) if column.id == baseline), 0)
    at = _at(keys, columns, sums)
    grid = _grid(len(keys), len(columns), at, sums)
    memory = {at[cell]: one for cell, one in sums.memory.items()}
    sizes = [touched(place.operation, place.file_size, place.threads) for place in places]
    in_ram, partly = marks(sizes, [column.memory for column in columns], memory)
    judged_places, found = _judgements(places, grid, against)
    bounds = {at[cell]: one for cell, one in sums.bounds.items()}
    single = {at[cell]: one for cell, one in sums.single.items()}
    figures = Figures(grid, _halves(grid), in_ram, partly, found, judged_places, bounds, single)
    rows = [
        Row(place, METRICS[place.metric], unit)
        for place, unit in zip(places, _units(places, figures, base), strict=True)
    ]
    return Table(list(columns), columns[against] if columns else None, rows, figures)


def _order(place: Place) -> tuple[object, ...]:
    point = (place.file_size, place.block_size, place.threads, place.iodepth, place.section)
    return ORDER[place.operation], METRIC_ORDER[place.metric], tuple(natural(value) for value in point)


def _at(keys: Sequence[Key], columns: Sequence[Column], sums: Sums) -> list[tuple[int, int]]:
    """Row and column of each cell."""
    row_of = {key: row for row, key in enumerate(keys)}
    column_of = {column.id: place for place, column in enumerate(columns)}
    return [(row_of[key], column_of[column]) for column, key in sums.cells]


def _grid(rows: int, columns: int, at: Sequence[tuple[int, int]], sums: Sums) -> Any:
    """Rows × columns × SUMS."""
    import numpy as np

    grid = np.full((rows, columns, len(SUMS)), np.nan)
    if at:
        grid[tuple(np.array(at).T)] = sums.figures
    return grid


def _judgements(places: Sequence[Place], grid: Any, against: int) -> tuple[list[tuple[int, int]], Judged]:
    """Of all cells whose values are above zero, where those of the baseline are too."""
    import numpy as np

    logs, above_zero = grid[:, :, LOGS], grid[:, :, LOW] > 0
    if not above_zero.size:
        return [], judged(np.empty((3, 0)), np.empty((3, 0)), [])
    above_zero &= above_zero[:, against : against + 1]
    above_zero[:, against] = False
    rows, columns = np.nonzero(above_zero)
    higher = [METRICS[place.metric].higher_is_better for place in places]
    numbers = rows.tolist()
    found = judged(logs[rows, columns].T, logs[rows, against].T, [higher[row] for row in numbers])
    return list(zip(numbers, columns.tolist(), strict=True)), found


def _halves(grid: Any) -> Any:
    """Student's, of three runs or more."""
    import numpy as np

    counts, kinds = np.unique(grid[:, :, N], return_inverse=True)
    factors = [student(n - 1) / math.sqrt(n) if n >= ENOUGH else math.nan for n in counts.tolist()]
    return np.array(factors)[kinds].reshape(grid.shape[:2]) * grid[:, :, STDEV]


def _units(places: Sequence[Place], figures: Figures, base: int) -> list[ColumnUnit]:
    """For each row, by what its cells will show: means, and bounds where there is none."""
    means = figures.sums[:, :, MEAN].tolist()
    for (row, column), bounds in figures.bounds.items():
        if math.isnan(means[row][column]):
            means[row] += bounds
    return [units.unit_for(shown, METRICS[place.metric].unit, base) for place, shown in zip(places, means, strict=True)]


def _one_by_one(found: Judged) -> list[Judgement]:
    numbers = zip(*(_or_none(one.tolist()) for one in (found.low, found.high, found.p)), strict=True)
    return [
        Judgement(ratio, low, high, p, verdict)
        for ratio, (low, high, p), verdict in zip(found.ratio.tolist(), numbers, found.verdicts, strict=True)
    ]


def _cell(figures: Figures, at: tuple[int, int], column: Column, judgement: Judgement | None) -> Cell | None:
    n, without, mean, stdev, low, high, *_ = _or_none(figures.sums[at].tolist())
    if n is None:
        return None
    [half] = _or_none([float(figures.half[at])])
    bounds = figures.bounds.get(at, (None, None))
    marked = bool(figures.in_ram[at]), bool(figures.partly_in_ram[at])
    return Cell(column.id, int(n), int(without or 0), mean, stdev, low, high, *bounds, half, judgement, *marked)


def _or_none(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]
