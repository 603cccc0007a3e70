"""Guards: conditions that must hold before a step, with their parameters and sentences."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.runs.host_guards import GUARDS, LONGEST_WAIT
from apps.studies.plans.problems import PlanError, number, only

Parameters = dict[str, Any]


@dataclass(frozen=True)
class CacheRule:
    """Files of at least `factor` × RAM, less the fraction `tolerance` of that."""

    factor: float
    tolerance: float = 0.0

    @property
    def least(self) -> float:
        """Return the smallest file that satisfies the rule, as a multiple of RAM."""
        return self.factor * (1 - self.tolerance)


@dataclass(frozen=True)
class GuardKind:
    label: str
    sentence: Callable[[Parameters], str]
    parameters: tuple[str, ...] = ()


def _says(text: str) -> Callable[[Parameters], str]:
    return lambda _parameters: text


def _cache_rule(parameters: Parameters) -> str:
    within = parameters.get("tolerance", 0.0)
    slack = f", within {within:.0%}" if within else ""
    return (
        f"File size at least {parameters['factor']:g} × RAM{slack}, so that the page cache does not shape the result."
    )


KINDS: dict[str, GuardKind] = {
    "idle": GuardKind("idle host", _says("Nothing else runs on the host; its load is about zero.")),
    "users_out": GuardKind("users out", _says("The host is closed to users.")),
    "queues_off": GuardKind("queues off", _says("The host's batch queues are switched off.")),
    "fresh_system": GuardKind("fresh system", _says("The system is freshly installed and carries no load.")),
    "alone": GuardKind("no shared cache", _says("No run may warm the cache of another.")),
    "cache_rule": GuardKind("cache rule", _cache_rule, ("factor", "tolerance")),
    "caches_dropped": GuardKind("caches dropped", _says("Page cache dropped before the step, and read back.")),
    "file_removed": GuardKind("test file removed", _says("The test file of the step before is removed.")),
    "array_settled": GuardKind("array settled", _says("The array neither resyncs nor is it degraded.")),
    "space": GuardKind("space", _says("The filesystem has room for the test file.")),
    "filesystem": GuardKind("filesystem as planned", _says("Filesystem and mount options are those recorded of the target.")),
    "temperature": GuardKind("temperature", _says("Disk temperatures are within their limits, where they can be read.")),
}  # fmt: skip
# What the host's agent checks right before a run takes these numbers: its limits, and how long the run may wait for it.
HOST_PARAMETERS: dict[str, dict[str, tuple[float, float]]] = {
    guard.kind: {parameter.name: (parameter.low, parameter.high) for parameter in guard.parameters} | {"wait_s": (0, LONGEST_WAIT)}
    for guard in GUARDS if guard.kind in KINDS
}  # fmt: skip
HOST_NUMBERS = tuple(dict.fromkeys(name for limits in HOST_PARAMETERS.values() for name in limits))


def parameters_of(kind: str, given: Any) -> Parameters:
    """Check the parameters of a guard.

    Raises:
        PlanError: A parameter does not fit.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise PlanError("guards.kind", kind, f"one of {', '.join(KINDS)}")
    limits = HOST_PARAMETERS.get(kind, {})
    values = only(f"guards.{kind}", given, (*KINDS[kind].parameters, *limits))
    if kind != "cache_rule":
        return {name: number(f"guards.{kind}.{name}", values[name], *limits[name]) for name in limits if name in values}
    return {
        "factor": number("guards.cache_rule.factor", values.get("factor"), 0.1, 100),
        "tolerance": number("guards.cache_rule.tolerance", values.get("tolerance", 0.0), 0, 0.5),
    }
