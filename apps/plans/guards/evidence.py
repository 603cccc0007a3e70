"""What a guard found for one step, as it is stored with the step's run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.runs.host_guards.labels import label_guard
from apps.studies.models.plan import BY_PERSON
from apps.studies.models.plan import GUARD_FAILED as FAILED
from apps.studies.models.plan import GUARD_NOT_CHECKED as NOT_CHECKED
from apps.studies.models.plan import GUARD_PASSED as PASSED

__all__ = [
    "BY_PERSON", "FAILED", "NOT_CHECKED", "PASSED", "ArrayReport", "GuardEvidence", "RunReport", "StepFacts",
    "WriteReport",
]  # fmt: skip


@dataclass(frozen=True)
class GuardEvidence:
    """The outcome of one guard with its figures in one sentence.

    Args:
        guard: The guard's kind.
        outcome: `passed`, `failed` or `not checked`.
        text: What was found, with figures, or why it could not be checked.
        source: Who looked: `server` (from what the lab's inventory and runs say), `host` (measured there), or `person`
            (somebody's word, at which nobody looked).
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
            "guard": self.guard, "label": label_guard(self.guard), "outcome": self.outcome, "text": self.text,
            "source": self.source,
            "is_required": self.is_required, "checked_at": self.checked_at,
        }  # fmt: skip


@dataclass(frozen=True)
class ArrayReport:
    """The state of one array under the target, as the host last reported it."""

    name: str
    state: str


@dataclass(frozen=True)
class WriteReport:
    """What one preparation of the plan has written to the step's target.

    Args:
        label: What the preparation is called.
        runs: Its finished runs by id.
        written: The bytes that they wrote together, as fio counted them; None where one does not say.
        ended_at: When the last of them ended.
        is_done: Whether it is enough, by the preparation's own rule.
        is_discarded: Whether the filesystem discards removed files, so that the drive forgets them.
    """

    label: str
    runs: Sequence[int] = ()
    written: int | None = None
    ended_at: datetime | None = None
    is_done: bool = False
    is_discarded: bool = False


@dataclass(frozen=True)
class StepFacts:
    """What is known of a step before it starts. Sizes in bytes; `ram` None where nobody knows it."""

    file_size: int | None = None
    ram: int | None = None
    arrays: Sequence[ArrayReport] = ()
    are_arrays_left_to_host: bool = False  # all of them are md arrays, at which the host's agent looks itself
    is_stack_known: bool = True
    reported_at: datetime | None = None  # when the host last reported its inventory
    writes: Sequence[WriteReport] = ()  # of the preparations of the step's target and round


@dataclass(frozen=True)
class RunReport:
    """What the host reported of a run: its state, the activity figures of `apps.runs.activity`, its files in bytes."""

    is_finished: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    files_bytes: int = 0
