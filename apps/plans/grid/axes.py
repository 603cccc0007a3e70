"""The options that vary among a plan's points, and which two of them can be the rows and columns of a grid."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from apps.core.units import plain, size
from apps.parsers.fio.job_options.table import spell_value
from apps.studies.plans.plan_page import fact_words
from apps.studies.plans.workload import unlike_options

SIZES = ("file_size", "block_size")
COUNTS = ("iodepth", "threads")
MOST_PAIRS = 6  # that are offered
MOST_ASIDE = 12  # of a grid for each combination of the other options
LEAST_FILLED = 0.34  # of the grids: emptier ones show less than the list of points does


@dataclass(frozen=True)
class OptionValue:
    """A value of an option, in the order of its axis; `key` tells it from others."""

    key: Hashable
    words: str


@dataclass(frozen=True)
class OptionAxis:
    """An option with all its values among the points, by the points' places in the plan."""

    name: str
    values: tuple[OptionValue, ...]
    of_points: tuple[Hashable, ...]

    @property
    def label(self) -> str:
        """Return what people call the option: `file size`."""
        return fact_words(self.name)

    @property
    def is_size_or_count(self) -> bool:
        return self.name in (*SIZES, *COUNTS)


def find_axes(points: Sequence[Any]) -> list[OptionAxis]:
    """Return the options that have several values among the points, the longest of sizes and counts first."""
    axes = [_make_axis(name, [getattr(point, name) for point in points]) for name in ("block_size", *COUNTS)]
    axes.insert(0, _make_axis("file_size", [_file_of(point) for point in points]))
    axes.append(_make_axis("rw", [(point.job or {}).get("rw") for point in points]))
    unlike = unlike_options(points)
    names = dict.fromkeys(name for values in unlike.values() for name in values)
    axes += [_make_axis(name, [unlike.get(point.pk, {}).get(name) for point in points]) for name in names]
    axes.append(_make_axis("tool", [point.tool for point in points]))
    axes.append(_make_axis("operation", [", ".join(point.operations) for point in points]))
    axes.append(_make_axis("labels", [point.labels for point in points]))
    varying = [axis for axis in axes if len(axis.values) > 1]
    return sorted(varying, key=lambda axis: (not axis.is_size_or_count, -len(axis.values)))


def _file_of(point: Any) -> tuple[int, float] | None:
    """Return a point's file size so that multiples of the RAM are behind bytes."""
    if point.ram_multiple is not None:
        return (1, float(point.ram_multiple))
    return None if point.file_size is None else (0, float(point.file_size))


def _frozen(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)


def _make_axis(name: str, values: Sequence[Any]) -> OptionAxis:
    by_key = {_frozen(value): value for value in values}
    keys = list(by_key)
    if all(isinstance(key, int | float | tuple) and not isinstance(key, bool) for key in keys):
        keys.sort(key=lambda key: key if isinstance(key, tuple) else (0, key))
    spelled = tuple(OptionValue(key, _words_of(name, by_key[key])) for key in keys)
    return OptionAxis(name, spelled, tuple(map(_frozen, values)))


def _words_of(name: str, key: Any) -> str:
    if key is None and name not in SIZES + COUNTS:
        return "default"
    if key is None:
        return "–"
    if name == "file_size":
        return f"{key[1]:g} × RAM" if key[0] else size(int(key[1]))
    if name in SIZES:
        return size(key)
    if name in COUNTS:
        return plain(key)
    if name == "labels":
        return ", ".join(f"{label}: {value}" for label, value in sorted(key.items())) or "none"
    try:
        return str(spell_value(name, key))
    except (KeyError, TypeError, ValueError, AttributeError):
        return str(key)


@dataclass(frozen=True)
class GridShape:
    """Rows and columns of a plan's grids, and the options that are neither: a grid for each combination of these."""

    rows: OptionAxis
    columns: OptionAxis
    aside: tuple[OptionAxis, ...]

    @property
    def name(self) -> str:
        """Return its name in addresses: `file_size-block_size`."""
        return f"{self.rows.name}-{self.columns.name}"

    @property
    def label(self) -> str:
        """Return it as people call it: `file size × block size`."""
        return f"{self.rows.label} × {self.columns.label}"

    @cached_property
    def groups(self) -> list[tuple[Hashable, ...]]:
        """Return the combinations of the options aside, in the order of the points."""
        return list(dict.fromkeys(self.place_of(at)[0] for at in range(len(self.rows.of_points))))

    def place_of(self, at: int) -> tuple[tuple[Hashable, ...], Hashable, Hashable]:
        """Return the group, the row and the column of the point at this place."""
        return tuple(axis.of_points[at] for axis in self.aside), self.rows.of_points[at], self.columns.of_points[at]

    def words_of_group(self, group: tuple[Hashable, ...]) -> str:
        """Return a combination of the options aside in words: `randread, I/O depth: 8`; empty where there is none."""
        words = []
        for axis, key in zip(self.aside, group, strict=True):
            value = next(value.words for value in axis.values if value.key == key)
            words.append(value if axis.name in ("rw", "tool", "operation") else f"{axis.label}: {value}")
        return ", ".join(words)

    @property
    def filled(self) -> float:
        """Return the share of the grids' places that have a point, 0 to 1; above 1 where two points share one."""
        count = len(self.rows.of_points)
        if len({self.place_of(at) for at in range(count)}) < count:
            return 2.0
        return count / (len(self.groups) * len(self.rows.values) * len(self.columns.values))


def find_shapes(points: Sequence[Any]) -> list[GridShape]:
    """Return the grids that the points of a plan can be shown in, the best first.

    There are none where two points share a place, or where one has several jobs, which are at no place of an axis.
    """
    if any(point.jobs for point in points):
        return []
    axes = find_axes(points)
    pairs = list(combinations(axes, 2))
    shapes = [
        GridShape(rows, columns, tuple(axis for axis in axes if axis not in (rows, columns))) for rows, columns in pairs
    ]
    fitting = [shape for shape in shapes if len(shape.groups) <= MOST_ASIDE and LEAST_FILLED <= shape.filled <= 1]
    of_numbers = [shape for shape in fitting if shape.rows.is_size_or_count and shape.columns.is_size_or_count]
    return (of_numbers or fitting)[:MOST_PAIRS]
