"""What each of several factors does by itself: its ratios where the other factors are at one level, so that the
hypervisor is not taken for the disks nor the disks for the hypervisor.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from statistics import fmean
from typing import Any

from apps.comparison.confounders import Contrast, Table, configurations, contrast, table
from apps.comparison.readings import LABEL, POINT, Reading
from apps.comparison.words import natural, text_of

Levels = tuple[str, ...]  # of the factors, in their order


@dataclass(frozen=True)
class Held:
    """Two configurations that differ in one factor: the ratio of their means at each point both have, with its x, and what
    else differs between them.
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
    held: tuple[Held, ...]

    @property
    def lowest(self) -> float:
        return min(ratio for held in self.held for _, ratio in held.ratios)

    @property
    def highest(self) -> float:
        return max(ratio for held in self.held for _, ratio in held.ratios)


def effects(readings: Sequence[Reading], factors: Sequence[str], x: str) -> list[Effect]:
    """For every factor and two of its levels; nothing for fewer than two factors, which have nothing to be parted from.

    At each level of the other factors the pairs that differ in the fewest other facts count, and no others.
    """
    if len(factors) < 2:
        return []
    units = configurations(readings)
    levels = {name: _levels(side, factors) for name, side in units.items()}
    known = table(units, (*factors, x, LABEL))
    return [one for place in range(len(factors)) for one in _of_factor(place, factors, x, units, levels, known)]


def _levels(readings: Sequence[Reading], factors: Sequence[str]) -> Levels | None:
    """None for a configuration that is at several levels of a factor, or at an unknown one."""
    found = {tuple(reading.of(factor) for factor in factors) for reading in readings}
    only = found.pop()
    return None if found or None in only else tuple(map(text_of, factors, only))


def _of_factor(
    place: int,
    factors: Sequence[str],
    x: str,
    units: Mapping[str, Sequence[Reading]],
    levels: Mapping[str, Levels | None],
    known: Table,
) -> Iterator[Effect]:
    held = []
    for one, other in combinations(units, 2):
        ours, theirs = levels[one], levels[other]
        if ours and theirs and _differ_only_in(place, ours, theirs):
            (above, a), (below, b) = sorted(
                [(ours[place], one), (theirs[place], other)], key=lambda side: natural(side[0])
            )
            if ratios := _ratios(units[a], units[b], x):
                rest = ours[:place] + ours[place + 1 :]
                held.append(((above, below), Held(rest, contrast(known, a, b), ratios)))
    held.sort(key=lambda pair: (pair[0], pair[1].at))
    for (above, below), same in groupby(held, key=lambda pair: pair[0]):
        yield _effect(factors[place], above, below, [one for _, one in same], known)


def _effect(factor: str, above: str, below: str, held: Sequence[Held], known: Table) -> Effect:
    """Turned so that the faster level stands above."""
    kept = [one for _, same in groupby(held, key=lambda one: one.at) for one in _likest(list(same))]
    if fmean(ratio for one in kept for _, ratio in one.ratios) >= 1:
        return Effect(factor, above, below, tuple(kept))
    return Effect(factor, below, above, tuple(_turned(one, known) for one in kept))


def _turned(held: Held, known: Table) -> Held:
    above, below = held.contrast.series
    return Held(held.at, contrast(known, below, above), tuple((x, 1 / ratio) for x, ratio in held.ratios))


def _likest(held: Sequence[Held]) -> list[Held]:
    fewest = min(len(one.contrast.differs) for one in held)
    return [one for one in held if len(one.contrast.differs) == fewest]


def _differ_only_in(place: int, ours: Levels, theirs: Levels) -> bool:
    return [index for index, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]] == [place]


def _ratios(ours: Sequence[Reading], theirs: Sequence[Reading], x: str) -> tuple[tuple[Any, float], ...]:
    """At equal points only: a mean over other sizes would be taken for the factor. Two sizes that nobody knows are not
    equal where sizes matter.
    """
    have_sizes = any(one.file_size for one in (*ours, *theirs))
    means = [_means([one for one in side if one.file_size or not have_sizes], x) for side in (ours, theirs)]
    both = sorted(means[0].keys() & means[1].keys(), key=lambda place: tuple(map(natural, place)))
    return tuple((place[0], means[0][place] / means[1][place]) for place in both if means[0][place] and means[1][place])


def _means(readings: Sequence[Reading], x: str) -> dict[tuple[Any, ...], float]:
    """(x, point) → mean."""
    values: dict[tuple[Any, ...], list[float]] = {}
    for one in readings:
        place = one.of(x)
        if one.value is not None and not isinstance(place, list | dict):
            values.setdefault((place, *(getattr(one, name) for name in POINT)), []).append(one.value)
    return {place: fmean(sorted(found)) for place, found in values.items()}
