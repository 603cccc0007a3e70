"""The registry of guards: each module checks one kind, before a step on the server or after it by the host's figures.

What neither the server nor a host can look at is a person's statement (`GuardKind.is_statement`). Its evidence names who
stated it and is "not checked", never "passed".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from apps.plans.guards import array_state, cache_rule, idle, space, target_writes
from apps.plans.guards.evidence import BY_PERSON, FAILED, NOT_CHECKED, GuardEvidence, RunReport, StepFacts
from apps.runs.host_guards import BY_KIND
from apps.studies.models import Guard

BEFORE = {module.KIND: module for module in (cache_rule, array_state)}
PREPARED = {module.KIND: module for module in (target_writes,)}  # right before a step, when its target is prepared
UNASKED = "nobody was asked: it came into the plan after the run was started, or is newer than that"
AFTER = {module.KIND: module for module in (idle, space)}


def can_be_checked(kind: str) -> bool:
    """Return whether the server or a host's agent looks at a kind of guard."""
    return kind in BEFORE or kind in PREPARED or kind in AFTER or kind in BY_KIND


def look_before(guards: Iterable[Guard]) -> bool:
    """Return whether one of the guards is checked before a step starts."""
    return any(guard.kind in BEFORE for guard in guards)


def look_prepared(guards: Iterable[Guard]) -> bool:
    """Return whether one of the guards is about what has prepared a step's target."""
    return any(guard.kind in PREPARED for guard in guards)


def check_before(guards: Iterable[Guard], step: StepFacts, now: datetime) -> list[GuardEvidence]:
    """Return the evidence of the guards that can be checked before a step's target is prepared."""
    return _check(BEFORE, guards, step, now)


def check_prepared(guards: Iterable[Guard], step: StepFacts, now: datetime) -> list[GuardEvidence]:
    """Return the evidence of the guards about a step's preparation, and of what people state of its host."""
    stated = [
        _complete(GuardEvidence(guard.kind, NOT_CHECKED, guard.statement, BY_PERSON), guard, now)
        for guard in guards
        if guard.is_statement
    ]
    return [*_check(PREPARED, guards, step, now), *stated]


def _check(modules: Mapping[str, Any], guards: Iterable[Guard], step: StepFacts, now: datetime) -> list[GuardEvidence]:
    checked = (
        (guard, modules[guard.kind].check_before(step, guard.parameters)) for guard in guards if guard.kind in modules
    )
    return [_complete(evidence, guard, now) for guard, evidence in checked if evidence is not None]


def check_after(
    guards: Iterable[Guard], report: RunReport, now: datetime, answered: Collection[str] = ()
) -> list[GuardEvidence]:
    """Return the evidence that a finished run brings.

    Args:
        answered: Guards that the host has checked right before the run (`apps.runs.host_guards`).
    """
    evidence = []
    for guard in guards:
        if guard.kind in AFTER and guard.kind not in (answered if guard.kind != idle.KIND else ()):
            outcome = AFTER[guard.kind].check_after(report, guard.parameters)
            if outcome is not None:
                evidence.append(_complete(outcome, guard, now))
    return evidence


def note_unasked(guards: Iterable[Guard], known: Collection[str], now: datetime) -> list[GuardEvidence]:
    """Return evidence that nobody looked, of the guards of a finished run's plan of which there is no other.

    Args:
        known: Guards of which there is evidence.
    """
    return [
        _complete(GuardEvidence(guard.kind, NOT_CHECKED, UNASKED, ""), guard, now)
        for guard in guards
        if guard.kind not in known
    ]


def find_obstacle(evidence: Sequence[GuardEvidence]) -> GuardEvidence | None:
    """Return the first required guard that failed, which holds the step back."""
    return next((entry for entry in evidence if entry.is_required and entry.outcome == FAILED), None)


def is_lasting(evidence: GuardEvidence) -> bool:
    """Return whether waiting would not change the outcome."""
    return bool(getattr(BEFORE.get(evidence.guard) or PREPARED.get(evidence.guard), "IS_LASTING", False))


def _complete(evidence: GuardEvidence, guard: Guard, now: datetime) -> GuardEvidence:
    return replace(evidence, is_required=guard.is_required, checked_at=now.isoformat(timespec="seconds"))
