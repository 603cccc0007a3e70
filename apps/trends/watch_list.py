"""The list of watches: each with its state, its last level and a sparkline from its stored summary."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from apps.comparison.saved_comparisons.question import resolve_all
from apps.core import units
from apps.core.unit_base import base
from apps.core.units import human
from apps.trends.models import Watch
from apps.trends.queries import answers
from apps.trends.types import ChangeDirection, Trend
from apps.trends.words import signed


@dataclass(frozen=True)
class Sparkline:
    points: str  # of an SVG polyline of 120 × 28; empty with fewer than two values
    changes: tuple[float, ...]  # where levels change, on x
    description: str


@dataclass(frozen=True)
class WatchRow:
    watch: Watch
    chip: str  # of the style sheet
    state: str
    more: str
    level: str
    exact: str
    spark: Sparkline


def with_open_changes(watches: QuerySet[Watch]) -> Any:
    """Annotate the watches with `open_changes`, how many changes for the worse nobody has acknowledged.

    It takes one query for all.
    """
    waits = Q(
        change_points__withdrawn_at=None,
        change_points__acknowledged_at=None,
        change_points__is_backfill=False,
        change_points__direction=ChangeDirection.WORSE,
    )
    return watches.annotate(open_changes=Count("change_points", filter=waits))


def watches_of_runs(lab_id: int, runs: Sequence[int]) -> list[Any]:
    """Return the lab's watches that any of these runs answers, with `open_changes`; one query for each watch."""
    if not runs:
        return []
    watches = resolve_all(list(with_open_changes(Watch.objects.filter(lab=lab_id)).order_by("name", "id")))
    return [watch for watch in watches if not watch.resolved.lost and answers(watch.question, runs)]


def row(watch: Any) -> WatchRow:
    summary_data = watch.summary
    level = summary_data.get("level")
    unit = watch.metric.unit
    chip, state, more = state_of(watch, watch.open_changes)
    return WatchRow(
        watch,
        chip,
        state,
        more,
        units.human(level, unit, base()),
        units.in_both_bases(level, unit),
        sparkline(summary_data, unit, base()),
    )


def state_of(watch: Watch, open_changes: int) -> tuple[str, str, str]:
    """Return (chip class, state, details) of a watch."""
    summary_data = watch.summary
    if lost := watch.resolved.lost:
        return "failed", "broken", str(lost)
    if not watch.is_active:
        return "offline", "paused", ""
    if open_changes:
        return "failed", "worse", f"{open_changes} change{'' if open_changes == 1 else 's'} to acknowledge"
    if not summary_data or watch.evaluated_at is None:
        return "queued", "not looked at yet", ""
    if summary_data["missing"]:
        wanted = summary_data["missing"]
        return "queued", "too few runs", f"{wanted} more run{'' if wanted == 1 else 's'} until changes can be detected"
    if summary_data["is_drift_worse"]:
        return "warning", "drifting", f"{signed(summary_data['drift'])} over these runs"
    return "finished", "steady", f"{summary_data['changes']} change{'' if summary_data['changes'] == 1 else 's'} so far"


SPARKS = 60  # values of the little line


def summary(trend: Trend, watch: Watch) -> dict[str, Any]:
    newest = trend.points[-1] if trend.points else None
    return {
        "runs": len(trend.points),
        "missing": trend.missing,
        "level": trend.segments[-1].last if trend.segments else None,
        "last_run": newest.run if newest else None,
        "last_at": newest.at.isoformat() if newest else None,
        "values": [point.value for point in trend.points[-SPARKS:]],
        "noise": trend.noise,
        "drift": trend.drift.total if trend.drift else None,
        "is_drift_worse": bool(
            trend.drift and trend.drift.direction == ChangeDirection.WORSE and is_large(trend, watch)
        ),
        "changes": len(trend.changes),
        "steps": [
            {
                "place": change.place,
                "run": trend.points[change.place].run,
                "size": change.size,
                "direction": change.direction,
            }
            for change in trend.changes
        ],
    }


def is_large(trend: Trend, watch: Watch) -> bool:
    """Return whether the drift is as large as a change that is notified."""
    return bool(trend.drift and abs(trend.drift.total) >= watch.threshold)


WIDTH, HEIGHT, EDGE = 120, 28, 2
MOST_TOLD = 3  # changes


def sparkline(summary: dict[str, Any], unit: str, base: int = 1000) -> Sparkline:
    """Draw the values of a summary; `unit` is the metric's, `base` is 1000 or 1024 for bandwidths."""
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
    places = (step["place"] - before - 0.5 for step in summary.get("steps", []))
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
    """Describe the newest changes; a summary from before places were stored has only their number."""
    count, steps = summary["changes"], summary.get("steps", [])
    if not count:
        return "no change of level"
    changes = "; ".join(
        f"{signed(step['size'])} {step['direction']} at run {step['run']}" for step in steps[-MOST_TOLD:]
    )
    left = f", the newest {MOST_TOLD}" if len(steps) > MOST_TOLD else ""
    return f"{count} change{'' if count == 1 else 's'} of level" + (f"{left}: {changes}" if changes else "")
