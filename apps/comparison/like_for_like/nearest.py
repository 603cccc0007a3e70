"""Where there is no stratum: the pairs of levels that differ in the fewest other facts, and the runs that are missing.

Pure; NumPy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.comparison.like_for_like.fact_codes import FactCodes
from apps.comparison.like_for_like.mixtures import ENOUGH
from apps.comparison.like_for_like.run_group import RunGroup
from apps.comparison.like_for_like.strata import FactorRules, MovedFacts, held_columns

MOST_PAIRS = 3
MOST_OF_A_LEVEL = 40  # groups that are looked at, those with most runs
MOST_LEVELS = 12


@dataclass(frozen=True)
class NearestPair:
    """Two groups of unlike levels and the held facts that differ between them, as they matter; no verdict.

    Two means may be shown side by side. `unknown` are those of the facts that one of them does not know.
    """

    levels: tuple[str, str]
    groups: tuple[RunGroup, RunGroup]
    differs: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class MissingRuns:
    """`n` more runs of `level`, with all held facts as `like` has them, would make a stratum, or settle an answer."""

    n: int
    level: str
    like: RunGroup
    changed: tuple[str, ...]  # facts that would have to be as those of `like`
    against: str = ""  # the level that they would be held against


def nearest_pairs(
    codes: FactCodes, factor: FactorRules, moved: MovedFacts, order: Sequence[str]
) -> tuple[NearestPair, ...]:
    """Return the nearest pair of each two levels, the nearest of all first. `order` ranks facts by how they matter."""
    import numpy as np

    rows_of = _rows_by_level(codes, factor)
    ranks = {name: rank for rank, name in enumerate(order)}
    pairs: list[tuple[int, int, NearestPair]] = []
    levels = list(rows_of)
    for place, level in enumerate(levels):
        for other in levels[place + 1 :]:
            columns = held_columns(codes, factor, moved, factor.implied_between(*sorted((level, other))))
            ours, theirs = codes.codes[rows_of[level]][:, columns], codes.codes[rows_of[other]][:, columns]
            unlike = ours[:, None, :] != theirs[None, :, :]
            unknown = [codes.unknown[rows_of[one]][:, columns] for one in (level, other)]
            known = unlike & ~unknown[0][:, None, :] & ~unknown[1][None, :, :]
            apart = unlike.sum(axis=2) + known.sum(axis=2)  # what is known to differ is farther than what may be equal
            a, b = np.unravel_index(int(apart.argmin()), apart.shape)
            row, other_row = rows_of[level][int(a)], rows_of[other][int(b)]
            names = [codes.names[c] for c in columns if codes.codes[row, c] != codes.codes[other_row, c]]
            told = [n for n in names if n in codes.groups[row].facts and n in codes.groups[other_row].facts]
            differs = tuple(sorted(told, key=lambda name: (ranks.get(name, len(ranks)), name)))
            groups = (codes.groups[row], codes.groups[other_row])
            pair = NearestPair((level, other), groups, differs, tuple(n for n in names if n not in told))
            pairs.append((int(apart[a, b]), -min(group.n for group in groups), pair))
    pairs.sort(key=lambda found: found[:2])
    return tuple(pair for _, _, pair in pairs[:MOST_PAIRS])


def _rows_by_level(codes: FactCodes, factor: FactorRules) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    levels = codes.levels(factor.level_of, of_points=factor.is_of_point)
    for row in sorted(range(len(codes.groups)), key=lambda row: -codes.groups[row].n):
        level = levels[row]
        if level is not None and (level in rows or len(rows) < MOST_LEVELS):
            some = rows.setdefault(level, [])
            if len(some) < MOST_OF_A_LEVEL:
                some.append(row)
    return rows


def runs_for(pair: NearestPair) -> tuple[MissingRuns, ...]:
    """Return the runs that would make a stratum of a pair: those of one level where the other has most runs.

    Where it has too few itself, its own are missing as well.
    """
    return runs_beside(pair, 0 if pair.groups[0].n >= pair.groups[1].n else 1)


def runs_beside(pair: NearestPair, side: int) -> tuple[MissingRuns, ...]:
    """Return the runs that would make a stratum with this side (0 or 1) of a pair."""
    like, own, level = pair.groups[side], pair.levels[side], pair.levels[1 - side]
    missing = MissingRuns(ENOUGH, level, like, (*pair.differs, *pair.unknown), own)
    few = ENOUGH - like.n
    return (missing, MissingRuns(few, own, like, (), level)) if few > 0 else (missing,)
