"""The workload of a run: the fio options that may be asked for, their checks, and the job file.

Options are integers, booleans and words from fixed lists; no text of a person reaches a host. The agent checks them again
against its own list and its host's policy and writes the job file itself; `job_file` here only shows what it will be.
Sizes are whole bytes; `read_sizes` makes them of what people type (`4k`, `100 MiB`).
"""

import hashlib
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson
from django.conf import settings

from apps.core.quantities import SizeError, parse_size, spell_size
from apps.runs.fio_options import BY_NAME, OPTIONS, PATTERNS, REQUIRED, SYNCS, ByteSize, FioOption, Written
from apps.runs.fio_options import GIB as GIB
from apps.runs.fio_options import KIB as KIB
from apps.runs.fio_options import MIB as MIB

RW, SYNC = tuple(PATTERNS), tuple(SYNCS)
MAX_JOBS = 16
MOST_NAMED = 4
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
            raise UnknownOptionError(where, key, given[key], BY_NAME)
    job: dict[str, Any] = {"name": f"job{number}"}
    for option in OPTIONS:
        if option.default is REQUIRED and option.name not in given:
            raise WorkloadError(f"{where}.{option.name}", None, "a value; this option has no default")
        job[option.name] = check_option(f"{where}.{option.name}", option, given.get(option.name, option.default))
    return _consistent(where, job)


SIZES = tuple(option.name for option in OPTIONS if isinstance(option.kind, ByteSize))


def read_sizes(spec: Any) -> Any:
    """Return the workload with sizes that are texts, such as `4k` or `10 GiB`, as whole bytes; all else is as it was.

    Raises:
        WorkloadError: A text is no such size, or the option does not take a size that large or small.
    """
    jobs = spec.get("jobs") if isinstance(spec, dict) else None
    if not isinstance(jobs, list):
        return spec
    return {**spec, "jobs": [_read_sizes(f"jobs[{number}]", job) for number, job in enumerate(jobs)]}


def _read_sizes(where: str, job: Any) -> Any:
    texts = [name for name in SIZES if isinstance(job, dict) and isinstance(job.get(name), str)]
    return {**job, **{name: _read_size(f"{where}.{name}", name, job[name]) for name in texts}} if texts else job


def _read_size(field: str, name: str, text: str) -> Any:
    shown = text[:80]
    try:
        return check_option(field, BY_NAME[name], parse_size(text))
    except SizeError as error:
        raise WorkloadError(field, shown, error.expected) from None
    except WorkloadError as error:
        raise WorkloadError(field, shown, error.expected) from None


def _consistent(where: str, job: dict[str, Any]) -> dict[str, Any]:
    if job["time_based"] and job["runtime"] is None:
        raise WorkloadError(f"{where}.time_based", True, "a runtime, when the run is based on time")
    if job["block_size"] > job["file_size"]:
        raise WorkloadError(f"{where}.block_size", job["block_size"], f"at most the file size, {job['file_size']}")
    if job["iodepth"] > 1 and job["ioengine"] in ("psync", "sync", "pvsync", "pvsync2", "mmap"):
        raise WorkloadError(f"{where}.iodepth", job["iodepth"], f"1: {job['ioengine']} has one I/O under way at a time")
    if job["direct"] and job["ioengine"] == "mmap":
        raise WorkloadError(f"{where}.direct", True, "false: mmap goes through the page cache")
    if job["fsync_every"] and job["sync"] not in ("fsync", "fdatasync"):
        raise WorkloadError(f"{where}.fsync_every", job["fsync_every"], "0, unless sync is fsync or fdatasync")
    if job["rwmixread"] is not None and job["rw"] not in ("rw", "randrw"):
        raise WorkloadError(f"{where}.rwmixread", job["rwmixread"], "no mix, unless rw is rw or randrw")
    return job


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
    return {"tool": "fio", "jobs": [_job(number, job) for number, job in enumerate(jobs)]}


def digest(spec: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(spec, option=orjson.OPT_SORT_KEYS)).hexdigest()


def planned_seconds(spec: dict[str, Any]) -> int | None:
    """Return the longest time fio will run, or None where a job has no runtime."""
    total = 0
    for job in spec["jobs"]:
        if job["runtime"] is None:
            return None
        total += job["runtime"] + job["ramp_time"]
    return total


# A disk of long ago at its worst: 100 accesses in a second, 20 MB/s in a row. Only how long a run may take is reckoned with it.
SLOW_ACCESSES, SLOW_BYTES = 100, 20_000_000
LIMIT_FACTOR = 3


def expected_seconds(spec: dict[str, Any]) -> int:
    """Return how long fio may take on a slow disk: the jobs' runtimes, or one pass over their files."""
    total = 0.0
    for job in spec["jobs"]:
        size = job["file_size"] * job["numjobs"]
        one_pass = size / SLOW_BYTES
        if job["rw"].startswith("rand") or job["sync"] != "none":
            one_pass += size / job["block_size"] / SLOW_ACCESSES
        last = size / SLOW_BYTES if job["end_fsync"] else 0.0
        total += job["ramp_time"] + last + (one_pass if job["runtime"] is None else job["runtime"])
    return math.ceil(total)


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


def _only_writes(job: dict[str, Any]) -> bool:
    return job["rw"] in ("write", "randwrite")


def guess_seconds(spec: dict[str, Any], speeds: Speeds = USUAL_SPEEDS) -> float:
    """Return about how long a run takes that was never made: test files filled, fio's time, and what is around it.

    A job with a runtime takes that long, or one pass where it may end earlier.
    """
    total = AROUND_RUN_S + fill_bytes(spec) / speeds.write
    for job in spec["jobs"]:
        size = job["file_size"] * job["numjobs"]
        one_pass = size / (speeds.write if _only_writes(job) else speeds.read)
        if job["rw"].startswith("rand") or job["sync"] in ("dsync", "sync"):
            one_pass = max(one_pass, size / job["block_size"] / speeds.accesses)
        runtime = job["runtime"]
        last = one_pass if runtime is None else runtime if job["time_based"] else min(runtime, one_pass)
        total += job["ramp_time"] + last
    return total


def guess_written(spec: dict[str, Any], speeds: Speeds = USUAL_SPEEDS) -> float:
    """Return about how many bytes a run that was never made writes at most, its test files included."""
    total = float(fill_bytes(spec))
    for job in spec["jobs"]:
        if job["ioengine"] == "null" or job["rw"] in ("read", "randread"):
            continue
        one_pass = job["file_size"] * job["numjobs"]
        share = 1.0 if _only_writes(job) else (100 - (50 if job["rwmixread"] is None else job["rwmixread"])) / 100
        seconds = (job["runtime"] or 0) + job["ramp_time"]
        total += share * (seconds * speeds.write if job["time_based"] else one_pass)
    return total


def limit_seconds(spec: dict[str, Any]) -> int:
    """Return after how many seconds a run is overdue and stopped: three times the expected time and a margin."""
    return LIMIT_FACTOR * expected_seconds(spec) + settings.RUN_MARGIN


def files_bytes(spec: dict[str, Any]) -> int:
    """Return the size in bytes of the files of all jobs, which exist at the same time."""
    return sum(job["file_size"] * job["numjobs"] for job in spec["jobs"] if job["ioengine"] != "null")


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
    lines = {written: [_line(option, job) for option in OPTIONS if option.written is written] for written in Written}
    flat = [
        *lines[Written.ALWAYS],
        *lines[Written.IF_CHANGED],
        *lines[Written.IF_TRUE],
        *_sync_lines(job),
        *lines[Written.LAST],
    ]
    return [f"[{job['name']}]", *filter(None, flat)]


def _line(option: FioOption, job: dict[str, Any]) -> str:
    """Return the option's line in a job file, or an empty text where it has none."""
    value = job[option.name]
    if option.written is Written.IF_CHANGED and value == option.default:
        return ""
    if option.written in (Written.IF_TRUE, Written.LAST):
        return "" if not value else option.key if option.written is Written.LAST else f"{option.key}=1"
    return f"{option.key}={spell_size(value) if isinstance(option.kind, ByteSize) else int(value) if value is True or value is False else value}"


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
    measured, for
    which `measured` is called only then.
    """
    return (
        " + ".join(dict.fromkeys(map(str, words))) or str(next(filter(None, descriptions), "")) or _some(dict.fromkeys(names))
        or _some(list(measured()))
    )  # fmt: skip


def _some(names: Collection[str]) -> str:
    more = len(names) - MOST_NAMED
    return " + ".join([*islice(names, MOST_NAMED), *([f"{more} more"] if more > 0 else [])])
