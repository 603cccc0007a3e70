"""A watch in the list: its state in a word, and its little line."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from apps.comparison.trends.models import Watch
from apps.comparison.trends.shape import Direction
from apps.comparison.trends.sparkline import Sparkline, sparkline
from apps.comparison.trends.words import signed
from apps.lib import units
from apps.lib.reader_base import base


@dataclass(frozen=True)
class Row:
    watch: Watch
    chip: str  # of the style sheet
    state: str
    more: str
    level: str
    exact: str
    spark: Sparkline


def with_open_changes(watches: QuerySet[Watch]) -> Any:
    """With `open_changes`: how many worsenings nobody has acknowledged. One query for all."""
    waits = Q(
        change_points__withdrawn_at=None,
        change_points__acknowledged_at=None,
        change_points__is_backfill=False,
        change_points__direction=Direction.WORSE,
    )
    return watches.annotate(open_changes=Count("change_points", filter=waits))


def row(watch: Any) -> Row:
    said = watch.summary
    level = said.get("level")
    unit = watch.metric.unit
    chip, state, more = state_of(watch, watch.open_changes)
    return Row(
        watch,
        chip,
        state,
        more,
        units.human(level, unit, base()),
        units.in_both_bases(level, unit),
        sparkline(said, unit, base()),
    )


def state_of(watch: Watch, open_changes: int) -> tuple[str, str, str]:
    """(chip, word, one more sentence)."""
    said = watch.summary
    if not watch.is_active:
        return "offline", "paused", ""
    if open_changes:
        return "failed", "worse", f"{open_changes} change{'' if open_changes == 1 else 's'} to acknowledge"
    if not said or watch.evaluated_at is None:
        return "queued", "not looked at yet", ""
    if said["missing"]:
        wanted = said["missing"]
        return "queued", "too few runs", f"{wanted} more run{'' if wanted == 1 else 's'} until changes can be told"
    if said["is_drift_worse"]:
        return "warning", "drifting", f"{signed(said['drift'])} over these runs"
    return "finished", "steady", f"{said['changes']} change{'' if said['changes'] == 1 else 's'} so far"
