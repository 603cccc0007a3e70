"""The little line of a watch in the list, from its summary: drawn, and in words."""

from dataclasses import dataclass
from typing import Any

from apps.comparison.trends.words import signed
from apps.lib.units import human

WIDTH, HEIGHT, EDGE = 120, 28, 2
MOST_TOLD = 3  # changes


@dataclass(frozen=True)
class Sparkline:
    points: str  # of an SVG polyline of 120 × 28; empty with fewer than two values
    changes: tuple[float, ...]  # where levels change, on x
    description: str


def sparkline(summary: dict[str, Any], unit: str, base: int = 1000) -> Sparkline:
    """`unit`: of the metric; `base` 1000 or 1024 of bandwidths."""
    values = summary.get("values", [])
    if len(values) < 2:
        return Sparkline("", (), "")
    low, high, step = min(values), max(values), (WIDTH - 2 * EDGE) / (len(values) - 1)
    size = (high - low) or 1
    at = (
        (EDGE + number * step, HEIGHT - EDGE - (value - low) / size * (HEIGHT - 2 * EDGE))
        for number, value in enumerate(values)
    )
    before = summary["runs"] - len(values)  # runs that the line leaves out
    places = (one["place"] - before - 0.5 for one in summary.get("steps", []))
    return Sparkline(
        " ".join(f"{x:.1f},{y:.1f}" for x, y in at),
        tuple(round(EDGE + place * step, 1) for place in places if place > 0),
        _described(summary, values, unit, base),
    )


def _described(summary: dict[str, Any], values: list[float], unit: str, base: int) -> str:
    ends = (
        f"{word} {human(value, unit, base)}"
        for word, value in (
            ("first", values[0]), ("last", values[-1]), ("smallest", min(values)), ("largest", max(values)),
        )
    )  # fmt: skip
    return f"The last {len(values)} of {summary['runs']} runs: {', '.join(ends)}; {_changes(summary)}."


def _changes(summary: dict[str, Any]) -> str:
    """The newest by name. A summary made before places were kept has only their number."""
    count, steps = summary["changes"], summary.get("steps", [])
    if not count:
        return "no change of level"
    told = "; ".join(f"{signed(one['size'])} {one['direction']} at run {one['run']}" for one in steps[-MOST_TOLD:])
    left = f", the newest {MOST_TOLD}" if len(steps) > MOST_TOLD else ""
    return f"{count} change{'' if count == 1 else 's'} of level" + (f"{left}: {told}" if told else "")
