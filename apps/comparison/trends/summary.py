"""What a list says of a watch, kept with it so that the list costs one query."""

from typing import Any

from apps.comparison.trends.models import Watch
from apps.comparison.trends.shape import Direction, Trend

SPARKS = 60  # values of the little line


def summary(found: Trend, watch: Watch) -> dict[str, Any]:
    newest = found.points[-1] if found.points else None
    return {
        "runs": len(found.points),
        "missing": found.missing,
        "level": found.segments[-1].last if found.segments else None,
        "last_run": newest.run if newest else None,
        "last_at": newest.at.isoformat() if newest else None,
        "values": [one.value for one in found.points[-SPARKS:]],
        "noise": found.noise,
        "drift": found.drift.total if found.drift else None,
        "is_drift_worse": bool(found.drift and found.drift.direction == Direction.WORSE and is_large(found, watch)),
        "changes": len(found.changes),
        "steps": [
            {"place": one.place, "run": found.points[one.place].run, "size": one.size, "direction": one.direction}
            for one in found.changes
        ],
    }


def is_large(found: Trend, watch: Watch) -> bool:
    """Whether the drift is as large as a change that would be told."""
    return bool(found.drift and abs(found.drift.total) >= watch.threshold)
