"""Nothing else uses the host in the seconds before fio starts."""

from collections.abc import Mapping
from typing import Any

from apps.core.quantities import quantity
from apps.core.units import significant
from apps.runs.activity import IDLE, QUIET
from apps.runs.host_guards.guard import GuardParameter, HostGuard

SECONDS = 10.0
WORDS = {
    "runnable_tasks": "runnable tasks", "cores_busy": "cores busy", "in_flight": "I/O in flight",
    "disks": "disks", "network": "network",
}  # fmt: skip
RATES = ("disks", "network")


def describe(figures: Mapping[str, Any], limits: Mapping[str, Any]) -> str:
    """Return the means with their limits; where some are over, those alone."""
    known = {name: figures[name] for name in WORDS if isinstance(figures.get(name), int | float)}
    most = {name: limits[name] for name in known if isinstance(limits.get(name), int | float)}
    over = [name for name in most if known[name] > most[name]]
    if not known or not isinstance(figures.get("seconds"), int | float):
        return ""
    parts = [
        f"{WORDS[name]} {_number(name, known[name])}"
        + (f" (at most {_number(name, most[name])})" if name in most else "")
        for name in over or known
    ]
    return f"{'; '.join(parts)}; over {figures['seconds']:.1f} s"


def _number(name: str, value: float) -> str:
    if name in RATES:
        return quantity(value, "B/s")
    return f"{value:.3g}" if value < 1000 else significant(value)


GUARD = HostGuard(
    kind="idle",
    sentence="Runnable tasks, CPU, I/O in flight, disks and network are those of a machine at rest for some seconds.",
    parameters=(
        GuardParameter("seconds", "Seconds of looking", 1, SECONDS, SECONDS),
        GuardParameter("load", "Most tasks or cores", 0, 100_000, IDLE),
        GuardParameter("rate", "Most MB/s of disks, and of the network", 0, 1e12, QUIET, scale=1e6),
    ),
    describe=describe,
    seconds=SECONDS,
)
