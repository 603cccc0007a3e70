"""What else a host did while a run measured, from the attempt's journal: load, disks and network. Pure."""

import math
from typing import Any

import orjson

LOADS = ("load_before", "load_during")
RATES = (
    "disk_before", "network_before",
    "other_disk_during", "other_disk_during_max", "network_during", "network_during_max",
)  # fmt: skip
# Facts of one run and of no configuration: they differ from run to run, so nothing is grouped by them and nothing confounded.
ACTIVITY = frozenset((*LOADS, *RATES))
# Below these a machine is at rest (reasons: apps/comparison/caveats/not_idle.py).
IDLE = 0.5  # processes, or cores
QUIET = 1_000_000  # bytes/s
_MOST = 1e15  # beyond any machine: a slip, or worse


def activity_facts(journal: bytes) -> dict[str, float]:
    """Return the host's activity figures from an attempt's journal; empty if it has no valid line."""
    figures: dict[str, float] = {}
    for line in journal.splitlines():
        if b'"activity"' in line:
            figures = _figures(line) or figures
    return figures


def _figures(line: bytes) -> dict[str, float]:
    try:
        event: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(event, dict) or event.get("event") != "activity":
        return {}
    loads = {name: round(event[name], 3) for name in LOADS if _is_sound(event.get(name))}
    return loads | {name: round(event[name]) for name in RATES if _is_sound(event.get(name))}


def _is_sound(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < _MOST  # type: ignore[arg-type, operator]
