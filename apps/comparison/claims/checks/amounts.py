"""A number that may be a range, with the arithmetic that led to it and the samples it is from.

What is known only between two bounds stays two bounds through all arithmetic, so that no mean is made up.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.core import units
from apps.core.quantities import Form, quantity


@dataclass(frozen=True, slots=True)
class Amount:
    """Base units; `low` == `high` for a plain number. `words`: how it was come by."""

    low: float
    high: float
    unit: str
    words: str
    samples: tuple[int, ...] = ()

    @property
    def is_range(self) -> bool:
        return self.low != self.high


def format_range(low: float, high: float, unit: str) -> str:
    """Format a range, such as `122 MB/s`, `71.0 … 79.0 MB/s` or `at least 33.6 MB/s`, in units chosen when it is read."""
    if low == high:
        return _number(low, unit)
    if math.isinf(high):
        return f"at least {_number(low, unit)}"
    if math.isinf(low):
        return f"at most {_number(high, unit)}"
    return f"{_number(low, unit)} … {_number(high, unit)}"


def _number(value: float, unit: str) -> str:
    if not unit and float(value).is_integer():
        return units.plain(int(value))
    return quantity(value, unit, Form.SIZE if unit == "B" else Form.FINE)


def combined(operator: str, parts: Sequence[Amount]) -> Amount | None:
    """Combine amounts from left to right; return None where something is divided by what may be 0."""
    result = parts[0]
    for part in parts[1:]:
        bounds = _bounds(operator, result, part)
        if bounds is None:
            return None
        scale = _NS.get((operator, result.unit, part.unit), 1.0)
        result = Amount(bounds[0] * scale, bounds[1] * scale, _unit(operator, result.unit, part.unit), "")
    words = f" {_SIGNS[operator]} ".join(_in_brackets(part) for part in parts)
    samples = tuple(dict.fromkeys(pk for part in parts for pk in part.samples))
    return Amount(
        result.low, result.high, result.unit, f"{words} = {format_range(result.low, result.high, result.unit)}", samples
    )


_NS = {("quotient", "B", "ns"): 1e9, ("quotient", "", "ns"): 1e9, ("product", "B/s", "ns"): 1e-9}
_MADE = {("quotient", "B", "ns"): "B/s", ("quotient", "", "ns"): "1/s", ("product", "B/s", "ns"): "B"}
_SIGNS = {"sum": "+", "difference": "−", "product": "×", "quotient": "÷"}
_DO: dict[str, Callable[[float, float], float]] = {
    "product": lambda a, b: a * b if a and b else 0.0,  # 0 × infinity is 0 here: a bound, not a limit
    "quotient": lambda a, b: a / b if not (math.isinf(a) and math.isinf(b)) else math.nan,
}


def _bounds(operator: str, a: Amount, b: Amount) -> tuple[float, float] | None:
    if operator == "sum":
        return a.low + b.low, a.high + b.high
    if operator == "difference":
        return a.low - b.high, a.high - b.low
    if operator == "quotient" and b.low <= 0 <= b.high:
        return None
    corners = [_DO[operator](left, other) for left in (a.low, a.high) for other in (b.low, b.high)]
    known = [corner for corner in corners if not math.isnan(corner)]
    return (min(known), max(known)) if known else None


def _unit(operator: str, a: str, b: str) -> str:
    """Return the unit of a combination; one without a name of its own is a plain number."""
    if made := _MADE.get((operator, a, b)):
        return made
    if operator in ("sum", "difference"):
        return a or b
    if operator == "product":
        return a if not b else b if not a else ""
    return a if not b else ""


def _in_brackets(part: Amount) -> str:
    """Return the number with the arithmetic it is made of, where there is some."""
    return f"({part.words})" if " = " in part.words else part.words


def aggregated(how: str, ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Combine ranges, of which there is at least one, into one."""
    of = _AGGREGATES[how]
    return of([low for low, _ in ranges]), of([high for _, high in ranges])


_AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: statistics.fmean(values) if len(set(values)) > 1 else values[0],
    "median": statistics.median,
    "max": max,
    "min": min,
    "sum": math.fsum,
    "largest_file": lambda values: statistics.fmean(values) if len(set(values)) > 1 else values[0],
    "smallest_file": lambda values: statistics.fmean(values) if len(set(values)) > 1 else values[0],
}
