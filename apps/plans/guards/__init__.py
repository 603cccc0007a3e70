"""The registry of guards: each module checks one kind, before a step on the server or after it by the host's figures.

Kinds that have no module are conditions that nothing here can look at, such as "the host is closed to users". Their
evidence is "not checked", never "passed".
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from apps.plans.guards import array_state, cache_rule, idle, space
from apps.plans.guards.evidence import FAILED, NOT_CHECKED, GuardEvidence, RunReport, StepFacts
from apps.runs.host_guards import BY_KIND
from apps.studies.models import Guard

BEFORE = {module.KIND: module for module in (cache_rule, array_state)}
AFTER = {module.KIND: module for module in (idle, space)}
NOBODY_LOOKS = "nothing on the host or the server checks this yet"


def check_before(guards: Iterable[Guard], step: StepFacts, now: datetime) -> list[GuardEvidence]:
    """Return the evidence of the guards that can be checked before a step starts."""
    checked = (
        (guard, BEFORE[guard.kind].check_before(step, guard.parameters)) for guard in guards if guard.kind in BEFORE
    )
    return [_complete(evidence, guard, now) for guard, evidence in checked if evidence is not None]


def check_after(
    guards: Iterable[Guard], report: RunReport, now: datetime, answered: Collection[str] = ()
) -> list[GuardEvidence]:
    """Return the evidence that a finished run brings, and that of guards which nothing checks.

    Args:
        answered: Guards that the host has checked right before the run (`apps.runs.host_guards`).
    """
    evidence = []
    for guard in guards:
        if guard.kind in AFTER and guard.kind not in (answered if guard.kind != idle.KIND else ()):
            outcome = AFTER[guard.kind].check_after(report, guard.parameters)
        elif guard.kind not in BEFORE and guard.kind not in BY_KIND and report.is_finished:
            outcome = GuardEvidence(guard.kind, NOT_CHECKED, NOBODY_LOOKS, "")
        else:
            outcome = None
        if outcome is not None:
            evidence.append(_complete(outcome, guard, now))
    return evidence


def find_obstacle(evidence: Sequence[GuardEvidence]) -> GuardEvidence | None:
    """Return the first required guard that failed, which holds the step back."""
    return next((entry for entry in evidence if entry.is_required and entry.outcome == FAILED), None)


def is_lasting(evidence: GuardEvidence) -> bool:
    """Return whether waiting would not change the outcome."""
    return bool(getattr(BEFORE.get(evidence.guard), "IS_LASTING", False))


def _complete(evidence: GuardEvidence, guard: Guard, now: datetime) -> GuardEvidence:
    return replace(evidence, is_required=guard.is_required, checked_at=now.isoformat(timespec="seconds"))
