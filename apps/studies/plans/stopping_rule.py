"""Stopping rules: when a cell has enough rounds.

    {"kind": "fixed", "rounds": 10}
    {"kind": "half_width", "percent": 2.0, "confidence": 95, "at_least": 5, "at_most": 30}
    {"kind": "steady_state", "window": 5, "range_percent": 20, "slope_percent": 10, "at_most": 25}
    {"kind": "saturation", "percentile": 99, "bound_ms": 5, "rounds": 1, "least_points": 1}
    {"kind": "not_printed"}                   a report that does not say how often; one round is drawn

Steady state is that of the SNIA performance test: over the last `window` rounds, highest less lowest at most 20 % of their mean, and the
straight line through them rises or falls by at most 10 % of it.

Saturation has a fixed number of rounds for each point, and goes from point to point until the percentile of latency passes
the bound (`saturation/`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean, linear_regression, stdev
from typing import Any

from apps.core.student_t import student
from apps.studies.plans.problems import PlanError, number, only, whole

MOST_ROUNDS, MOST_POINTS = 100, 600
FIELDS: dict[str, tuple[str, ...]] = {
    "fixed": ("rounds",),
    "half_width": ("percent", "confidence", "at_least", "at_most"),
    "steady_state": ("window", "range_percent", "slope_percent", "at_most"),
    "saturation": ("percentile", "bound_ms", "rounds", "least_points"),
    "not_printed": (),
}
LABELS = {
    "fixed": "a fixed number of rounds", "half_width": "until the confidence interval is narrow enough",
    "steady_state": "until the steady state of the SNIA performance test", "saturation": "point after point until the latency passes a bound",
    "not_printed": "not printed",
}  # fmt: skip
PERCENTILES = (95, 99)  # of latency, by which saturation is judged
BOUNDS_MS = (0.001, 60_000.0)  # that such a percentile may have
DEFAULTS: dict[str, Any] = {
    "confidence": 95, "at_least": 3, "window": 5, "range_percent": 20, "slope_percent": 10, "percentile": 99,
    "bound_ms": 5.0, "least_points": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Stopping:
    """`least` rounds in any case, `most` at most; `words` for people."""

    kind: str
    least: int
    most: int
    words: str
    data: dict[str, Any]

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most


def stopping_of(data: Any) -> Stopping:
    """Parse a stopping rule.

    Raises:
        PlanError: It does not fit.
    """
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in FIELDS:
        raise PlanError("stopping.kind", kind, f"one of {', '.join(FIELDS)}")
    only("stopping", data, ("kind", *FIELDS[kind]))
    return _MADE[kind]({**DEFAULTS, **data})


def _fixed(data: dict[str, Any]) -> Stopping:
    rounds = whole("stopping.rounds", data.get("rounds"), 1, MOST_ROUNDS)
    words = "One round." if rounds == 1 else f"{rounds} rounds."
    return Stopping("fixed", rounds, rounds, words, {"kind": "fixed", "rounds": rounds})


def _half_width(data: dict[str, Any]) -> Stopping:
    percent = number("stopping.percent", data.get("percent"), 0.1, 50)
    confidence = number("stopping.confidence", data["confidence"], 50, 99.9)
    most = whole("stopping.at_most", data.get("at_most"), 3, MOST_ROUNDS)
    least = whole("stopping.at_least", data["at_least"], 3, most)  # two values give no interval worth the name
    words = (
        f"Until half of the {confidence:g} % confidence interval is at most {percent:g} % of the mean; "
        f"at least {least} rounds, at most {most}."
    )
    rule = {"kind": "half_width", "percent": percent, "confidence": confidence, "at_least": least, "at_most": most}
    return Stopping("half_width", least, most, words, rule)


def _steady(data: dict[str, Any]) -> Stopping:
    most = whole("stopping.at_most", data.get("at_most", 25), 3, MOST_ROUNDS)
    window = whole("stopping.window", data["window"], 3, most)
    spread = number("stopping.range_percent", data["range_percent"], 0.1, 100)
    slope = number("stopping.slope_percent", data["slope_percent"], 0.1, 100)
    words = (
        f"Until the steady state of the SNIA performance test: over the last {window} rounds a range of at most {spread:g} % "
        f"of the mean and a slope excursion of at most {slope:g} %; at most {most} rounds."
    )
    rule = {"kind": "steady_state", "window": window, "range_percent": spread, "slope_percent": slope, "at_most": most}
    return Stopping("steady_state", window, most, words, rule)


def _saturation(data: dict[str, Any]) -> Stopping:
    percentile = whole("stopping.percentile", data["percentile"], PERCENTILES[0], PERCENTILES[-1])
    if percentile not in PERCENTILES:
        raise PlanError("stopping.percentile", percentile, f"one of {', '.join(map(str, PERCENTILES))}")
    bound = number("stopping.bound_ms", data["bound_ms"], *BOUNDS_MS)
    rounds = whole("stopping.rounds", data.get("rounds", 1), 1, MOST_ROUNDS)
    points = whole("stopping.least_points", data["least_points"], 1, MOST_POINTS)
    words = f"Point after point until p{percentile} of latency passes {bound:g} ms"
    words += f", {rounds} round{'' if rounds == 1 else 's'} each"
    words += f"; at least {points} points." if points > 1 else "."
    rule = {
        "kind": "saturation", "percentile": percentile, "bound_ms": bound, "rounds": rounds, "least_points": points
    }  # fmt: skip
    return Stopping("saturation", rounds, rounds, words, rule)


def _not_printed(_data: dict[str, Any]) -> Stopping:
    return Stopping("not_printed", 1, 1, "How often each was run is not printed.", {"kind": "not_printed"})


_MADE = {
    "fixed": _fixed, "half_width": _half_width, "steady_state": _steady, "saturation": _saturation,
    "not_printed": _not_printed,
}  # fmt: skip


def is_enough(rule: Stopping, values: Sequence[float]) -> bool:
    """Return whether the rounds are enough; `values` has one of each finished round, oldest first."""
    return len(values) >= rule.most or (not rule.is_fixed and is_met(rule, values))


def is_met(rule: Stopping, values: Sequence[float]) -> bool:
    """Return whether what the rule asks of the values holds; that the most rounds are done is not enough."""
    if rule.kind == "steady_state":
        return is_steady(values, rule.data)
    if rule.kind == "half_width":
        is_long = len(values) >= rule.least
        return is_long and half_width(values, rule.data["confidence"] / 100) <= float(rule.data["percent"]) / 100
    return len(values) >= rule.least


def half_width(values: Sequence[float], confidence: float) -> float:
    """Return half of Student's interval of the mean as a fraction of the mean, of two values or more.

    `inf` where the mean is 0.
    """
    mean = fmean(values)
    half = student(len(values) - 1, confidence) * stdev(values) / sqrt(len(values))
    return half / abs(mean) if mean else inf


@dataclass(frozen=True)
class SteadyWindow:
    """The last rounds of a cell as the SNIA performance test looks at them.

    `first` and `last` are rounds, counted from 1. `spread` (highest less lowest) and `excursion` (of the least-squares
    line, which goes from `start` to `end`) are fractions of the mean; `inf` where the mean is 0.
    """

    first: int
    last: int
    mean: float
    spread: float
    start: float
    end: float
    is_steady: bool

    @property
    def excursion(self) -> float:
        return abs(self.end - self.start) / self.mean if self.mean > 0 else inf


def steady_window(values: Sequence[float], data: Mapping[str, Any]) -> SteadyWindow | None:
    """Return the last `window` values, one a round, with how steady they are; None where there are fewer.

    `data` is a checked rule.
    """
    window = data["window"]
    if len(values) < window:
        return None
    last = list(values)[-window:]
    mean = fmean(last)
    slope, start = linear_regression(range(window), last)
    spread, end = max(last) - min(last), start + slope * (window - 1)
    is_steady = mean > 0 and spread <= data["range_percent"] / 100 * mean
    is_steady = is_steady and abs(slope) * (window - 1) <= data["slope_percent"] / 100 * mean
    first = len(values) - window + 1
    return SteadyWindow(first, len(values), mean, spread / mean if mean > 0 else inf, start, end, is_steady)


def is_steady(values: Sequence[float], data: Mapping[str, Any]) -> bool:
    """Return whether the last `window` values, one a round, are in steady state as the SNIA performance test defines it.

    `data` is a checked rule.
    """
    window = steady_window(values, data)
    return window is not None and window.is_steady
