"""Nothing else used the host before and during the run, by what its agent measured around fio."""

from collections.abc import Mapping
from typing import Any

from apps.core.quantities import quantity
from apps.core.units import significant
from apps.plans.guards.evidence import FAILED, NOT_CHECKED, PASSED, GuardEvidence, RunReport
from apps.runs.activity import ACTIVITY, IDLE, LOADS, QUIET

KIND = "idle"


def check_after(report: RunReport, parameters: Mapping[str, Any]) -> GuardEvidence | None:
    """Compare load, disks and network around the run with those of a machine at rest. None: the run has not finished."""
    if not report.is_finished:
        return None
    known = {name: float(report.facts[name]) for name in sorted(ACTIVITY) if name in report.facts}
    means = {name: value for name, value in known.items() if not name.endswith("_max")}  # a short burst is no load
    if not means:
        return GuardEvidence(KIND, NOT_CHECKED, "the host's agent reported no activity figures", "host")
    load, rate = float(parameters.get("load", IDLE)), float(parameters.get("rate", QUIET))
    busy = {name: value for name, value in means.items() if value > (load if name in LOADS else rate)}
    shown = busy or means
    text = "; ".join(f"{name.replace('_', ' ')} {_number(name, value)}" for name, value in shown.items())
    limits = f"limits: load {load:g}, {quantity(rate, 'B/s')}"
    return GuardEvidence(KIND, FAILED if busy else PASSED, f"{text} ({limits})", "host")


def _number(name: str, value: float) -> str:
    return significant(value) if name in LOADS else quantity(value, "B/s")
