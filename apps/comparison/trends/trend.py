"""The trend of one configuration, computed once; page, notification and REST read it and compute nothing.

    trend(points, marks, higher_is_better=True)

A mark splits the series: each side is looked at by itself, with the noise of all of it, so a change that a person
announced raises no alarm. Sizes come from Welch's test on logarithms (`apps.comparison.ratios`), without outliers.
"""

import statistics
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import exp, log

from apps.comparison.ratios import Ratio, ratios
from apps.comparison.statistics import outliers
from apps.comparison.trends.differences import fact_changes
from apps.comparison.trends.noise import noise_of
from apps.comparison.trends.shape import Change, Direction, Drift, Mark, Measured, Segment, Trend
from apps.comparison.trends.steps import FEWEST, Steps, steps

LEAST_DRIFT = 0.01  # of the whole series: less is nobody's business
BESIDE_A_MARK = 1  # runs: who marks a change may be one run off
Found = list[tuple[int, int, Steps]]  # a stretch between marks: first place, end, what was found in it


def trend(points: Iterable[Measured], marks: Iterable[Mark] = (), *, higher_is_better: bool = True) -> Trend:
    """`points` in any order. Values that are not above zero are left out, and named."""
    every = sorted(points, key=lambda one: (one.at, one.run))
    kept = tuple(one for one in every if one.value > 0)
    placed = _placed(marks, kept)
    borders = sorted({place for place, _ in placed if 0 < place < len(kept)})
    found = _stretches(kept, borders)
    slopes = _slopes(kept, found)
    levels = [one.value * exp(-slope) for one, slope in zip(kept, slopes, strict=True)]
    begun = {0: "start", **dict.fromkeys(borders, "mark"), **dict.fromkeys(_changed(found, borders), "change")}
    edges = [*sorted(begun), len(kept)] if kept else []
    segments = tuple(_segment(kept, levels, slopes, (a, b), begun[a]) for a, b in pairwise(edges))
    odd = _outliers(levels, segments)
    return Trend(
        points=kept,
        segments=segments,
        changes=tuple(_changes(kept, levels, segments, odd, higher_is_better)),
        marks=tuple(placed),
        outliers=frozenset(odd),
        left_out=tuple(one for one in every if one.value <= 0),
        drift=_drift(found, higher_is_better),
        noise=next((one.noise for _, _, one in found), None),
        missing=max(0, FEWEST - len(kept)),
    )


def _placed(marks: Iterable[Mark], points: Sequence[Measured]) -> list[tuple[int, Mark]]:
    """Each mark with the place of the first run at or after it."""
    return [(sum(one.at < mark.at for one in points), mark) for mark in sorted(marks, key=lambda mark: mark.at)]


def _stretches(points: Sequence[Measured], borders: Sequence[int]) -> Found:
    """Stretches of fewer than `FEWEST` runs are not looked at."""
    import numpy as np

    if len(points) < FEWEST:
        return []
    logs = np.array([log(one.value) for one in points])
    parts = [(a, b) for a, b in pairwise((0, *borders, len(points))) if b - a >= FEWEST]
    noise = max(noise_of(logs[a:b]) for a, b in parts) if parts else 0.0
    return [(a, b, steps(logs[a:b], noise)) for a, b in parts]


def _changed(found: Found, borders: Sequence[int]) -> list[int]:
    places = [start + place for start, _, one in found for place in one.places]
    return [place for place in places if all(abs(place - border) > BESIDE_A_MARK for border in borders)]


def _slopes(points: Sequence[Measured], found: Found) -> list[float]:
    """For each run what its stretch has drifted by until then, in logarithms. Values without it are levels between
    which a step has one size.
    """
    slopes = [0.0] * len(points)
    for start, end, one in found:
        slopes[start:end] = [one.slope * number for number in range(end - start)]
    return slopes


def _segment(
    points: Sequence[Measured], levels: Sequence[float], slopes: Sequence[float], ends: tuple[int, int], began_by: str
) -> Segment:
    start, end = ends
    level = statistics.median(levels[start:end])
    median = statistics.median(one.value for one in points[start:end])
    return Segment(start, end, median, began_by, level * exp(slopes[start]), level * exp(slopes[end - 1]))


def _outliers(levels: Sequence[float], segments: Sequence[Segment]) -> set[int]:
    """Places far from the middle of their own segment, measured by the distances in all segments."""
    distances: list[float] = []
    for one in segments:
        logs = [log(level) for level in levels[one.start : one.end]]
        middle = statistics.median(logs)
        distances += [value - middle for value in logs]
    return set(*outliers([distances]))


def _changes(
    points: Sequence[Measured], levels: Sequence[float], segments: Sequence[Segment], odd: set[int], upwards: bool
) -> Iterable[Change]:
    pairs = [(old, new) for old, new in pairwise(segments) if new.began_by == "change"]
    sides = [(_values(levels, new, odd), _values(levels, old, odd)) for old, new in pairs]
    for (old, new), ratio in zip(pairs, ratios(sides), strict=True):
        found = ratio or Ratio(new.median / old.median)
        yield Change(
            place=new.start,
            run=points[new.start].run,
            run_before=points[new.start - 1].run,
            at=points[new.start].at,
            ratio=found,
            direction=_direction(found.ratio > 1, upwards),
            before=old.median,
            after=new.median,
            n_before=old.n,
            n_after=new.n,
            facts=fact_changes(points[old.start : old.end], points[new.start : new.end]),
        )


def _values(levels: Sequence[float], segment: Segment, odd: set[int]) -> list[float]:
    """Without outliers, unless nothing to speak of would be left."""
    kept = [levels[place] for place in range(segment.start, segment.end) if place not in odd]
    return kept if 2 * len(kept) > segment.n else list(levels[segment.start : segment.end])


def _direction(grew: bool, higher_is_better: bool) -> Direction:
    return Direction.BETTER if grew == higher_is_better else Direction.WORSE


def _drift(found: Found, higher_is_better: bool) -> Drift | None:
    """Of the newest stretch."""
    if not found:
        return None
    start, end, one = found[-1]
    total = exp(one.slope * (end - start - 1)) - 1
    if abs(total) < LEAST_DRIFT:
        return None
    return Drift(exp(one.slope) - 1, total, _direction(total > 0, higher_is_better))
