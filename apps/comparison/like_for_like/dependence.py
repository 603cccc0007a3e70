"""What the effect depends on: the held fact that explains most of the spread between strata. Pure.

The spread is Cochran's Q. A fact divides the strata by its values; what is left within the parts is what it does not
explain. Shares are adjusted for the number of values as R² is for the number of parameters, so a fact with a value of
its own for each stratum explains nothing by that alone. A number (a cache, a file) may also explain it along a line.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.comparison.statistics.meta_analysis import AGREE, LogRatio, combine

LEAST_SHARE = 0.5  # of the spread, for a fact to be named as the one that explains it
CLOSE = 1e-9


@dataclass(frozen=True)
class Dependence:
    """`fact` explains `share` of the spread (0 to 1); `values` are its values with the ratio there, ascending.

    `fact` is empty where no held fact explains enough of it. `ranges` are the least and the greatest ratio of those of
    its values whose strata disagree beyond noise among themselves: the fact is not all that the effect depends on.
    """

    fact: str
    share: float
    values: tuple[tuple[str, float], ...] = ()
    ranges: tuple[tuple[str, float, float], ...] = ()


def find_dependence(
    effects: Sequence[LogRatio], facts: Sequence[Mapping[str, str]], order: Sequence[str] = ()
) -> Dependence:
    """Return the fact that explains most; of equal ones the first in `order`."""
    best = Dependence("", 0.0)
    names = {name for some in facts for name in some}
    ranks = {name: rank for rank, name in enumerate(order)}
    for name in sorted(names, key=lambda one: (ranks.get(one, len(ranks)), one)):
        values = [some.get(name, "") for some in facts]
        share = max(_by_parts(effects, values), _along_a_line(effects, values))
        if share > best.share + CLOSE:
            best = Dependence(name, share, _ratios(effects, values), _ranges(effects, values))
    return best if best.share >= LEAST_SHARE else Dependence("", best.share, ())


def _by_parts(effects: Sequence[LogRatio], values: Sequence[str]) -> float:
    parts = _divided(effects, values)
    freedom = len(effects) - len(parts)
    if len(parts) < 2 or freedom < 1:
        return 0.0
    return _adjusted(_q(effects), sum(map(_q, parts.values())), len(effects) - 1, freedom)


def _along_a_line(effects: Sequence[LogRatio], values: Sequence[str]) -> float:
    """Return the share that a weighted line over the logarithm of the value explains; 0 where values are no numbers."""
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    freedom = len(effects) - 2
    if len(known) < len(numbers) or len(set(known)) < 3 or freedom < 1:
        return 0.0
    weights = [1 / effect.variance for effect in effects]
    total = sum(weights)
    x_mean = sum(w * x for w, x in zip(weights, known, strict=True)) / total
    y_mean = sum(w * effect.value for w, effect in zip(weights, effects, strict=True)) / total
    xx = sum(w * (x - x_mean) ** 2 for w, x in zip(weights, known, strict=True))
    xy = sum(w * (x - x_mean) * (e.value - y_mean) for w, x, e in zip(weights, known, effects, strict=True))
    whole = _q(effects)
    return _adjusted(whole, max(0.0, whole - xy**2 / xx), len(effects) - 1, freedom)


def _number(value: str) -> float | None:
    if value.lower() in ("none", "0"):
        return 0.0
    try:
        number = float(value)
    except ValueError:
        return None
    return math.log1p(number) if 0 <= number < math.inf else None


def _adjusted(whole: float, left: float, freedom_whole: int, freedom_left: int) -> float:
    return max(0.0, 1 - (left / freedom_left) / (whole / freedom_whole)) if whole > 0 else 0.0


def _divided(effects: Sequence[LogRatio], values: Sequence[str]) -> dict[str, list[LogRatio]]:
    parts: dict[str, list[LogRatio]] = {}
    for effect, value in zip(effects, values, strict=True):
        parts.setdefault(value, []).append(effect)
    return parts


def _q(effects: Sequence[LogRatio]) -> float:
    mean = _mean(effects)
    return sum((effect.value - mean) ** 2 / effect.variance for effect in effects)


def _mean(effects: Sequence[LogRatio]) -> float:
    return sum(effect.value / effect.variance for effect in effects) / sum(1 / effect.variance for effect in effects)


def _ratios(effects: Sequence[LogRatio], values: Sequence[str]) -> tuple[tuple[str, float], ...]:
    ratios = {value: math.exp(_mean(some)) for value, some in _divided(effects, values).items()}
    return tuple(sorted(ratios.items(), key=lambda pair: pair[1]))


def _ranges(effects: Sequence[LogRatio], values: Sequence[str]) -> tuple[tuple[str, float, float], ...]:
    unlike = [(v, some) for v, some in _divided(effects, values).items() if len(some) > 1 and combine(some).q_p < AGREE]
    ratios = [(value, [math.exp(effect.value) for effect in some]) for value, some in unlike]
    return tuple((value, min(some), max(some)) for value, some in ratios)
