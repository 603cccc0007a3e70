"""The comparison that holds the most else equal: of all pairs that differ in what is compared, the one with the most
other facts known to be the same, and the filters that leave just this pair. What nobody knows counts for no pair.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from apps.comparison.confounders import Contrast, configurations, contrast, table
from apps.comparison.readings import LABEL, Reading

Filters = tuple[tuple[str, str], ...]
# Names that stand in an address, the shortest that will do first.
ADDRESSES = (("configuration",), ("host",), ("target",), ("host", "target"))


@dataclass(frozen=True)
class Suggestion:
    """Two configurations (or hosts) and what differs between them besides what is compared."""

    units: tuple[str, str]
    contrast: Contrast
    filters: Filters


@dataclass(frozen=True)
class _Unit:
    levels: frozenset[Any]  # of the series' facts
    is_known: bool  # all of them
    places: frozenset[Any]  # along x

    @classmethod
    def of(cls, readings: Sequence[Reading], series: Sequence[str], x: str) -> "_Unit":
        found = [tuple(one.of(fact) for fact in series) for one in readings]
        levels, is_known = frozenset(tuple(map(str, one)) for one in found), not any(None in one for one in found)
        return cls(levels, is_known, frozenset(str(one.of(x)) for one in readings))


def likest(readings: Sequence[Reading], series: Sequence[str], x: str, beats: int) -> Suggestion | None:
    """None where no pair differs in fewer than `beats` other facts, or two are all there is."""
    units = configurations(readings)
    if len(units) <= 2:
        return None
    known = table(units, (*series, x, LABEL))
    where = {name: _Unit.of(side, series, x) for name, side in units.items()}
    found = [contrast(known, *pair) for pair in combinations(units, 2) if _can_be_held(*map(where.__getitem__, pair))]
    better = [one for one in found if len(one.differs) < beats]
    best = max(better, key=lambda one: (len(one.equal), -len(one.differs), -len(one.unknown)), default=None)
    if best is None:
        return None
    return Suggestion(best.series, best, _filters(readings, {name: units[name] for name in best.series}))


def _can_be_held(ours: _Unit, theirs: _Unit) -> bool:
    """They are known to differ in what is compared, and were measured at the same x."""
    are_known = ours.is_known and theirs.is_known
    return are_known and not ours.levels & theirs.levels and bool(ours.places & theirs.places)


def _filters(readings: Sequence[Reading], pair: Mapping[str, Sequence[Reading]]) -> Filters:
    """The first names in an address that leave these two; the numbers of their runs always do."""
    wanted = {one.run for side in pair.values() for one in side}
    for names in ADDRESSES:
        values = {name: {one.of(name) for side in pair.values() for one in side} for name in names}
        left = {one.run for one in readings if all(one.of(name) in values[name] for name in names)}
        if left <= wanted and None not in set().union(*values.values()):
            return tuple((name, str(value)) for name in names for value in _ordered(values[name]))
    return (("run", ",".join(map(str, sorted(wanted)))),)


def _ordered(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=str)
