"""How far a cell is, out of its runs. The state is derived each time and kept nowhere, so it cannot be wrong.

waiting   nothing has been run yet          running   a run of it is under way
partly    some rounds are there             done      the stopping rule's rounds are there
failed    the newest run failed             not run   there is a reason
not held  a report's cell of which this lab holds no run
"""

from collections.abc import Sequence
from dataclasses import dataclass

WAITING, RUNNING, PARTLY, DONE, FAILED = "waiting", "running", "partly", "done", "failed"
NOT_RUN, NOT_HELD = "not run", "not held"
STATES = (DONE, RUNNING, PARTLY, WAITING, FAILED, NOT_HELD, NOT_RUN)
OPEN_STATES = {"queued", "offered", "accepted", "running", "unknown"}


@dataclass(frozen=True)
class HeldRun:
    """What a cell needs of a run. `round`: 0 where it was not made for a step; `seconds`: how long it took."""

    pk: int
    state: str
    progress: float = 0.0
    round: int = 0
    seconds: float | None = None


@dataclass(frozen=True)
class Progress:
    """`done` of at least `least` and at most `most` rounds, `needed` as far as is known now; `fraction` of those under way, 0 to 1."""

    state: str
    done: int
    least: int
    most: int
    needed: int
    fraction: float = 0.0


def progress_of(
    runs: Sequence[HeldRun],
    least: int,
    most: int,
    *,
    reason: str = "",
    are_means: bool = False,
    is_report: bool = False,
    is_enough: bool = True,
) -> Progress:
    """`runs`: oldest first. `are_means`: a run holds the mean of all rounds, so one is enough. `is_enough`: what the stopping rule says of the
    values, once there are `least` rounds.
    """
    finished = [run for run in _counting(runs) if run.state == "finished"]
    done = most if are_means and finished else len(finished)
    going = [run.progress for run in runs if run.state in OPEN_STATES]
    fraction = sum(going) / len(going) if going else 0.0
    needed = least if is_enough else max(least, done + 1)
    return Progress(_state(runs, done, needed, reason, is_report), done, least, most, needed, fraction)


def _counting(runs: Sequence[HeldRun]) -> list[HeldRun]:
    """Of several runs for one step the newest one counts."""
    newest = {(run.round or f"run {run.pk}"): run for run in runs}
    return list(newest.values())


def _state(runs: Sequence[HeldRun], done: int, needed: int, reason: str, is_report: bool) -> str:
    if any(run.state in OPEN_STATES for run in runs):
        return RUNNING
    if reason:
        return NOT_RUN
    if runs and done < needed and runs[-1].state != "finished":
        return FAILED
    if done:
        return DONE if done >= needed or is_report else PARTLY
    return NOT_HELD if is_report else WAITING
