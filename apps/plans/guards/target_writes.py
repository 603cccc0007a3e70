"""The target was written over before the step: the finished runs of the plan's own preparations, with their bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.core.units import moment, size
from apps.plans.guards.evidence import FAILED, NOT_CHECKED, PASSED, GuardEvidence, StepFacts, WriteReport

KIND = "preconditioned"
IS_LASTING = True  # what prepares a target is done before the step, and no waiting adds to it
NOTHING = "no preparation of this plan has written to the target"


def check_before(step: StepFacts, _parameters: Mapping[str, Any]) -> GuardEvidence:
    """Return which runs wrote to the target, when each ended and how many bytes it wrote, as fio counted them."""
    if not step.writes:
        return GuardEvidence(KIND, FAILED, NOTHING)
    text = "; ".join(map(_describe, step.writes))
    if any(not write.is_done for write in step.writes):
        return GuardEvidence(KIND, FAILED, text)
    if any(write.is_discarded for write in step.writes):
        why = "the filesystem is mounted with discard, so that the drive was told to forget what was written"
        return GuardEvidence(KIND, FAILED, f"{text}; {why}")
    if any(write.written is None for write in step.writes):
        return GuardEvidence(KIND, NOT_CHECKED, f"{text}; its result does not say how many bytes were written")
    return GuardEvidence(KIND, PASSED, text)


def _describe(write: WriteReport) -> str:
    if not write.runs:
        return f"{write.label}: not begun"
    numbers = ", ".join(map(str, write.runs))
    which = f"run{'' if len(write.runs) == 1 else 's'} {numbers}"
    amount = f" wrote {size(write.written)}" if write.written is not None else ""
    ended = f", ended {moment(write.ended_at)}" if write.ended_at else ""
    return f"{write.label}: {which}{amount}{ended}{'' if write.is_done else ', not enough yet'}"


def lacks_writes(kinds: Sequence[str], writes: bool) -> str:
    """Return why a plan with these guards cannot pass them, in a sentence; empty where it can.

    Args:
        writes: Whether one of the plan's preparations writes to its targets.
    """
    if KIND not in kinds or writes:
        return ""
    return "The guard preconditioned needs a preparation that writes to the targets, such as a sequential fill."
