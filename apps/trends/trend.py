"""The trend of one configuration, computed once; page, notification and REST read it and compute nothing.

    trend(points, marks, higher_is_better=True)

A mark splits the series: each side is looked at by itself, with the noise of all of it, so a change that a person
announced raises no alarm. Sizes come from Welch's test on logarithms (`apps.comparison.statistics.ratios`), without outliers.
"""

import statistics
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import exp, log

from apps.comparison.statistics.ratios import Ratio, ratios
from apps.comparison.statistics.summary import outliers
from apps.trends.differences import fact_changes
from apps.trends.steps import FEWEST, Steps, noise_of, steps
from apps.trends.types import ChangeDirection, Drift, LevelChange, MeasuredRun, Segment, SeriesMark, Trend

LEAST_DRIFT = 0.01  # of the whole series: less is nobody's business
BESIDE_A_MARK = 1  # runs: who marks a change may be one run off
Found = list[tuple[int, int, Steps]]  # a stretch between marks: first place, end, what was found in it


def trend(points: Iterable[MeasuredRun], marks: Iterable[SeriesMark] = (), *, higher_is_better: bool = True) -> Trend:
    """Compute the trend of `points`, which may be in any order.

    Values that are not above zero are listed in `left_out`.
    """
    every = sorted(points, key=lambda point: (point.at, point.run))
    positive = tuple(point for point in every if point.value > 0)
    placed = _placed(marks, positive)
    borders = sorted({place for place, _ in placed if 0 < place < len(positive)})
    stretches = _stretches(positive, borders)
    slopes = _slopes(positive, stretches)
    levels = [point.value * exp(-slope) for point, slope in zip(positive, slopes, strict=True)]
    begun = {0: "start", **dict.fromkeys(borders, "mark"), **dict.fromkeys(_changed(stretches, borders), "change")}
    edges = [*sorted(begun), len(positive)] if positive else []
    segments = tuple(_segment(positive, levels, slopes, (a, b), begun[a]) for a, b in pairwise(edges))
    odd = _outliers(levels, segments)
    return Trend(
        points=positive,
        segments=segments,
        changes=tuple(_changes(positive, levels, segments, odd, higher_is_better)),
        marks=tuple(placed),
        outliers=frozenset(odd),
        left_out=tuple(point for point in every if point.value <= 0),
        drift=_drift(stretches, higher_is_better),
        noise=next((steps_found.noise for _, _, steps_found in stretches), None),
        missing=max(0, FEWEST - len(positive)),
    )


def _placed(marks: Iterable[SeriesMark], points: Sequence[MeasuredRun]) -> list[tuple[int, SeriesMark]]:
    """Return each mark with the place of the first run at or after it."""
    return [(sum(point.at < mark.at for point in points), mark) for mark in sorted(marks, key=lambda mark: mark.at)]


def _stretches(points: Sequence[MeasuredRun], borders: Sequence[int]) -> Found:
    """Find the changes of level in each stretch between marks that has at least `FEWEST` runs."""
    import numpy as np

    if len(points) < FEWEST:
        return []
    logs = np.array([log(point.value) for point in points])
    parts = [(a, b) for a, b in pairwise((0, *borders, len(points))) if b - a >= FEWEST]
    noise = max(noise_of(logs[a:b]) for a, b in parts) if parts else 0.0
    return [(a, b, steps(logs[a:b], noise)) for a, b in parts]


def _changed(stretches: Found, borders: Sequence[int]) -> list[int]:
    places = [start + place for start, _, steps_found in stretches for place in steps_found.places]
    return [place for place in places if all(abs(place - border) > BESIDE_A_MARK for border in borders)]


def _slopes(points: Sequence[MeasuredRun], stretches: Found) -> list[float]:
    """Return for each run how far its stretch has drifted by then, in logarithms.

    Values without the drift are levels between which a step has one size.
    """
    slopes = [0.0] * len(points)
    for start, end, steps_found in stretches:
        slopes[start:end] = [steps_found.slope * number for number in range(end - start)]
    return slopes


def _segment(
    points: Sequence[MeasuredRun],
    levels: Sequence[float],
    slopes: Sequence[float],
    ends: tuple[int, int],
    began_by: str,
) -> Segment:
    start, end = ends
    level = statistics.median(levels[start:end])
    median = statistics.median(point.value for point in points[start:end])
    return Segment(start, end, median, began_by, level * exp(slopes[start]), level * exp(slopes[end - 1]))


def _outliers(levels: Sequence[float], segments: Sequence[Segment]) -> set[int]:
    """Return the places that are far from the median of their own segment, judged by the distances in all segments."""
    distances: list[float] = []
    for segment in segments:
        logs = [log(level) for level in levels[segment.start : segment.end]]
        middle = statistics.median(logs)
        distances += [value - middle for value in logs]
    return set(*outliers([distances]))


def _changes(
    points: Sequence[MeasuredRun], levels: Sequence[float], segments: Sequence[Segment], odd: set[int], upwards: bool
) -> Iterable[LevelChange]:
    pairs = [(old, new) for old, new in pairwise(segments) if new.began_by == "change"]
    sides = [(_values(levels, new, odd), _values(levels, old, odd)) for old, new in pairs]
    for (old, new), ratio in zip(pairs, ratios(sides), strict=True):
        ratio_or_medians = ratio or Ratio(new.median / old.median)
        yield LevelChange(
            place=new.start,
            run=points[new.start].run,
            run_before=points[new.start - 1].run,
            at=points[new.start].at,
            ratio=ratio_or_medians,
            direction=_direction(ratio_or_medians.ratio > 1, upwards),
            before=old.median,
            after=new.median,
            n_before=old.n,
            n_after=new.n,
            facts=fact_changes(points[old.start : old.end], points[new.start : new.end]),
        )


def _values(levels: Sequence[float], segment: Segment, odd: set[int]) -> list[float]:
    """Return a segment's levels without outliers, unless fewer than half would be left."""
    kept_levels = [levels[place] for place in range(segment.start, segment.end) if place not in odd]
    return kept_levels if 2 * len(kept_levels) > segment.n else list(levels[segment.start : segment.end])


def _direction(grew: bool, higher_is_better: bool) -> ChangeDirection:
    return ChangeDirection.BETTER if grew == higher_is_better else ChangeDirection.WORSE


def _drift(stretches: Found, higher_is_better: bool) -> Drift | None:
    """Return the drift of the newest stretch, or None where it is negligible."""
    if not stretches:
        return None
    start, end, newest = stretches[-1]
    total = exp(newest.slope * (end - start - 1)) - 1
    if abs(total) < LEAST_DRIFT:
        return None
    return Drift(exp(newest.slope) - 1, total, _direction(total > 0, higher_is_better))
