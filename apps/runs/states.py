"""The states of a run and of an attempt at it, which may follow which, and the priorities of runs that wait.

    queued → offered → accepted → running ⇄ unknown → finished | failed | interrupted | cancelled

A lost lease changes what we *know* (`unknown`), never what *runs*. Out of `unknown` leads only the host's word, or an audited "abandon",
which ends it as `interrupted`. Of an ended attempt only an abandoned one may come back (`Attempt.resume`), by its host's word too.
"""

from django.db import models


class State(models.TextChoices):
    QUEUED = "queued", "queued"
    OFFERED = "offered", "offered"
    ACCEPTED = "accepted", "accepted"
    RUNNING = "running", "running"
    UNKNOWN = "unknown", "unknown"
    FINISHED = "finished", "finished"
    FAILED = "failed", "failed"
    INTERRUPTED = "interrupted", "interrupted"
    CANCELLED = "cancelled", "cancelled"


class Priority(models.IntegerChoices):
    """Which of a host's waiting runs goes first, whatever their age; the smallest number does."""

    HIGH = 1, "high"
    NORMAL = 2, "normal"
    LOW = 3, "low"

    @classmethod
    def find(cls, word: object) -> "Priority | None":
        """Return the priority of this word, or None where it is none."""
        return next((priority for priority in cls if priority.label == word), None)


READING = "measured, being read"  # what people see of a run whose host is done, until its samples are there
ENDED = frozenset({State.FINISHED, State.FAILED, State.INTERRUPTED, State.CANCELLED})
OPEN = frozenset(set(State) - ENDED)
ON_HOST = frozenset({State.ACCEPTED, State.RUNNING, State.UNKNOWN})  # the host may have started something

FOLLOWERS: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.OFFERED, State.CANCELLED, State.FAILED}),
    State.OFFERED: frozenset({State.ACCEPTED, State.QUEUED, State.CANCELLED, State.FAILED, State.UNKNOWN}),
    State.ACCEPTED: frozenset({State.RUNNING, State.UNKNOWN}) | ENDED,
    State.RUNNING: frozenset({State.UNKNOWN}) | ENDED,
    State.UNKNOWN: frozenset({State.ACCEPTED, State.RUNNING}) | ENDED,
}
FOLLOWERS.update({ended: frozenset() for ended in ENDED})


def before(state: State) -> list[State]:
    """Return the states from which `state` may be reached, to filter the UPDATE that changes it."""
    return [old for old, followers in FOLLOWERS.items() if state in followers]
