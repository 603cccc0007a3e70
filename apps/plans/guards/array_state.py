"""No array under the target resyncs or is degraded, by what the host reported last."""

from collections.abc import Mapping
from typing import Any

from apps.core.units import moment
from apps.plans.guards.evidence import FAILED, NOT_CHECKED, PASSED, GuardEvidence, StepFacts

KIND = "array_settled"
IS_LASTING = False
SETTLED = "clean"


def check_before(step: StepFacts, _parameters: Mapping[str, Any]) -> GuardEvidence | None:
    """Look at the state of every array in the target's stack; None where the host does, which knows it better."""
    if step.are_arrays_left_to_host:
        return None
    if not step.is_stack_known:
        return GuardEvidence(KIND, NOT_CHECKED, "what the target lies on is not known")
    when = f", as reported {moment(step.reported_at)}" if step.reported_at else ""
    if not step.arrays:
        return GuardEvidence(KIND, PASSED, f"no array lies under the target{when}")
    states = ", ".join(f"{array.name}: {array.state or 'state not reported'}" for array in step.arrays)
    if any(array.state and array.state != SETTLED for array in step.arrays):
        return GuardEvidence(KIND, FAILED, states + when)
    if not all(array.state for array in step.arrays):
        return GuardEvidence(KIND, NOT_CHECKED, states + when)
    return GuardEvidence(KIND, PASSED, states + when)
