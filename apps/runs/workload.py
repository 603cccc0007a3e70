"""The workload of a run: the fio options that may be asked for, their checks, and the job file.

Options are integers, booleans and words from fixed lists; no text of a person reaches a host. The agent checks them again
against its own list and its host's policy and writes the job file itself; `job_file` here only shows what it will be.
Sizes are whole bytes and times whole units; `read_values` makes them of what people type (`4k`, `100 MiB`, `5s`).
"""

import difflib
import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson
from django.conf import settings

from apps.core.quantities import SizeError, parse_size
from apps.parsers.fio.job_options import agreement
from apps.parsers.fio.job_options.defaults import value_of
from apps.parsers.fio.job_options.kinds import ByteSize, Duration, HexPattern, NumberList, NumberSet, OneOf
from apps.parsers.fio.job_options.option import REQUIRED, FioOption, Written
from apps.parsers.fio.job_options.refusals import REFUSED
from apps.parsers.fio.job_options.table import BY_FIO_NAME, BY_NAME, OPTIONS
from apps.parsers.fio.job_options.usual import PATTERNS, SYNCS, USUAL
from apps.runs.fio_options import GIB as GIB
from apps.runs.fio_options import KIB as KIB
from apps.runs.fio_options import MIB as MIB

RW, SYNC = tuple(PATTERNS), tuple(SYNCS)
MAX_JOBS = 16
MAX_FILES = 100_000  # of a run
MOST_NAMED = 4
_PATTERNS = re.compile(r"(?:rand)?(?:read|write|rw|trim)(?: \+ (?:rand)?(?:read|write|rw|trim))+")
SAID = ("configuration", "rw", "caption")  # facts with an upload's own words for what it did, the first that has any


class WorkloadError(ValueError):
    """A workload that may not be sent: which field, what was found, what was expected."""

    def __init__(self, field: str, value: object, expected: str) -> None:
        super().__init__(f"{field}: found {value!r}, expected {expected}")
        self.field, self.found, self.expected = field, value, expected


class UnknownOptionError(WorkloadError):
    """An option or a field that there is not; `names` are those that there are."""

    def __init__(self, where: str, name: object, value: object, names: Iterable[str]) -> None:
        given, known = f"{name}={value!r}", ", ".join(names)
        super().__init__(f"{where}.{name}" if where else str(name), given, f"one of: {known}")
        message = f"found {given}: there is no such option; there are {known}"
        self.args = (f"{where}: {message}" if where else message,)


class RefusedOptionError(WorkloadError):
    """An option of fio that a workload may not have, or that has another name here; `reason` says which."""

    def __init__(self, where: str, name: str, value: object, reason: str) -> None:
        super().__init__(f"{where}.{name}", value, f"nothing, because {reason}")
        self.args = (f"{where}: found {name}={value!r}: a workload cannot have this option: {reason}",)


def refuse_option(where: str, name: str, value: object) -> WorkloadError:
    """Return the error about an option that a workload does not have."""
    if name in REFUSED:
        return RefusedOptionError(where, name, value, REFUSED[name])
    if name in BY_FIO_NAME:
        return RefusedOptionError(where, name, value, f"it is {BY_FIO_NAME[name].name} in workloads")
    near = difflib.get_close_matches(str(name)[:60], BY_NAME, 8, 0.7)
    usual = [option.name for option in USUAL if option.name not in near]
    rest = len(BY_NAME) - len(near) - len(usual)
    return UnknownOptionError(where, name, value, [*near, *usual, f"{rest} more (docs/reference/workload-options.md)"])


def check_option(field: str, option: FioOption, value: Any) -> Any:
    """Return the value. Raise a `WorkloadError` about `field` if the option does not take it."""
    if not option.kind.accepts(value):
        raise WorkloadError(field, value, option.kind.expected)
    return value


def _job(number: int, given: Any) -> dict[str, Any]:
    where = f"jobs[{number}]"
    if not isinstance(given, dict):
        raise WorkloadError(where, given, "an object of job options")
    for key in given:
        if key not in BY_NAME and key != "name":
            raise refuse_option(where, key, given[key])
    job: dict[str, Any] = {"name": f"job{number}"}
    for option in OPTIONS:
        if option.default is REQUIRED and option.name not in given:
            raise WorkloadError(f"{where}.{option.name}", None, "a value; this option has no default")
        value = given.get(option.name, option.default)
        if option.is_rare and (value is None or value == option.default):
            continue  # so a workload says only what is unusual about it
        job[option.name] = check_option(f"{where}.{option.name}", option, value)
    for name, expected in agreement.disagreements(job):
        raise WorkloadError(f"{where}.{name}", job.get(name), expected)
    return job


READ_FROM_TEXT = {
    option.name: option for option in OPTIONS
    if isinstance(option.kind, ByteSize | Duration)
    or (option.is_rare and not isinstance(option.kind, OneOf | HexPattern))
}  # fmt: skip
ONE_OF_A_LIST = {option.name for option in OPTIONS if isinstance(option.kind, NumberList | NumberSet)}


def read_values(spec: Any) -> Any:
    """Return the workload with sizes, times and lists as values that people wrote in another way.

    Texts are read as a job file has them (`4k`, `5s`, `4k/60:64k/40`), and one number as a list of it (`rate` 1000).

    Raises:
        WorkloadError: A text is no such value, or the option does not take it.
    """
    jobs = spec.get("jobs") if isinstance(spec, dict) else None
    if not isinstance(jobs, list):
        return spec
    return {**spec, "jobs": [_read_values(f"jobs[{number}]", job) for number, job in enumerate(jobs)]}


def _read_values(where: str, job: Any) -> Any:
    if not isinstance(job, dict):
        return job
    return {name: _read_value(f"{where}.{name}", name, value) for name, value in job.items()}


def _read_value(field: str, name: str, value: Any) -> Any:
    if isinstance(value, str) and name in READ_FROM_TEXT:
        return read_text(field, name, value)
    return [value] if type(value) is int and name in ONE_OF_A_LIST else value


def read_text(field: str, name: str, text: str) -> Any:
    """Return the value of an option that somebody typed. Raises a `WorkloadError` about `field`."""
    option, shown = READ_FROM_TEXT[name], text[:80]
    try:
        if isinstance(option.kind, ByteSize):
            return check_option(field, option, parse_size(text))
        return option.kind.read(text)
    except SizeError as error:
        raise WorkloadError(field, shown, error.expected) from None
    except WorkloadError as error:
        raise WorkloadError(field, shown, error.expected) from None
    except ValueError as error:
        raise WorkloadError(field, shown, str(error)) from None


def checked(spec: Any) -> dict[str, Any]:
    """Return the workload with every option filled in (shape in docs/reference/agent-protocol.md).

    Raises:
        WorkloadError: An option is unknown or invalid.
    """
    if not isinstance(spec, dict):
        raise WorkloadError("workload", spec, "an object with tool and jobs")
    for key in spec:
        if key not in ("tool", "jobs"):
            raise UnknownOptionError("", key, spec[key], ("tool", "jobs"))
    if spec.get("tool", "fio") != "fio":
        raise WorkloadError("tool", spec["tool"], "fio")
    jobs = spec.get("jobs")
    if not isinstance(jobs, list) or not 1 <= len(jobs) <= MAX_JOBS:
        raise WorkloadError("jobs", jobs, f"a list of 1 to {MAX_JOBS} jobs")
    complete = [_job(number, job) for number, job in enumerate(jobs)]
    _check_together(complete)
    return {"tool": "fio", "jobs": complete}


def _check_together(jobs: list[dict[str, Any]]) -> None:
    files = sum(map(agreement.files_count, jobs))
    if files > MAX_FILES:
        raise WorkloadError("jobs[0].nrfiles", f"{files} files in all", f"at most {MAX_FILES} in all")
    steady = {value_of(job, "steadystate_check_interval") for job in jobs}
    if len(steady) > 1:
        raise WorkloadError("jobs[0].steadystate_check_interval", sorted(steady), "the same for all jobs")


def digest(spec: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(spec, option=orjson.OPT_SORT_KEYS)).hexdigest()


def seconds_of_jobs(spec: dict[str, Any]) -> int:
    """Return how many seconds the jobs take at least, where they say so: of each turn the longest."""
    return sum(max(map(agreement.seconds_of, turn)) for turn in agreement.groups_of(spec["jobs"]))


def planned_seconds(spec: dict[str, Any]) -> int | None:
    """Return the longest time fio will run, or None where a job has no runtime."""
    return None if any(job["runtime"] is None for job in spec["jobs"]) else seconds_of_jobs(spec)


# A disk of long ago at its worst: 100 accesses in a second, 20 MB/s in a row. Only how long a run may take is reckoned with it.
SLOW_ACCESSES, SLOW_BYTES = 100, 20_000_000
LIMIT_FACTOR = 3


def expected_seconds(spec: dict[str, Any]) -> int:
    """Return how long fio may take on a slow disk: the jobs' runtimes, or the passes over their files."""
    return math.ceil(sum(map(_expected_seconds, agreement.groups_of(spec["jobs"]))))


def _expected_seconds(turn: Iterable[dict[str, Any]]) -> float:
    """Return how long jobs may take that run at the same time: what they move, they move through one disk."""
    timed, moving = [0.0], 0.0
    for job in turn:
        around = job["ramp_time"] + value_of(job, "startdelay")
        last = job["file_size"] * job["numjobs"] / SLOW_BYTES if job["end_fsync"] else 0.0
        if job["runtime"] is None:
            moving += around + last + _seconds_of_work(job)
        else:
            timed.append(around + last + job["runtime"])
    return max(*timed, moving)


# What a guess about a run that was never made assumes where nothing better is known: a hard disk of today.
GUESSED_BYTES, GUESSED_ACCESSES = 150_000_000, 200  # in a second: in a row, and at random
AROUND_RUN_S = 5.0  # from the offer to fio's start, and from its end until the result is read in


@dataclass(frozen=True)
class Speeds:
    """What a guess assumes of a target, in bytes/s and accesses/s."""

    read: float = GUESSED_BYTES
    write: float = GUESSED_BYTES
    accesses: float = GUESSED_ACCESSES


USUAL_SPEEDS = Speeds()


def fill_bytes(spec: dict[str, Any]) -> int:
    """Return how many bytes the host writes into test files before fio starts: those of all jobs that read."""
    return sum(
        job["file_size"] * job["numjobs"] for job in spec["jobs"] if job["ioengine"] != "null" and not _only_writes(job)
    )


def _bytes_of_work(job: dict[str, Any]) -> int:
    """Return how many bytes all clones of a job read or write until they end without a runtime."""
    amount = value_of(job, "io_size") or job["file_size"]
    return int(amount * job["numjobs"] * value_of(job, "loops"))


def _only_writes(job: dict[str, Any]) -> bool:
    return job["rw"] in ("write", "randwrite")


def guess_seconds(spec: dict[str, Any], speeds: Speeds = USUAL_SPEEDS) -> float:
    """Return about how long a run takes that was never made: test files filled, fio's time, and what is around it.

    A job with a runtime takes that long, or one pass where it may end earlier. Jobs that run at the same time take as long
    as the longest of them, and share what the target can do.
    """
    turns = sum(_guess_turn(turn, speeds) for turn in agreement.groups_of(spec["jobs"]))
    return AROUND_RUN_S + fill_bytes(spec) / speeds.write + turns


def _guess_turn(turn: Sequence[dict[str, Any]], speeds: Speeds) -> float:
    one_pass = sum(_guess_pass(job, speeds) for job in turn if not job["time_based"])
    longest = 0.0
    for job in turn:
        runtime = job["runtime"]
        last = one_pass if runtime is None else runtime if job["time_based"] else min(runtime, one_pass)
        longest = max(longest, job["ramp_time"] + value_of(job, "startdelay") + last)
    return longest


def _guess_pass(job: dict[str, Any], speeds: Speeds) -> float:
    """Return how long a job takes that moves its bytes once and has the target for itself."""
    size = _bytes_of_work(job)
    one_pass = size / (speeds.write if _only_writes(job) else speeds.read)
    if job["rw"].startswith("rand") or job["sync"] in ("dsync", "sync"):
        one_pass = max(one_pass, size / min(agreement.block_sizes(job)) / speeds.accesses)
    return one_pass


def guess_written(spec: dict[str, Any], speeds: Speeds = USUAL_SPEEDS) -> float:
    """Return about how many bytes a run that was never made writes at most, its test files included."""
    total = float(fill_bytes(spec))
    for job in spec["jobs"]:
        if job["ioengine"] == "null" or job["rw"] in ("read", "randread"):
            continue
        one_pass = _bytes_of_work(job)
        share = 1.0 if _only_writes(job) else (100 - (50 if job["rwmixread"] is None else job["rwmixread"])) / 100
        seconds = (job["runtime"] or 0) + job["ramp_time"]
        total += share * (seconds * speeds.write if job["time_based"] else one_pass)
    return total


def _seconds_of_work(job: dict[str, Any]) -> float:
    """Return how long a job without a runtime may take on a slow disk, at its own rate and with its own pauses."""
    amount = value_of(job, "io_size") or job["file_size"]
    accesses = amount / min(agreement.block_sizes(job))
    seconds = amount * job["numjobs"] / SLOW_BYTES
    if job["rw"].startswith("rand") or job["sync"] != "none":
        seconds += accesses * job["numjobs"] / SLOW_ACCESSES
    limits = ((amount, job.get("rate", [])), (accesses, job.get("rate_iops", [])))
    slowest = [work / rate for work, rates in limits for rate in rates if rate]
    pauses = accesses / value_of(job, "thinktime_blocks") * value_of(job, "thinktime") / 1e6
    passes = value_of(job, "loops") * (2 if agreement.is_set(job, "verify") else 1)
    return float((max([seconds, *slowest]) + pauses) * passes)


def limit_seconds(spec: dict[str, Any]) -> int:
    """Return after how many seconds a run is overdue and stopped: three times the expected time and a margin."""
    return LIMIT_FACTOR * expected_seconds(spec) + settings.RUN_MARGIN


LEAST_MARGIN = 30  # seconds from the jobs' own runtime to a time limit
LONGEST_LIMIT = 30 * 86_400  # seconds; agent.conf of a host usually allows a day


def check_time_limit(value: Any, spec: dict[str, Any] | None = None) -> int | None:
    """Return a time limit in seconds; None where none was asked for, so that `limit_seconds` says it.

    Args:
        spec: A complete workload, whose jobs must have the time that they ask for.

    Raises:
        WorkloadError: It is no such number, or leaves the jobs' own runtime no margin: fio takes a while to begin and end.
    """
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= LONGEST_LIMIT:
        raise WorkloadError("time_limit", value, f"whole seconds from 1 to {LONGEST_LIMIT}")
    planned = planned_seconds(spec) if spec else None
    if planned is not None and value < (least := planned + LEAST_MARGIN):
        expected = f"at least {least}: the {planned} s that the jobs themselves run, and {LEAST_MARGIN} s for fio to begin and end"
        raise WorkloadError("time_limit", value, expected)
    return value


def files_bytes(spec: dict[str, Any]) -> int:
    """Return the size in bytes of the files of all jobs, which exist at the same time."""
    return sum(map(agreement.files_bytes, spec["jobs"]))


def may_be_cached(job: Mapping[str, Any], ram: int | None) -> bool:
    """Return whether a job may measure memory: it goes through the page cache, and its files fit into the RAM (bytes)."""
    return bool(ram and not job["direct"] and files_bytes({"jobs": [job]}) <= ram)


def may_some_be_cached(jobs: Sequence[dict[str, Any]], ram: int | None) -> bool:
    """Return whether some jobs that run at the same time may measure memory: they share the page cache."""
    buffered = [job for job in jobs if not job["direct"]]
    return bool(ram and buffered and files_bytes({"jobs": buffered}) <= ram)


def status_interval(spec: dict[str, Any]) -> int:
    """Return the seconds between fio's status documents: 1, or more so that a long run has at most about 600."""
    return max(1, (planned_seconds(spec) or 600) // 600)


def _sync_lines(job: dict[str, Any]) -> list[str]:
    every = job["fsync_every"] or 1
    return {
        "none": [],
        "fsync": [f"fsync={every}"],
        "fdatasync": [f"fdatasync={every}"],
        "dsync": ["sync=dsync"],
        "sync": ["sync=sync"],
    }[job["sync"]]


def _job_lines(job: dict[str, Any]) -> list[str]:
    own = (Written.WITH_SYNC, Written.WITH_BLOCK_SIZE, Written.WITH_PATTERN)
    lines = {
        written: [_line(option, job) for option in OPTIONS if option.written is written]
        for written in Written
        if written not in own
    }
    flat = [
        *lines[Written.ALWAYS],
        *lines[Written.IF_CHANGED],
        *lines[Written.IF_TRUE],
        *_sync_lines(job),
        *lines[Written.LAST],
    ]
    return [f"[{job['name']}]", *filter(None, flat)]


# What stands in the line of another option, and the sign before it.
BEHIND = {"block_size": ("write_block_size", ","), "rw": ("rw_step", ":")}


def _line(option: FioOption, job: dict[str, Any]) -> str:
    """Return the option's line in a job file, or an empty text where it has none."""
    value = job.get(option.name, option.default)
    if option.written is Written.IF_CHANGED and value == option.default:
        return ""
    if option.written in (Written.IF_TRUE, Written.LAST):
        return "" if not value else option.key if option.written is Written.LAST else f"{option.key}=1"
    name, sign = BEHIND.get(option.name, ("", ""))
    more = sign + BY_NAME[name].kind.spell(job[name]) if name in job else ""
    return f"{option.key}={option.kind.spell(value)}{more}"


def job_file(spec: dict[str, Any]) -> str:
    """Return the job file as fio spells it; the agent adds file names, clock and percentiles."""
    return "\n\n".join("\n".join(_job_lines(job)) for job in spec["jobs"]) + "\n"


def operations(
    words: Iterable[Any],
    descriptions: Iterable[Any],
    names: Iterable[str] = (),
    measured: Callable[[], Iterable[str]] = tuple,
) -> str:
    """Return what a run did: `randread + write`.

    Uses the jobs' `rw`, else the first of the run's own descriptions, else its sections' names, else what was
    measured, for which `measured` is called only then. The patterns of several jobs (`read + write`) describe less than
    the names that somebody gave them, which come before.
    """
    named = _some(dict.fromkeys(names))
    said = str(next(filter(None, descriptions), ""))
    if named and _PATTERNS.fullmatch(said):
        said = named
    return " + ".join(dict.fromkeys(map(str, words))) or said or named or _some(list(measured()))


def _some(names: Collection[str]) -> str:
    more = len(names) - MOST_NAMED
    return " + ".join([*islice(names, MOST_NAMED), *([f"{more} more"] if more > 0 else [])])
