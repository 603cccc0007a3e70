"""The typed workload: what fio may be asked for. Integers, booleans and words from fixed lists; no text of a person reaches a host.

The agent checks the same again against its own list and its host's policy, and renders the job file itself; `job_file` here only shows a
person what that will be.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import Any

import orjson

RW = ("read", "write", "randread", "randwrite", "rw", "randrw")
ENGINES = ("psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null")
SYNC = ("none", "fsync", "fdatasync", "dsync", "sync")
KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4
MAX_JOBS = 16
MOST_NAMED = 4
SAID = ("configuration", "rw", "caption")  # facts with an upload's own words for what it did, the first that has any


class WorkloadError(ValueError):
    """A workload that may not be sent: which field, what was found, what was expected."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}, expected {expected}")
        self.field, self.found, self.expected = field, found, expected


class UnknownOptionError(WorkloadError):
    """An option or a field that there is not; `names` are those that there are."""

    def __init__(self, where: str, name: object, found: object, names: Iterable[str]) -> None:
        given, known = f"{name}={found!r}", ", ".join(names)
        super().__init__(f"{where}.{name}" if where else str(name), given, f"one of: {known}")
        said = f"found {given}: there is no such option; there are {known}"
        self.args = (f"{where}: {said}" if where else said,)


Check = Callable[[str, Any], Any]


def _integer(low: int, high: int, *, multiple_of: int = 1, optional: bool = False) -> Check:
    expected = f"a whole number from {low} to {high}" + (f", a multiple of {multiple_of}" if multiple_of > 1 else "")

    def check(field: str, found: Any) -> Any:
        if found is None and optional:
            return None
        if type(found) is not int or not low <= found <= high or found % multiple_of:
            raise WorkloadError(field, found, expected)
        return found

    return check


def _word(words: tuple[str, ...]) -> Check:
    def check(field: str, found: Any) -> Any:
        if found not in words:
            raise WorkloadError(field, found, f"one of {', '.join(words)}")
        return found

    return check


def _boolean(field: str, found: Any) -> Any:
    if type(found) is not bool:
        raise WorkloadError(field, found, "true or false")
    return found


# field → (default, check). A field without a default (`...`) must be given.
FIELDS: dict[str, tuple[Any, Check]] = {
    "rw": (..., _word(RW)),
    "block_size": (..., _integer(512, 16 * MIB, multiple_of=512)),
    "file_size": (..., _integer(4 * KIB, 64 * TIB)),
    "iodepth": (1, _integer(1, 4096)),
    "numjobs": (1, _integer(1, 256)),
    "ioengine": ("psync", _word(ENGINES)),
    "direct": (True, _boolean),
    "runtime": (None, _integer(1, 86400, optional=True)),
    "time_based": (False, _boolean),
    "ramp_time": (0, _integer(0, 3600)),
    "rwmixread": (None, _integer(0, 100, optional=True)),
    "sync": ("none", _word(SYNC)),
    "fsync_every": (0, _integer(0, 1_000_000)),
    "end_fsync": (False, _boolean),
    "randseed": (None, _integer(1, 2**31 - 1, optional=True)),
    "stonewall": (True, _boolean),
    "group_reporting": (True, _boolean),
}


def _job(number: int, given: Any) -> dict[str, Any]:
    where = f"jobs[{number}]"
    if not isinstance(given, dict):
        raise WorkloadError(where, given, "an object of job options")
    for key in given:
        if key not in FIELDS and key != "name":
            raise UnknownOptionError(where, key, given[key], FIELDS)
    job: dict[str, Any] = {"name": f"job{number}"}
    for field, (default, check) in FIELDS.items():
        if default is ... and field not in given:
            raise WorkloadError(f"{where}.{field}", None, "a value; this option has no default")
        job[field] = check(f"{where}.{field}", given.get(field, default))
    return _consistent(where, job)


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
    """The workload with every option filled in, or `WorkloadError`. Shape in docs/agent-protocol.md."""
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
    """How long fio will run at most, where every job says so; None where one runs until its file is done."""
    total = 0
    for job in spec["jobs"]:
        if job["runtime"] is None:
            return None
        total += job["runtime"] + job["ramp_time"]
    return total


def files_bytes(spec: dict[str, Any]) -> int:
    """The files of all jobs, which exist at once."""
    return sum(job["file_size"] * job["numjobs"] for job in spec["jobs"] if job["ioengine"] != "null")


def status_interval(spec: dict[str, Any]) -> int:
    """Seconds between fio's progress documents: 1, longer for long runs so that at most about 600 are kept."""
    return max(1, (planned_seconds(spec) or 600) // 600)


def _size(count: int) -> str:
    for unit, letter in ((TIB, "t"), (GIB, "g"), (MIB, "m"), (KIB, "k")):
        if count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


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
    lines = [f"[{job['name']}]", f"rw={job['rw']}", f"bs={_size(job['block_size'])}", f"size={_size(job['file_size'])}"]
    lines += [f"{key}={job[key]}" for key in ("ioengine", "iodepth", "numjobs")] + [f"direct={int(job['direct'])}"]
    extras = ("runtime", "ramp_time", "rwmixread", "randseed")
    lines += [f"{key}={job[key]}" for key in extras if job[key] != FIELDS[key][0]]
    lines += [f"{key}=1" for key in ("time_based", "end_fsync", "group_reporting") if job[key]]
    lines += _sync_lines(job)
    return [*lines, *(["stonewall"] if job["stonewall"] else [])]


def job_file(spec: dict[str, Any]) -> str:
    """The job as fio would spell it. The agent adds the file names in its own directory and fixes clock and percentiles."""
    return "\n\n".join("\n".join(_job_lines(job)) for job in spec["jobs"]) + "\n"


def operations(
    words: Iterable[Any], said: Iterable[Any], names: Iterable[str] = (), measured: Callable[[], Iterable[str]] = tuple
) -> str:
    """`randread + write`: what the jobs do, once each, by their `rw`; or else the first of what the run itself says; or else
    what its sections are called; or else what was measured, which is asked for only then.
    """
    return (
        " + ".join(dict.fromkeys(map(str, words))) or str(next(filter(None, said), "")) or _some(dict.fromkeys(names))
        or _some(list(measured()))
    )  # fmt: skip


def _some(names: Collection[str]) -> str:
    more = len(names) - MOST_NAMED
    return " + ".join([*islice(names, MOST_NAMED), *([f"{more} more"] if more > 0 else [])])
