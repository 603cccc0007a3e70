"""Guards: conditions that must hold before a step, with their parameters and sentences."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.core.units import significant
from apps.runs.activity import IDLE, QUIET
from apps.runs.host_guards import GUARDS, LONGEST_WAIT, GuardParameter
from apps.runs.host_guards.labels import label_guard
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
    """A guard that a plan can ask for.

    Args:
        kind: Its name in plans, in REST and in evidence.
        sentence: What shall hold, made of its parameters.
        parameters: The numbers that it takes beside those of `HOST_PARAMETERS`.
        is_statement: Whether nothing can look at it, so that it is a person's word and never a guard that holds.
    """

    kind: str
    sentence: Callable[[Parameters], str]
    parameters: tuple[GuardParameter, ...] = ()
    is_statement: bool = False

    @property
    def label(self) -> str:
        """Return what people call it."""
        return label_guard(self.kind)


def _says(text: str) -> Callable[[Parameters], str]:
    return lambda _parameters: text


def _cache_rule(parameters: Parameters) -> str:
    within = parameters.get("tolerance", 0.0)
    slack = f", within {within:.0%}" if within else ""
    return (
        f"File size at least {parameters['factor']:g} × RAM{slack}, so that the page cache does not shape the result."
    )


def _idle(parameters: Parameters) -> str:
    if not sets_limits_of_idle(parameters):
        return "Nothing else runs on the host; its load is about zero."
    limits = limits_of_idle(parameters)
    return (
        f"At most {limits['load']} tasks or cores are busy on the host, and its disks and its network move at most"
        f" {limits['rate']} each."
    )


def sets_limits_of_idle(parameters: Parameters) -> bool:
    """Return whether the guard "idle host" has other limits than those of a machine at rest."""
    return float(parameters.get("load", IDLE)) != IDLE or float(parameters.get("rate", QUIET)) != QUIET


def limits_of_idle(parameters: Parameters) -> dict[str, str]:
    """Return the limits of the guard "idle host" in words: `load` in tasks or cores, `rate` in MB/s."""
    load, rate = float(parameters.get("load", IDLE)), float(parameters.get("rate", QUIET))
    return {"load": plain_text(load), "rate": f"{plain_text(rate / 1e6)}\u00a0MB/s"}


def plain_text(value: float) -> str:
    """Return a number that a person has typed, without digits that it does not have."""
    return significant(value) if value >= 1000 else f"{value:g}"


CACHE_RULE = (
    GuardParameter("factor", "File size at least, × RAM", 0.1, 100, 2),
    GuardParameter("tolerance", "Less by at most, % of that", 0, 0.5, 0, scale=0.01),
)
_KINDS = (
    GuardKind("idle", _idle),
    GuardKind("users_out", _says("No users on the host: nobody is logged in.")),
    GuardKind("queues_off", _says("The host's batch queues are switched off.")),
    GuardKind("fresh_system", _says("The system is freshly installed and carries no load."), is_statement=True),
    GuardKind("alone", _says("No other benchmark runs on the host, which could warm a cache.")),
    GuardKind("cache_rule", _cache_rule, CACHE_RULE),
    GuardKind("caches_dropped", _says("Page cache dropped before the step, and read back.")),
    GuardKind("file_removed", _says("The test file of the step before is removed.")),
    GuardKind("array_settled", _says("The array neither resyncs nor is it degraded.")),
    GuardKind("space", _says("The filesystem has room for the test file.")),
    GuardKind("filesystem", _says("Filesystem and mount options are those recorded of the target.")),
    GuardKind("temperature", _says("Disk temperatures are within their limits, where they can be read.")),
    GuardKind("preconditioned", _says("The target was preconditioned before the step by writes of the plan.")),
)
KINDS: dict[str, GuardKind] = {kind.kind: kind for kind in _KINDS}
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
    values = only(f"guards.{kind}", given, (*(parameter.name for parameter in KINDS[kind].parameters), *limits))
    if kind != "cache_rule":
        return {name: number(f"guards.{kind}.{name}", values[name], *limits[name]) for name in limits if name in values}
    return {
        "factor": number("guards.cache_rule.factor", values.get("factor"), 0.1, 100),
        "tolerance": number("guards.cache_rule.tolerance", values.get("tolerance", 0.0), 0, 0.5),
    }


def parameters_for(kind: str) -> tuple[GuardParameter, ...]:
    """Return the numbers that people can set of a guard: those of the plan, and those that its host takes."""
    on_host = next((guard.parameters for guard in GUARDS if guard.kind == kind), ())
    return (*KINDS[kind].parameters, *on_host)
