"""Effects of single factors: ratios between two levels of one factor where all other factors are equal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from statistics import fmean
from typing import Any

from apps.comparison.confounders import Contrast, Table, configurations, contrast, table
from apps.comparison.labels import natural, text_of
from apps.comparison.likeness import Likeness
from apps.comparison.readings import LABEL, POINT, Reading

Levels = tuple[str, ...]  # of the factors, in their order


@dataclass(frozen=True)
class LevelPair:
    """Two configurations that differ in one factor.

    They are compared by the ratio of their means at each point both have, with its x, and with what else differs
    between them.
    """

    at: Levels  # the levels of the other factors
    contrast: Contrast
    ratios: tuple[tuple[Any, float], ...]


@dataclass(frozen=True)
class Effect:
    """`level` ÷ `against` of one factor, at equal levels of the others."""

    factor: str
    level: str
    against: str
    held: tuple[LevelPair, ...]

    @property
    def lowest(self) -> float:
        return min(ratio for held in self.held for _, ratio in held.ratios)

    @property
    def highest(self) -> float:
        return max(ratio for held in self.held for _, ratio in held.ratios)

    @property
    def is_alike(self) -> bool:
        """Return whether all pairs differ in the factor alone, as far as is known."""
        return not any(held.contrast.differs for held in self.held)


def effects(readings: Sequence[Reading], factors: Sequence[str], x: str) -> list[Effect]:
    """Return the effect of every factor between two of its levels; none for fewer than two factors.

    At each level of the other factors only the pairs that differ in the fewest other facts count.
    """
    if len(factors) < 2:
        return []
    units = configurations(readings)
    levels = {name: _levels(side, factors) for name, side in units.items()}
    known = table(units, (*factors, x, LABEL))
    return [effect for place in range(len(factors)) for effect in _of_factor(place, factors, x, units, levels, known)]


def _levels(readings: Sequence[Reading], factors: Sequence[str]) -> Levels | None:
    """Return the levels of a configuration; None where it is at several levels of a factor, or at an unknown one."""
    level_values = {tuple(reading.of(factor) for factor in factors) for reading in readings}
    only = level_values.pop()
    return None if level_values or None in only else tuple(map(text_of, factors, only))


def _of_factor(
    place: int,
    factors: Sequence[str],
    x: str,
    units: Mapping[str, Sequence[Reading]],
    levels: Mapping[str, Levels | None],
    known: Table,
) -> Iterator[Effect]:
    held = []
    for unit, other in combinations(units, 2):
        ours, theirs = levels[unit], levels[other]
        if ours and theirs and _differ_only_in(place, ours, theirs):
            (above, a), (below, b) = sorted(
                [(ours[place], unit), (theirs[place], other)], key=lambda side: natural(side[0])
            )
            if ratios := _ratios(units[a], units[b], x):
                rest = ours[:place] + ours[place + 1 :]
                held.append(((above, below), LevelPair(rest, contrast(known, a, b), ratios)))
    held.sort(key=lambda pair: (pair[0], pair[1].at))
    for (above, below), same in groupby(held, key=lambda pair: pair[0]):
        yield _effect(factors[place], above, below, [pair for _, pair in same], known)


def _effect(factor: str, above: str, below: str, held: Sequence[LevelPair], known: Table) -> Effect:
    """Return an effect, turned so that the ratio is that of the faster level."""
    nearest_pairs = [
        pair for _, same in groupby(held, key=lambda pair: pair.at) for pair in _select_nearest(list(same))
    ]
    if fmean(ratio for pair in nearest_pairs for _, ratio in pair.ratios) >= 1:
        return Effect(factor, above, below, tuple(nearest_pairs))
    return Effect(factor, below, above, tuple(_turned(pair, known) for pair in nearest_pairs))


def _turned(held: LevelPair, known: Table) -> LevelPair:
    above, below = held.contrast.series
    return LevelPair(held.at, contrast(known, below, above), tuple((x, 1 / ratio) for x, ratio in held.ratios))


def _select_nearest(held: Sequence[LevelPair]) -> list[LevelPair]:
    fewest = min(len(pair.contrast.differs) for pair in held)
    return [pair for pair in held if len(pair.contrast.differs) == fewest]


def _differ_only_in(place: int, ours: Levels, theirs: Levels) -> bool:
    return [index for index, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]] == [place]


def _ratios(ours: Sequence[Reading], theirs: Sequence[Reading], x: str) -> tuple[tuple[Any, float], ...]:
    """Return ratios at equal points only, because a mean over other sizes would be mistaken for the factor.

    Two unknown sizes are not equal where sizes matter. A point of unlike configurations has no ratio, as in the table.
    """
    have_sizes = any(reading.file_size for reading in (*ours, *theirs))
    means = [_means([reading for reading in side if reading.file_size or not have_sizes], x) for side in (ours, theirs)]
    both = sorted(means[0].keys() & means[1].keys(), key=lambda place: tuple(map(natural, place)))
    return tuple((place[0], means[0][place] / means[1][place]) for place in both if means[0][place] and means[1][place])


def _means(readings: Sequence[Reading], x: str) -> dict[tuple[Any, ...], float]:
    """Return the mean of each (x, point) whose readings are of one configuration."""
    at: dict[tuple[Any, ...], list[Reading]] = {}
    for reading in readings:
        place = reading.of(x)
        if reading.value is not None and not isinstance(place, list | dict):
            at.setdefault((place, *(getattr(reading, name) for name in POINT)), []).append(reading)
    likeness = Likeness()
    return {
        place: fmean(sorted(reading.value or 0.0 for reading in some))
        for place, some in at.items()
        if len(likeness.members(some)) == 1
    }
