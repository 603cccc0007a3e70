"""How far a cell is, out of its runs. The state is derived each time and kept nowhere, so it cannot be wrong.

waiting   nothing has been run yet          running   a run of it is under way
partly    some rounds are there             done      the stopping rule's rounds are there
failed    the newest run failed             not run   there is a reason
not held  a report's cell of which this lab holds no run
as reported  a report's cell whose numbers this lab holds: nobody here has run it
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_low

WAITING, RUNNING, PARTLY, DONE, FAILED = "waiting", "running", "partly", "done", "failed"
NOT_RUN, NOT_HELD, AS_REPORTED = "not run", "not held", "as reported"
STATES = (DONE, AS_REPORTED, RUNNING, PARTLY, WAITING, FAILED, NOT_HELD, NOT_RUN)
OPEN_STATES = {"queued", "offered", "accepted", "running", "unknown"}


@dataclass(frozen=True)
class HeldRun:
    """What a cell needs of a run. `round`: 0 where it was not made for a step; `seconds`: how long its step took.

    That is from when a plan or a person asked for it until its result was read in, without the looks of its guards.

    `is_retried`: somebody asked for its step to be made again. `failed_guard`: a guard that the plan requires and that
    did not hold, with what was found, so that the run does not count; empty where all held. `is_other_result`: it measured
    something else than its step asked for, so that it does not count either.
    """

    pk: int
    state: str
    progress: float = 0.0
    round: int = 0
    seconds: float | None = None
    is_retried: bool = False
    failed_guard: str = ""
    guard_outcome: str = ""  # of all guards together: passed, failed, not checked; empty where there is no guard
    is_other_result: bool = False

    @property
    def is_counted(self) -> bool:
        return self.state == "finished" and not self.failed_guard and not self.is_other_result


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
    """Return the progress of a cell from its runs, oldest first.

    `are_means`: a run holds the mean of all rounds, so one is enough. `is_enough`: what the stopping rule returns for
    the values, once there are `least` rounds.
    """
    finished = [run for run in _counting(runs) if run.is_counted]
    done = most if are_means and finished else len(finished)
    going = [run.progress for run in runs if run.state in OPEN_STATES]
    fraction = sum(going) / len(going) if going else 0.0
    needed = least if is_enough else max(least, done + 1)
    return Progress(_state(runs, done, needed, reason, is_report), done, least, most, needed, fraction)


def _counting(runs: Sequence[HeldRun]) -> list[HeldRun]:
    """Return the runs that count: of several for one step the newest."""
    newest = {(run.round or f"run {run.pk}"): run for run in runs}
    return list(newest.values())


def _state(runs: Sequence[HeldRun], done: int, needed: int, reason: str, is_report: bool) -> str:
    if any(run.state in OPEN_STATES for run in runs):
        return RUNNING
    if reason:
        return NOT_RUN
    if runs and done < needed and not runs[-1].is_counted and not runs[-1].is_retried:
        return FAILED
    if is_report:
        return AS_REPORTED if done else NOT_HELD
    if done:
        return DONE if done >= needed else PARTLY
    return WAITING


@dataclass(frozen=True)
class WaitingCell:
    """A cell's rounds that are still to be made.

    `past`: seconds of its own runs; `asked`: what a workload with a runtime will about take; `guessed`: what any workload
    would about take on a usual disk.
    """

    row: str
    host: str
    file_size: int | None
    rounds: int
    past: Sequence[float] = ()
    asked: float | None = None
    guessed: float | None = None


@dataclass(frozen=True)
class Estimate:
    """Seconds. Hosts work side by side, so the whole takes as long as the slowest.

    `unknown`: rounds that nothing is known of. `of_cells`: what is left of each cell in turn, None where that is not known.
    """

    seconds: float
    by_host: Mapping[str, float]
    known: int
    unknown: int
    of_cells: Sequence[float | None] = ()


def estimate(cells: Sequence[WaitingCell]) -> Estimate:
    """Estimate the time of cells from their own past runs, else their workload, else the other cells of their row."""
    known_of: dict[str, list[WaitingCell]] = {}
    for cell in cells:
        if cell.past and cell.file_size:
            known_of.setdefault(cell.row, []).append(cell)
    by_host: dict[str, float] = {}
    of_cells: list[float | None] = []
    known = unknown = 0
    for cell in cells:
        seconds = _seconds(cell, known_of.get(cell.row, ()))
        of_cells.append(None if seconds is None else cell.rounds * seconds)
        if seconds is None:
            unknown += cell.rounds
        else:
            known += cell.rounds
            by_host[cell.host] = by_host.get(cell.host, 0.0) + cell.rounds * seconds
    return Estimate(max(by_host.values(), default=0.0), by_host, known, unknown, of_cells)


def _seconds(cell: WaitingCell, others: Sequence[WaitingCell]) -> float | None:
    if cell.past:
        return median_low(cell.past)  # of two, one may have waited for a host that was away
    if cell.asked is not None:
        return cell.asked
    return _by_size(cell, cell.file_size, others) if cell.file_size and others else None


def _by_size(cell: WaitingCell, file_size: int, others: Sequence[WaitingCell]) -> float:
    """Return what a cell will take by the cell of its row that was run and is nearest in size.

    It takes as many times its guess as that one did, so that what a run takes beside its bytes does not grow with them.
    Without a guess the time grows with the bytes.
    """
    nearest = min(others, key=lambda other: abs((other.file_size or 0) - file_size))
    if cell.guessed and nearest.guessed:
        return median_low(nearest.past) * cell.guessed / nearest.guessed
    return file_size * median(median_low(other.past) / (other.file_size or 1) for other in others)
