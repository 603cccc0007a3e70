"""What a guard found for one step, as it is stored with the step's run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.studies.models.plan import GUARD_FAILED as FAILED
from apps.studies.models.plan import GUARD_NOT_CHECKED as NOT_CHECKED
from apps.studies.models.plan import GUARD_PASSED as PASSED

__all__ = ["FAILED", "NOT_CHECKED", "PASSED", "ArrayReport", "GuardEvidence", "RunReport", "StepFacts"]


@dataclass(frozen=True)
class GuardEvidence:
    """The outcome of one guard with its figures in one sentence.

    Args:
        guard: The guard's kind.
        outcome: `passed`, `failed` or `not checked`.
        text: What was found, with figures, or why it could not be checked.
        source: Who looked: `server` (from what the lab's inventory says) or `host` (measured there).
        is_required: Whether the plan requires it: a run whose required guard failed does not count.
    """

    guard: str
    outcome: str
    text: str
    source: str = "server"
    is_required: bool = True
    checked_at: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "guard": self.guard, "outcome": self.outcome, "text": self.text, "source": self.source,
            "is_required": self.is_required, "checked_at": self.checked_at,
        }  # fmt: skip


@dataclass(frozen=True)
class ArrayReport:
    """The state of one array under the target, as the host last reported it."""

    name: str
    state: str


@dataclass(frozen=True)
class StepFacts:
    """What is known of a step before it starts. Sizes in bytes; `ram` None where nobody knows it."""

    file_size: int | None = None
    ram: int | None = None
    arrays: Sequence[ArrayReport] = ()
    are_arrays_left_to_host: bool = False  # all of them are md arrays, at which the host's agent looks itself
    is_stack_known: bool = True
    reported_at: datetime | None = None  # when the host last reported its inventory


@dataclass(frozen=True)
class RunReport:
    """What the host reported of a run: its state, the activity figures of `apps.runs.activity`, its files in bytes."""

    is_finished: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    files_bytes: int = 0
