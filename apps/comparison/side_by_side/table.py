"""The table: pure, from sums to rows. What was not measured is NaN in arrays, and None as a cell.

Its figures are kept in arrays, one place for each cell: 320 cells with 20 figures each as objects would take longer than the database takes
to sum them up (`tests/benchmarks/test_d1_d2_pages.py`).
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.comparison.cells import Verdict, Withheld
from apps.comparison.labels import natural
from apps.comparison.likeness import Likeness
from apps.comparison.readings import LABEL, POINT, Evidence, Reading
from apps.comparison.side_by_side.memory import NONE, MemorySizes, marks, touched
from apps.comparison.statistics.ratios import NO_SPREAD, holm
from apps.comparison.statistics.summary import ENOUGH
from apps.comparison.statistics.verdicts import verdict_of
from apps.core import units
from apps.core.student_t import LEVEL, student
from apps.core.units import ColumnUnit
from apps.runs.metrics import METRICS, OPERATIONS, Metric

ORDER = {name: place for place, name in enumerate(OPERATIONS)}
METRIC_ORDER = {name: place for place, name in enumerate(METRICS)}
SUMS = ("n", "without", "mean", "stdev", "low", "high", "log_mean", "log_variance")
N, WITHOUT, MEAN, STDEV, LOW, HIGH, LOG_MEAN, LOG_VARIANCE = range(len(SUMS))
LOGS = [N, LOG_MEAN, LOG_VARIANCE]
Key = tuple[int, int, int]  # of a row: measure, point and section
Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Kinds:
    """The configurations of runs and of columns, by number.

    `runs`: run → the number of its configuration; `of_column`: column → the number, where all its runs have one;
    `mixed`: the other columns.
    """

    likeness: Likeness = field(default_factory=Likeness)
    runs: Mapping[int, int] = field(default_factory=dict)
    of_column: Mapping[int, int] = field(default_factory=dict)
    mixed: tuple[int, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> "Kinds":
        """Build from rows of (column, runs, labels, facts, tool, version, host, target, workload)."""
        likeness, runs = Likeness(), dict[int, int]()
        columns: dict[int, set[int]] = {}
        for column, of, labels, facts, tool, version, host, target, spec in rows:
            known = {"host": host, "target": target, "tool": tool, "tool_version": version or None}
            facts_known = {**(labels or {}), **(facts or {})}
            facts_known |= {name: value for name, value in known.items() if value is not None}
            reading = Reading(0, 0, "", "", 0.0, {**facts_known, LABEL: ""}, evidence=Evidence(asked=spec or {}))
            number = likeness.key(reading)[0]
            columns.setdefault(column, set()).add(number)
            runs |= dict.fromkeys(of, number)
        only = {column: next(iter(numbers)) for column, numbers in columns.items() if len(numbers) == 1}
        return cls(likeness, runs, only, tuple(column for column in columns if column not in only))

    def between(self, ours: int, theirs: int) -> tuple[str, ...]:
        """Return the facts of the workload that differ; all else is what columns are about."""
        return self.likeness.between((ours, ANYWHERE), (theirs, ANYWHERE), (LABEL,))


@dataclass(frozen=True, slots=True)
class CellRatios:
    """Values ÷ baseline with their 95 % intervals; arrays of one length, no interval and no p (NaN) where there are fewer than three runs."""

    ratio: Any
    low: Any
    high: Any
    p: Any
    verdicts: list[Verdict]


class SideBySidePlace(msgspec.Struct, frozen=True, gc=False):
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
class SideBySideColumn:
    """A target or a configuration; `ram` of the host in its last run, bytes. If its runs are not alike in memory, `Sums` has it by cell."""

    id: int
    name: str
    address: str
    ram: float | None = None
    memory: MemorySizes = NONE
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

    places: Mapping[Key, SideBySidePlace]
    cells: Sequence[tuple[int, Key]]
    figures: Any
    bounds: Mapping[int, Bounds]
    single: Mapping[int, Single] = field(default_factory=dict)
    memory: Mapping[int, MemorySizes] = field(default_factory=dict)
    kinds: Kinds = field(default_factory=Kinds)
    kinds_by_cell: Mapping[int, tuple[int, int]] = field(default_factory=dict)  # how many, and which where it is one


@dataclass(frozen=True, slots=True)
class Figures:
    """Arrays of rows × columns.

    `sums` has SUMS as a third dimension; `half` is of the mean's 95 % interval; `in_ram` and `partly_in_ram` are what
    `memory.marks` returns. `judged` are the cells at `places` (row, column), which had something to be held against.
    """

    sums: Any
    half: Any
    in_ram: Any
    partly_in_ram: Any
    judged: CellRatios
    places: list[tuple[int, int]]
    bounds: Mapping[tuple[int, int], Bounds]
    single: Mapping[tuple[int, int], Single]
    unlike: Mapping[tuple[int, int], int] = field(
        default_factory=dict
    )  # configurations in a cell, where they are several
    confounders: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    against: int = 0  # the column of the baseline

    def withheld(self, at: tuple[int, int]) -> Withheld | None:
        """Return why a cell is not compared with the baseline's."""
        if at in self.unlike:
            return Withheld.UNLIKE
        if at in self.confounders:
            return Withheld.CONFOUNDED
        is_mixture = (at[0], self.against) in self.unlike and at[1] != self.against
        return Withheld.UNLIKE_BASELINE if is_mixture else None


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """Value ÷ baseline with its 95 % interval; no interval and no p where there are fewer than three runs."""

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    verdict: Verdict


class SideBySideCell(msgspec.Struct, frozen=True, gc=False):
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
    unlike: int = 1  # configurations that its values are of
    withheld: Withheld | None = None
    confounders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SideBySideRow:
    place: SideBySidePlace
    metric: Metric
    unit: ColumnUnit


@dataclass(frozen=True, slots=True)
class SideBySideTable:
    columns: list[SideBySideColumn]
    baseline: SideBySideColumn | None
    rows: list[SideBySideRow]
    figures: Figures

    def cells(self) -> list[list[SideBySideCell | None]]:
        """Return the figures of each row as objects."""
        figures = self.figures
        judgements = dict(zip(figures.places, _one_by_one(figures.judged), strict=True))
        return [
            [
                _cell(figures, (row, place), column, judgements.get((row, place)))
                for place, column in enumerate(self.columns)
            ]
            for row in range(len(self.rows))
        ]


def table(columns: Sequence[SideBySideColumn], sums: Sums, baseline: int = 0, base: int = 1000) -> SideBySideTable:
    """Build the table; `baseline` 0 is the first column. Rows are ordered by operation, metric and point."""
    keys = sorted(sums.places, key=lambda key: _order(sums.places[key]))
    places = [sums.places[key] for key in keys]
    against = next((place for place, column in enumerate(columns) if column.id == baseline), 0)
    at = _at(keys, columns, sums)
    grid = _grid(len(keys), len(columns), at, sums)
    memory = {at[cell]: value for cell, value in sums.memory.items()}
    sizes = [touched(place.operation, place.file_size, place.threads) for place in places]
    in_ram, partly = marks(sizes, [column.memory for column in columns], memory)
    unlike, confounders = _unlike(columns, sums, at, against)
    withheld = {*unlike, *confounders} | {(row, column) for row, column in at if (row, against) in unlike}
    judged_places, judgement = _judgements(places, grid, against, withheld)
    bounds = {at[cell]: value for cell, value in sums.bounds.items()}
    single = {at[cell]: value for cell, value in sums.single.items()}
    halves = _halves(grid)
    if unlike:
        halves[tuple(zip(*unlike, strict=True))] = math.nan
    figures = Figures(
        grid, halves, in_ram, partly, judgement, judged_places, bounds, single, unlike, confounders, against
    )
    rows = [
        SideBySideRow(place, METRICS[place.metric], unit)
        for place, unit in zip(places, _units(places, figures, base), strict=True)
    ]
    return SideBySideTable(list(columns), columns[against] if columns else None, rows, figures)


def _order(place: SideBySidePlace) -> tuple[object, ...]:
    point = (place.file_size, place.block_size, place.threads, place.iodepth, place.section)
    return ORDER[place.operation], METRIC_ORDER[place.metric], tuple(natural(value) for value in point)


def _at(keys: Sequence[Key], columns: Sequence[SideBySideColumn], sums: Sums) -> list[tuple[int, int]]:
    """Return row and column of each cell."""
    row_of = {key: row for row, key in enumerate(keys)}
    column_of = {column.id: place for place, column in enumerate(columns)}
    return [(row_of[key], column_of[column]) for column, key in sums.cells]


def _grid(rows: int, columns: int, at: Sequence[tuple[int, int]], sums: Sums) -> Any:
    """Return an array of rows × columns × SUMS."""
    import numpy as np

    grid = np.full((rows, columns, len(SUMS)), np.nan)
    if at:
        grid[tuple(np.array(at).T)] = sums.figures
    return grid


def _unlike(
    columns: Sequence[SideBySideColumn], sums: Sums, at: Sequence[tuple[int, int]], against: int
) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], tuple[str, ...]]]:
    """Return the number of configurations in cells that mix several, and the facts in which a workload differs from the baseline's."""
    kinds, unlike = sums.kinds, dict[tuple[int, int], int]()
    number_of: dict[tuple[int, int], int] = {}
    for cell, place in enumerate(at):
        count, number = sums.kinds_by_cell.get(cell) or (1, kinds.of_column.get(columns[place[1]].id))
        if count > 1:
            unlike[place] = count
        elif number is not None:
            number_of[place] = number
    confounders = {
        place: differ
        for place, number in number_of.items()
        if (theirs := number_of.get((place[0], against))) is not None and (differ := kinds.between(number, theirs))
    }
    return unlike, confounders


def _judgements(
    places: Sequence[SideBySidePlace], grid: Any, against: int, withheld: Set[tuple[int, int]]
) -> tuple[list[tuple[int, int]], CellRatios]:
    """Judge all cells whose values are above zero where those of the baseline are too."""
    import numpy as np

    logs, above_zero = grid[:, :, LOGS], grid[:, :, LOW] > 0
    if not above_zero.size:
        return [], judge_cells(np.empty((3, 0)), np.empty((3, 0)), [])
    above_zero &= above_zero[:, against : against + 1]
    above_zero[:, against] = False
    if withheld:
        above_zero[tuple(zip(*withheld, strict=True))] = False
    rows, columns = np.nonzero(above_zero)
    higher = [METRICS[place.metric].higher_is_better for place in places]
    numbers = rows.tolist()
    judgement = judge_cells(logs[rows, columns].T, logs[rows, against].T, [higher[row] for row in numbers])
    return list(zip(numbers, columns.tolist(), strict=True)), judgement


def _halves(grid: Any) -> Any:
    """Return the half widths of Student's intervals for three runs or more."""
    import numpy as np

    counts, kinds = np.unique(grid[:, :, N], return_inverse=True)
    factors = [student(n - 1) / math.sqrt(n) if n >= ENOUGH else math.nan for n in counts.tolist()]
    return np.array(factors)[kinds].reshape(grid.shape[:2]) * grid[:, :, STDEV]


def _units(places: Sequence[SideBySidePlace], figures: Figures, base: int) -> list[ColumnUnit]:
    """Return a unit for each row, chosen for its means, or bounds where there is none."""
    means = figures.sums[:, :, MEAN].tolist()
    for (row, column), bounds in figures.bounds.items():
        if math.isnan(means[row][column]):
            means[row] += bounds
    return [
        units.unit_for(values, METRICS[place.metric].unit, base) for place, values in zip(places, means, strict=True)
    ]


def _one_by_one(judgement: CellRatios) -> list[Judgement]:
    numbers = zip(
        *(_or_none(bounds_of.tolist()) for bounds_of in (judgement.low, judgement.high, judgement.p)), strict=True
    )
    return [
        Judgement(ratio, low, high, p, verdict)
        for ratio, (low, high, p), verdict in zip(judgement.ratio.tolist(), numbers, judgement.verdicts, strict=True)
    ]


def _cell(
    figures: Figures, at: tuple[int, int], column: SideBySideColumn, judgement: Judgement | None
) -> SideBySideCell | None:
    n, without, mean, stdev, low, high, *_ = _or_none(figures.sums[at].tolist())
    if n is None:
        return None
    [half] = _or_none([float(figures.half[at])])
    bounds = figures.bounds.get(at, (None, None))
    marked = bool(figures.in_ram[at]), bool(figures.partly_in_ram[at])
    return SideBySideCell(
        column.id, int(n), int(without or 0), mean, stdev, low, high, *bounds, half, judgement, *marked,
        figures.unlike.get(at, 1 if n else 0), figures.withheld(at), figures.confounders.get(at, ()),
    )  # fmt: skip


def _or_none(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def judge_cells(ours: Any, theirs: Any, higher_is_better: Sequence[bool]) -> CellRatios:
    """Judge cells against the baseline's.

    Both arrays have three rows and a column for each cell: how many values above zero, mean and variance (n − 1) of
    their natural logarithms.
    """
    import numpy as np

    difference = ours[1] - theirs[1]
    tested = (ours[0] >= ENOUGH) & (theirs[0] >= ENOUGH)
    half, p = np.full((2, len(difference)), np.nan)
    half[tested], p[tested] = _welch(ours[:, tested], theirs[:, tested], difference[tested])
    low, high = np.exp(difference - half), np.exp(difference + half)
    adjusted = np.full(len(difference), np.nan)
    adjusted[tested] = holm(p[tested])
    verdicts = [
        verdict_of(*verdict) if enough else Verdict.TOO_FEW
        for enough, *verdict in zip(
            tested.tolist(), low.tolist(), high.tolist(), adjusted.tolist(), higher_is_better, strict=True
        )
    ]
    return CellRatios(np.exp(difference), low, high, p, verdicts)


def _welch(ours: Any, theirs: Any, difference: Any) -> tuple[Any, Any]:
    """Return half of the interval of the difference of logarithms, and p, for three values or more on both sides (Welch 1947)."""
    import numpy as np
    from scipy.special import stdtr, stdtrit

    with np.errstate(all="ignore"):  # of cells without spread, which are answered below
        mine, other = ours[2] / ours[0], theirs[2] / theirs[0]
        error = np.sqrt(mine + other)
        freedom = (mine + other) ** 2 / (mine**2 / (ours[0] - 1) + other**2 / (theirs[0] - 1))
        half = stdtrit(freedom, (1 + LEVEL) / 2) * error
        p = 2 * stdtr(freedom, -np.abs(difference / error))
    flat = error <= NO_SPREAD
    return np.where(flat, 0.0, half), np.where(flat, np.abs(difference) <= NO_SPREAD, p)


ANYWHERE = (None,) * len(POINT)  # rows have one point each
