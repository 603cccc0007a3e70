"""The forest plot of an answer: one line for each stratum and one for each combined effect, on a logarithmic axis.

Rows are in ratios; `Forest.place` gives their place on the axis, 0 to 1. Page and picture draw the same rows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast, StratumEffect
from apps.comparison.like_for_like.sentences import labels_of_strata
from apps.comparison.questions.factor import Factor

MOST_ROWS = 60
FEW_ROWS = 9  # of a small plot
# Round ratios, those that are drawn first where there is no room for all.
_ABOVE = ((2.0,), (1.5,), (1.2,), (1.1, 1.3, 1.4), (1.05, 1.15, 1.25, 1.7), (1.02, 1.08, 1.01))
_BELOW = ((0.5,), (0.8,), (0.9, 0.7, 0.6), (0.95, 0.85, 0.75), (0.98, 0.92, 0.99))
_LARGE = ((4.0, 0.25), (8.0, 0.1), (3.0, 0.3), (6.0, 0.2, 10.0), (5.0, 0.4, 20.0, 0.05), (50.0, 100.0, 0.02, 0.01))
ROOM = 0.14  # of the axis, for a tick's number


@dataclass(frozen=True)
class ForestRow:
    """One line: a stratum's ratio with its interval (None for one with too few runs), or a combined one."""

    label: str
    ratio: float
    low: float | None
    high: float | None
    is_combined: bool = False
    n: tuple[int, int] | None = None
    effect: StratumEffect | None = None
    marks: str = ""  # letters of the caveats that are about this set and not about all


@dataclass(frozen=True)
class Forest:
    """Rows with the ends of the axis and its ticks. `left_out`: strata that a small plot does not draw.

    `caveats`: those of the runs in the sets, a line each, with the letter by which rows are marked.
    """

    rows: tuple[ForestRow, ...]
    low: float
    high: float
    ticks: tuple[float, ...]
    left_out: int = 0
    caveats: tuple[str, ...] = ()

    def place(self, ratio: float) -> float:
        """Return where a ratio stands on the axis, 0 to 1; what is beyond its ends stands there."""
        span = math.log(self.high) - math.log(self.low)
        return min(1.0, max(0.0, (math.log(max(ratio, 1e-12)) - math.log(self.low)) / span))


def forest(answer: FactorAnswer, factor: Factor, most: int = MOST_ROWS) -> Forest:
    """Return the plot of all contrasts with at most this many strata."""
    contrasts = answer.answered or answer.contrasts
    rows: list[ForestRow] = []
    left_out = 0
    share = max(1, most // max(1, len(contrasts)))
    for contrast in contrasts:
        left_out += max(0, len(contrast.effects) - share)
        rows += _of_contrast(contrast, factor, share, are_several=len(contrasts) > 1)
    low, high = _ends(rows)
    return Forest(tuple(rows), low, high, ticks(low, high), left_out)


def _of_contrast(contrast: LevelContrast, factor: Factor, most: int, *, are_several: bool) -> Iterable[ForestRow]:
    """Yield the rows of the first strata, and the combined one."""
    level = factor.level_name(contrast.level)
    for effect, label in zip(contrast.effects[:most], labels_of_strata(contrast.effects, most), strict=True):
        low, high = effect.interval or (None, None)
        yield ForestRow(f"{level}, {label}" if are_several else label, effect.ratio, low, high, False, effect.n, effect)
    if contrast.combination is not None and contrast.combination.sets > 1 and contrast.interval:
        yield ForestRow(level, contrast.ratio or 1.0, *contrast.interval, is_combined=True)


def _ends(rows: Sequence[ForestRow]) -> tuple[float, float]:
    values = [value for row in rows for value in (row.ratio, row.low, row.high) if value is not None and value > 0]
    low, high = min([1.0, *values]), max([1.0, *values])
    ratios = [row.ratio for row in rows if row.ratio > 0]
    # an interval of few runs may be endless; it does not make all others a dot
    low, high = max(low, min([1.0, *ratios]) / 4), min(high, max([1.0, *ratios]) * 4)
    margin = max((high / low) ** 0.06, 1.02)
    return low / margin, high * margin


def ticks(low: float, high: float) -> tuple[float, ...]:
    """Return round ratios between the ends, 1 among them, with room for the number of each."""
    span = math.log(high / low)
    chosen = [1.0]
    for some in (*_in_turn(_ABOVE, _BELOW, _LARGE), (1000.0, 0.001)):
        for tick in some:
            if low <= tick <= high and all(abs(math.log(tick / other)) >= ROOM * span for other in chosen):
                chosen.append(tick)
    return tuple(sorted(chosen))


def _in_turn(*lists: Sequence[tuple[float, ...]]) -> Iterable[tuple[float, ...]]:
    """Yield the first of each list, then the second of each."""
    for place in range(max(map(len, lists))):
        yield from (some[place] for some in lists if place < len(some))


def tick_text(ratio: float) -> str:
    """Return `0.8 ×`."""
    return f"{ratio:.3g} ×"
