"""Preparations of a plan: a registry, one file for each kind.

Waits (pause, cool down, end of a resync) are guards that the host looks after right before the run that follows, so that nothing
lies between the wait and the measurement. Writes (sequential fill, random writes) are ordinary runs, with the host's policy and quota,
whose files are removed afterwards; they count for no cell. Armed devices are not trimmed: no host can arm one yet.
"""

from collections.abc import Sequence
from typing import Any

from apps.plans.preparations import array_rest, cool_down, pause, random_writes, sequential_fill
from apps.plans.preparations.preparation import PreparationKind, PreparationParameter
from apps.studies.plans.problems import PlanError, only

KINDS: tuple[PreparationKind, ...] = (
    sequential_fill.KIND, random_writes.KIND, array_rest.KIND, cool_down.KIND, pause.KIND,
)  # fmt: skip
BY_KIND = {kind.kind: kind for kind in KINDS}
MOST = 10  # of one plan

__all__ = ["BY_KIND", "KINDS", "PreparationKind", "PreparationParameter", "read_preparations"]


def read_preparations(given: Any) -> list[dict[str, Any]]:
    """Return preparations as they are stored: kind, time and all parameters.

    Args:
        given: A list of `{kind, time, …parameters}`.

    Raises:
        PlanError: There is no such kind, or something does not fit.
    """
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST:
        raise PlanError("preparations", given, f"a list of at most {MOST} objects")
    return [_read(f"preparations[{at}]", entry) for at, entry in enumerate(given)]


def _read(field: str, entry: Any) -> dict[str, Any]:
    name = entry.get("kind") if isinstance(entry, dict) else entry
    if not isinstance(entry, dict) or not isinstance(name, str) or name not in BY_KIND:
        raise PlanError(f"{field}.kind", name, f"one of {', '.join(BY_KIND)}")
    kind = BY_KIND[name]
    only(field, entry, ("kind", "time", *(parameter.name for parameter in kind.parameters)))
    time = entry.get("time", "start")
    if time not in kind.times:
        raise PlanError(f"{field}.time", time, f"one of {', '.join(kind.times)}")
    values = {parameter.name: parameter.read(field, entry.get(parameter.name)) for parameter in kind.parameters}
    return {
        "kind": name, "time": time, "parameters": {name: value for name, value in values.items() if value is not None}
    }  # fmt: skip
