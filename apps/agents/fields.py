"""Fields of what an agent sends, each checked by type and size on arrival.

What is not as expected is refused with a message. Unknown fields are left out, so that newer agents may send more.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from apps.core.text import LARGEST
from apps.inventory.target_identity import LONGEST, Place

MOST_ENTRIES = 40  # of a policy
MOST_DIRECTORIES = 128  # of a host: those that agent.conf names, and those below them that the lab has as targets
LONGEST_PATH = 4096
LONGEST_SENTENCE = 5000
LONGEST_NAME = 60
MOST_DISKS = 256
QUEUE = ("scheduler", "read_ahead_kb", "rotational", "write_cache")  # files of a block device's `queue` in /sys
CUT = ("options", "problem")  # parts of a place that are only read by people


class FieldError(ValueError):
    """An error that names a field, what was found in it and what is expected."""


def told(value: object) -> str:
    """Return a short description of a value for error messages: itself where it is short, else its kind or length."""
    if isinstance(value, str):
        return f"text of {len(value)} characters" if len(value) > LONGEST_NAME else repr(value)
    if value is None or isinstance(value, bool | int | float):
        return str(value)[:LONGEST_NAME]
    return {"list": "a list", "dict": "an object"}.get(type(value).__name__, type(value).__name__)


def wrong(name: str, found: object, expected: str) -> FieldError:
    """Return the error for a field in which something else was found than expected; the caller raises it."""
    return FieldError(f"{name}: found {told(found)}, expected {expected}")


def text(name: str, value: object, most: int, *, is_cut: bool = False) -> str:
    """Return a text of at most `most` characters; an empty one where the value is None.

    With `is_cut` a longer text is shortened instead of refused.

    Raises:
        FieldError: The value is no text or is too long.
    """
    if value is None:
        return ""
    if not isinstance(value, str) or (len(value) > most and not is_cut):
        raise wrong(name, value, f"text of at most {most} characters")
    return value[:most]


def whole(name: str, value: object, least: int = 0, most: int = LARGEST) -> int:
    """Return the value if it is a whole number within the limits; raise `FieldError` otherwise."""
    if type(value) is not int or not least <= value <= most:
        raise wrong(name, value, f"a whole number from {least} to {most}")
    return value


def number(name: str, value: object) -> float:
    """Return the value as a float if it is a finite number; raise `FieldError` otherwise."""
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise wrong(name, value, "a number")
    return float(value)  # type: ignore[arg-type]


def yes_or_no(name: str, value: object) -> bool:
    """Return the value if it is true or false; raise `FieldError` otherwise."""
    if not isinstance(value, bool):
        raise wrong(name, value, "true or false")
    return value


def mapping(name: str, value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, an empty one for None; raise `FieldError` otherwise."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong(name, value, "an object")
    return value


def rows(name: str, value: object, most: int) -> list[Any]:
    """Return the value if it is a list of at most `most`, an empty one for None; raise `FieldError` otherwise."""
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > most:
        found = f"{len(value)} entries" if isinstance(value, list) else told(value)
        raise FieldError(f"{name}: found {found}, expected a list of at most {most}")
    return value


def _limit(name: str, value: object) -> int:
    return whole(name, value)


def _paths(name: str, value: object) -> list[str]:
    return [text(name, path, LONGEST_PATH) for path in rows(name, value, MOST_DIRECTORIES)]


POLICY: dict[str, Callable[[str, object], object]] = {
    "directory": lambda name, value: text(name, value, LONGEST_PATH),
    "directories": _paths,
    "quota_bytes": _limit,
    "max_runtime_s": _limit,
    "max_iodepth": _limit,
    "max_numjobs": _limit,
    "spool_on_directory": yes_or_no,
    "directory_refused": lambda name, value: text(name, value, LONGEST_SENTENCE),
}


def policy_of(value: object) -> dict[str, Any]:
    """Return what a host allows, as it reports it: the known entries checked, unknown ones if they are short and plain.

    Raises:
        FieldError: It has too many entries, or a known one of another kind.
    """
    found = mapping("policy", value)
    if len(found) > MOST_ENTRIES:
        raise FieldError(f"policy: found {len(found)} entries, expected at most {MOST_ENTRIES}")
    checked: dict[str, Any] = {}
    for name, one in found.items():
        if name in POLICY:
            if one is not None:
                checked[name] = POLICY[name](f"policy.{name}", one)
        elif len(name) <= LONGEST_NAME and _is_plain(one):
            checked[name] = one
    return checked


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= 500
    if isinstance(value, float):
        return abs(value) < LARGEST  # PostgreSQL gives a larger one back as a whole number, which JSON cannot have
    return isinstance(value, bool) or (isinstance(value, int) and abs(value) <= LARGEST)


def place_of(name: str, value: object) -> Place:
    """Return where a directory lies; an empty place for older agents, which do not report it.

    Raises:
        FieldError: A part is no text or is too long.
    """
    found = mapping(name, value)
    for part, most in LONGEST.items():
        text(f"{name}.{part}", found.get(part), most, is_cut=part in CUT)
    return Place.from_json(found)


def directories_of(value: object) -> list[dict[str, Any]]:
    """Return where the directories of a host lie: places, with `root`, `quota_bytes` and `holds_spool` where reported.

    `root` is the directory of agent.conf that holds it, which may be itself; `quota_bytes` what one run's files may
    have there; `holds_spool` that the agent's own folder is on the same filesystem.

    Raises:
        FieldError: There are too many, or a part is of another kind or too long.
    """
    return [_directory_of(row) for row in rows("directories", value, MOST_DIRECTORIES)]


def _directory_of(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise wrong("directories", value, "objects of path, type, uuid and more")
    directory: dict[str, Any] = dict(place_of("directories", value).as_json)
    if (quota := value.get("quota_bytes")) is not None:
        directory["quota_bytes"] = whole("directories.quota_bytes", quota)
    if yes_or_no("directories.holds_spool", value.get("holds_spool", False)):
        directory["holds_spool"] = True
    return directory


def settings_of(value: object) -> dict[str, Any]:
    """Return how the kernel is set for what a run lies on, as its host read it from /sys; empty for older agents.

    `device` and each of `disks` are texts by the name of a file in the block device's `queue`, `governors` is a list of
    texts. Anything else is left out: it is evidence for people, and a run is not refused for it.
    """
    found = value if isinstance(value, dict) else {}
    disks = found.get("disks")
    governors = found.get("governors")
    settings = {
        "device": _queue_of(found.get("device")),
        "disks": {
            str(name)[:LONGEST_NAME]: _queue_of(queue)
            for name, queue in list(disks.items() if isinstance(disks, dict) else ())[:MOST_DISKS]
        },
        "governors": [word for word in governors[:MOST_DISKS] if _is_word(word)] if isinstance(governors, list) else [],
    }
    return {name: part for name, part in settings.items() if part}


OUTCOMES = ("passed", "failed", "not checked")
MOST_GUARDS = 20
MOST_FIGURES = 300  # a temperature of each disk


def evidence_of(value: object) -> list[dict[str, Any]]:
    """Return what the guards of an attempt found on its host; what is no such entry is left out, for people read it.

    Raises:
        FieldError: It is no list, or too long.
    """
    entries = [_evidence_entry(row) for row in rows("evidence", value, MOST_GUARDS) if isinstance(row, dict)]
    return [entry for entry in entries if entry["guard"] and entry["outcome"] in OUTCOMES]


def _evidence_entry(row: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: _sound(row.get(name)) for name in ("checked_at", "waited_s", "limit_s", "tries")}
    return {
        "guard": _cut(row.get("guard"), 40), "purpose": _cut(row.get("purpose"), 40),
        "outcome": _cut(row.get("outcome"), 20), "text": _cut(row.get("text"), 1000),
        "figures": _figures_of(row.get("figures")), "limits": _figures_of(row.get("limits")),
        "is_required": row.get("is_required") is not False, "is_waiting": row.get("is_waiting") is True, **numbers,
    }  # fmt: skip


def _figures_of(value: object) -> dict[str, Any]:
    """Return the numbers and texts of an object, verbatim but for their length."""
    found = value if isinstance(value, dict) else {}
    return {
        str(name)[:LONGEST_NAME]: _cut(one, 4000) if isinstance(one, str) else one
        for name, one in list(found.items())[:MOST_FIGURES]
        if isinstance(one, str) or _is_plain(one)
    }


def _cut(value: object, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def _sound(value: object) -> float:
    """Return a number of seconds that a calendar has; 0 for anything else."""
    is_number = type(value) in (int, float) and math.isfinite(value) and 0 <= value < 4e9  # type: ignore[arg-type, operator]
    return value if is_number else 0.0  # type: ignore[return-value]


def _queue_of(value: object) -> dict[str, str]:
    found = value if isinstance(value, dict) else {}
    return {name: found[name] for name in QUEUE if _is_word(found.get(name))}


def _is_word(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()
