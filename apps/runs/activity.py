"""What else the host did before a run and during it, as its agent wrote it into the attempt's journal. Pure.

The journal is JSON lines; one of them is

    {"event": "activity", "load_before": 0.05, "disk_before": 1204.2, …, "seconds_before": 25.0, "own_disks": ["sda"], "at": …}

Loads are numbers of processes or cores, all else is in bytes/s. What the host could not tell is not in it, and older agents write no such
line. docs/agent-protocol.md says how each figure is taken.
"""

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
_MOST = 1e15  # beyond any machine: a slip, or worse


def activity_facts(journal: bytes) -> dict[str, float]:
    """Fact → figure; nothing where the journal has none, or no sound one."""
    found: dict[str, float] = {}
    for line in journal.splitlines():
        if b'"activity"' in line:
            found = _figures(line) or found
    return found


def _figures(line: bytes) -> dict[str, float]:
    try:
        told: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(told, dict) or told.get("event") != "activity":
        return {}
    loads = {name: round(told[name], 3) for name in LOADS if _is_sound(told.get(name))}
    return loads | {name: round(told[name]) for name in RATES if _is_sound(told.get(name))}


def _is_sound(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < _MOST  # type: ignore[arg-type, operator]
