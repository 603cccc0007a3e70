"""Guards that a host's agent checks right before fio starts: a registry, one file for each kind.

What a run asks for is stored with the run, as the offer has it (docs/reference/agent-protocol.md):

    [{"guard": "idle", "is_required": true, "wait_s": 600, "load": 0.5}, …]

What the host found is stored with its attempt; `evidence.py` puts both together for whoever reads the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.inventory.models import Target
from apps.runs.host_guards import (
    alone,
    arrays,
    filesystem,
    free_space,
    idle,
    old_files,
    page_cache,
    pause,
    queues_off,
    temperature,
    users_out,
)
from apps.runs.host_guards.guard import GuardParameter, HostGuard
from apps.runs.host_guards.names import name_fields
from apps.runs.workload import WorkloadError

GUARDS: tuple[HostGuard, ...] = (
    idle.GUARD, users_out.GUARD, queues_off.GUARD, alone.GUARD, page_cache.GUARD, old_files.GUARD, arrays.GUARD,
    filesystem.GUARD, free_space.GUARD, temperature.GUARD, pause.GUARD,
)  # fmt: skip
BY_KIND = {guard.kind: guard for guard in GUARDS}
LONGEST_WAIT = 86_400  # seconds
USUAL_WAIT = 600
COMMON = ("kind", "is_required", "wait_s")

__all__ = ["BY_KIND", "GUARDS", "LONGEST_WAIT", "USUAL_WAIT", "GuardParameter", "HostGuard", "check_guards"]


def check_guards(given: Any) -> list[dict[str, Any]]:
    """Return the guards that a run asks for, with `is_required` and `wait_s` filled in.

    Raises:
        WorkloadError: There is no such guard, it is there twice, or a parameter does not fit.
    """
    if not isinstance(given, list | tuple):
        raise WorkloadError("guards", given, "a list of objects such as {kind: idle, wait_s: 600}")
    checked = [_check_guard(f"guards[{at}]", guard) for at, guard in enumerate(given)]
    kinds = [guard["guard"] for guard in checked]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise WorkloadError("guards", kind, "each only once")
    return checked


def _check_guard(where: str, given: Any) -> dict[str, Any]:
    given = name_fields(where, given, WorkloadError) if isinstance(given, Mapping) else given
    kind = given.get("kind") if isinstance(given, Mapping) else given
    if not isinstance(given, Mapping) or not isinstance(kind, str) or kind not in BY_KIND:
        raise WorkloadError(f"{where}.guard", kind, f"one of {', '.join(BY_KIND)}")
    parameters = {parameter.name: parameter for parameter in BY_KIND[kind].parameters}
    for name in given:
        if name not in (*COMMON, *parameters):
            raise WorkloadError(f"{where}.{name}", given[name], f"one of {', '.join((*COMMON, *parameters))}")
    is_required = given.get("is_required", True)
    if not isinstance(is_required, bool):
        raise WorkloadError(f"{where}.is_required", is_required, "true or false")
    wait = check_number(f"{where}.wait_s", given.get("wait_s", USUAL_WAIT), 0, LONGEST_WAIT)
    values = {
        name: check_number(f"{where}.{name}", given[name], parameter.low, parameter.high)
        for name, parameter in parameters.items()
        if given.get(name) is not None
    }
    return {"guard": kind, "is_required": is_required, "wait_s": wait, **values}


def check_number(field: str, value: Any, low: float, high: float) -> float:
    """Return a number within its limits. Raises `WorkloadError` for anything else."""
    if type(value) not in (int, float) or not low <= value <= high:
        raise WorkloadError(field, value, f"a number from {low:g} to {high:g}")
    return float(value) if value % 1 else int(value)


def looking_seconds(guards: Iterable[Mapping[str, Any]]) -> float:
    """Return how long one look at these guards takes on their host, with pauses: a run that asks for them waits so long."""
    known = ((guard, BY_KIND.get(guard["guard"])) for guard in guards)
    return sum(float(guard.get("seconds", kind.seconds)) for guard, kind in known if kind)


def complete_guards(target: Target, guards: Sequence[Mapping[str, Any]], options: str = "") -> list[dict[str, Any]]:
    """Return the guards with what the target's host compares its filesystem with. `options`: as in `filesystem.expect`."""
    return [
        {**guard, "expected": filesystem.expect(target, options)}
        if guard["guard"] == filesystem.GUARD.kind and "expected" not in guard
        else dict(guard)
        for guard in guards
    ]
