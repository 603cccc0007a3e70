"""The table: pure, from sums to rows. A cell that was not measured is None."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from apps.comparison.side_by_side.judging import Judgement, Logs, judged
from apps.comparison.statistics import ENOUGH, student
from apps.comparison.words import natural
from apps.lib import units
from apps.lib.units import ColumnUnit
from apps.runs.metrics import METRICS, OPERATIONS, Metric

ORDER = {name: place for place, name in enumerate(OPERATIONS)}
METRIC_ORDER = {name: place for place, name in enumerate(METRICS)}


class Place(msgspec.Struct, frozen=True, gc=False):
    """What a row is about: sizes in bytes; `section` is the part of the tool's output, 0 for most."""

    operation: str
    metric: str
    file_size: int | None
    block_size: int | None
    threads: int | None
    iodepth: int | None
    section: int


@dataclass(frozen=True, slots=True)
class Column:
    """A target or a configuration; `ram` of the host in its last run, bytes."""

    id: int
    name: str
    address: str
    ram: float | None = None
    filters: tuple[tuple[str, str], ...] = ()  # of the comparison that has it as a series


class Sums(msgspec.Struct, frozen=True, gc=False):
    """Of the last runs in one cell, base units; `without` samples are no number, at most bounds; `logs` where all values
    are above zero.
    """

    column: int
    key: tuple[int, int, int]  # of the place: measure, point and section
    place: Place
    n: int
    without: int
    mean: float | None
    stdev: float | None
    low: float | None
    high: float | None
    bound_low: float | None  # of samples that are a range, not a number
    bound_high: float | None
    logs: Logs | None


class Cell(msgspec.Struct, frozen=True, gc=False):
    sums: Sums
    half: float | None  # of the mean's 95 % interval
    judgement: Judgement | None
    in_ram: bool  # the file is no larger than the host's RAM


class Row(msgspec.Struct, frozen=True, gc=False):
    place: Place
    metric: Metric
    unit: ColumnUnit
    cells: list[Cell | None]


@dataclass(frozen=True, slots=True)
class Table:
    columns: list[Column]
    baseline: Column | None
    rows: list[Row]


def table(columns: Sequence[Column], sums: Iterable[Sums], baseline: int = 0, base: int = 1000) -> Table:
    """`baseline` 0 is the first column. Rows by operation, metric and point, in the field's order."""
    found: dict[tuple[int, int, int], dict[int, Sums]] = {}
    for one in sums:
        found.setdefault(one.key, {})[one.column] = one
    ordered = sorted(found.values(), key=_order)
    against = next((column for column in columns if column.id == baseline), columns[0] if columns else None)
    judgements = _judgements(ordered, against.id if against else 0)
    quantiles = _quantiles(ordered)
    rows = [_row(of_place, columns, judgements, quantiles, base) for of_place in ordered]
    return Table(list(columns), against, rows)


def _place(of_place: Mapping[int, Sums]) -> Place:
    return next(iter(of_place.values())).place


def _order(of_place: Mapping[int, Sums]) -> tuple[object, ...]:
    place = _place(of_place)
    point = (place.file_size, place.block_size, place.threads, place.iodepth, place.section)
    return ORDER[place.operation], METRIC_ORDER[place.metric], tuple(natural(value) for value in point)


def _judgements(ordered: Sequence[Mapping[int, Sums]], against: int) -> dict[int, Judgement]:
    """By the identity of the sums, for those that have something to be held against."""
    ours, pairs, better = [], [], []
    for of_place in ordered:
        theirs = of_place[against].logs if against in of_place else None
        if theirs:
            higher = METRICS[_place(of_place).metric].higher_is_better
            for column, one in of_place.items():
                if one.logs and column != against:
                    ours.append(id(one))
                    pairs.append((one.logs, theirs))
                    better.append(higher)
    return dict(zip(ours, judged(pairs, better), strict=True))


def _quantiles(ordered: Sequence[Mapping[int, Sums]]) -> dict[int, float]:
    """Number of runs → what a standard deviation is multiplied with for half of Student's interval of the mean."""
    counts = {one.n for of_place in ordered for one in of_place.values() if one.n >= ENOUGH}
    return {n: student(n - 1) / math.sqrt(n) for n in counts}


def _row(
    of_place: Mapping[int, Sums],
    columns: Sequence[Column],
    judgements: Mapping[int, Judgement],
    quantiles: Mapping[int, float],
    base: int,
) -> Row:
    place = _place(of_place)
    metric = METRICS[place.metric]
    in_files = place.file_size * (place.threads or 1) if place.file_size else math.inf
    cells: list[Cell | None] = []
    for column in columns:
        one = of_place.get(column.id)
        if one is None:
            cells.append(None)
            continue
        half = quantiles[one.n] * one.stdev if one.n in quantiles and one.stdev is not None else None
        cells.append(Cell(one, half, judgements.get(id(one)), in_files <= (column.ram or 0)))
    unit = units.unit_for(_figures(of_place.values()), metric.unit, base)
    return Row(place, metric, unit, cells)


def _figures(sums: Iterable[Sums]) -> list[float | None]:
    """What the row's cells will show: means, and bounds where there is none."""
    found: list[float | None] = []
    for one in sums:
        found += (one.bound_low, one.bound_high) if one.mean is None else (one.mean,)
    return found
