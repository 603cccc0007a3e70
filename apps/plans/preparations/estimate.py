"""How much time guards and preparations add to what is left of a plan, host by host."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from apps.plans.models import Preparation, PreparationTime
from apps.plans.preparations import BY_KIND
from apps.plans.preparations.progress import Key, PreparationProgress
from apps.runs.host_guards import looking_seconds
from apps.runs.workload import planned_seconds
from apps.studies.models import Guard

Places = Mapping[tuple[int, int], Sequence[int]]  # (row, point) → rounds that are still to be made


@dataclass(frozen=True)
class ExtraTime:
    """Seconds; hosts work side by side, so the whole is that of the slowest. `unknown`: what takes as long as it takes.

    `written`: bytes of sequential fills, on all hosts together; how much random writes come to is not known before.
    """

    seconds: float = 0.0
    unknown: tuple[str, ...] = ()
    written: int = 0


def estimate_extra(
    preparations: Sequence[Preparation],
    guards: Iterable[Guard],
    waiting: Mapping[int, Places],
    progress: Mapping[Key, PreparationProgress],
    largest: Mapping[int, int],
) -> ExtraTime:
    """Return what guards and preparations add to the steps that are still to be made.

    Args:
        preparations, guards: Those of the plan, written or not.
        waiting: By host, the rounds of each row and point, by their ids.
        progress: The writes that were begun (`find_progress`).
        largest: Bytes of each row's largest file.
    """
    looking = looking_seconds({"guard": guard.kind, **guard.parameters} for guard in guards)
    by_host = [_of_host(preparations, places, progress, looking, largest) for places in waiting.values()]
    unknown = {word for extra in by_host for word in extra.unknown}
    longest = max((extra.seconds for extra in by_host), default=0.0)
    return ExtraTime(longest, tuple(sorted(unknown)), sum(extra.written for extra in by_host))


def _of_host(
    preparations: Iterable[Preparation],
    places: Places,
    progress: Mapping[Key, PreparationProgress],
    looking: float,
    largest: Mapping[int, int],
) -> ExtraTime:
    steps = sum(len(rounds) for rounds in places.values())
    rounds = {(row, number) for (row, _), numbers in places.items() for number in numbers}
    rows = {row for (row, _), numbers in places.items() if numbers}
    total, written = looking * steps, 0
    unknown: list[str] = []
    for preparation in preparations:
        times = {
            PreparationTime.STEP: steps, PreparationTime.ROUND: len(rounds), PreparationTime.START: len(rows)
        }[PreparationTime(preparation.time)]  # fmt: skip
        kind = BY_KIND[preparation.kind]
        if not times:
            continue
        if kind.workload is not None:
            keys = rounds if preparation.time == PreparationTime.ROUND else {(row, 0) for row in rows}
            left = [_left(preparation, key, progress) for key in keys]
            written += sum(_bytes_left(preparation, key, progress, largest.get(key[0], 0)) for key in keys)
            known = [seconds for seconds in left if seconds is not None]
            total += sum(known)
            unknown += [kind.label] if len(known) < len(left) else []
        elif (seconds := kind.seconds(preparation.parameters)) is not None:
            total += seconds * times
        else:
            unknown.append(kind.label)
    return ExtraTime(total, tuple(unknown), written)


def _bytes_left(
    preparation: Preparation, key: tuple[int, int], progress: Mapping[Key, PreparationProgress], largest: int
) -> int:
    """Return the bytes that passes over a whole file still write; 0 for writes that end by time."""
    current = progress.get((preparation.pk, *key)) or PreparationProgress(preparation, *key)
    make = current.kind.workload
    if current.is_done or make is None:
        return 0
    jobs = make(preparation.parameters, largest)["jobs"]
    runs = max(1, current.kind.least_runs(preparation.parameters) - len(current.bandwidths))
    return sum(runs * int(job["file_size"]) for job in jobs if job.get("runtime") is None)


def _left(preparation: Preparation, key: tuple[int, int], progress: Mapping[Key, PreparationProgress]) -> float | None:
    """Return the seconds of the runs that a preparation still needs at least; None where their length is not known."""
    row, number = key
    current = progress.get((preparation.pk, row, number)) or PreparationProgress(preparation, row, number)
    if current.is_done:
        return 0.0
    kind = current.kind
    runs = max(1, kind.least_runs(preparation.parameters) - len(current.bandwidths))
    past = [
        seconds for other in progress.values() if other.preparation.pk == preparation.pk for seconds in other.seconds
    ]
    if past:
        return runs * median(past)
    assert kind.workload is not None
    workload = kind.workload(preparation.parameters, 0)
    jobs = [{"runtime": None, "ramp_time": 0, "stonewall": True, **job} for job in workload["jobs"]]
    seconds = planned_seconds({"jobs": jobs})
    return None if seconds is None else float(runs * seconds)
