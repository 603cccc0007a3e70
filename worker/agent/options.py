"""The options of fio that this host knows: the values of each, and when it stands in the job file.

A key that is not in OPTIONS is refused by name, so that a new option of fio or of the server adds nothing here.
"""

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

MIB = 1024 * 1024
TIB = 1024 * 1024 * MIB
Check = Callable[[Any], bool]
Rule = Tuple[str, Check]  # what is allowed, in words and as a function


def integer(low: int, high: int, step: int = 1) -> Rule:
    words = f"a whole number from {low} to {high}" + (f", a multiple of {step}" if step > 1 else "")
    return words, lambda value: type(value) is int and low <= value <= high and value % step == 0


def word(*words: str) -> Rule:
    return "one of " + ", ".join(words), lambda value: type(value) is str and value in words


def boolean() -> Rule:
    return "true or false", lambda value: type(value) is bool


def or_null(rule: Rule) -> Rule:
    words, check = rule
    return words + ", or null", lambda value: value is None or check(value)


REQUIRED = object()
# When the job file has the option: always, if it is not null, if it is not zero or false. `sync` and `fsync_every` make a
# line together, which render.py writes.
ALWAYS, NOT_NULL, NOT_ZERO, WITH_SYNC = "always", "not null", "not zero", "with sync"


class AgentOption(NamedTuple):
    """An option: its rule, the value when it is left out, when it is written, and fio's name for it."""

    rule: Rule
    default: Any
    written: str
    fio_name: str


ENGINES = ("psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null")

# `name` is checked apart: it is made from the job's position. The order is that of the job file.
OPTIONS: Dict[str, AgentOption] = {
    "rw": AgentOption(word("read", "write", "randread", "randwrite", "rw", "randrw"), REQUIRED, ALWAYS, "rw"),
    "block_size": AgentOption(integer(512, 16 * MIB, 512), REQUIRED, ALWAYS, "bs"),
    "file_size": AgentOption(integer(4096, 64 * TIB), REQUIRED, ALWAYS, "size"),
    "ioengine": AgentOption(word(*ENGINES), REQUIRED, ALWAYS, "ioengine"),
    "iodepth": AgentOption(integer(1, 4096), 1, ALWAYS, "iodepth"),
    "numjobs": AgentOption(integer(1, 256), 1, ALWAYS, "numjobs"),
    "direct": AgentOption(boolean(), False, ALWAYS, "direct"),
    "runtime": AgentOption(or_null(integer(1, 366 * 86400)), None, NOT_NULL, "runtime"),
    "rwmixread": AgentOption(or_null(integer(0, 100)), None, NOT_NULL, "rwmixread"),
    "randseed": AgentOption(or_null(integer(1, 2**31 - 1)), None, NOT_NULL, "randseed"),
    "ramp_time": AgentOption(integer(0, 86400), 0, NOT_ZERO, "ramp_time"),
    "sync": AgentOption(word("none", "fsync", "fdatasync", "dsync", "sync"), "none", WITH_SYNC, "sync"),
    "fsync_every": AgentOption(integer(0, 1000000), 0, WITH_SYNC, "fsync"),
    "time_based": AgentOption(boolean(), False, NOT_ZERO, "time_based"),
    "end_fsync": AgentOption(boolean(), False, NOT_ZERO, "end_fsync"),
    "group_reporting": AgentOption(boolean(), True, NOT_ZERO, "group_reporting"),
    "stonewall": AgentOption(boolean(), True, NOT_ZERO, "stonewall"),
}


def lines_of(job: Dict[str, Any]) -> List[Tuple[str, object]]:
    """Return fio's options of a checked job with their values, in order, but for those that the agent adds."""
    lines: List[Tuple[str, object]] = []
    for key, option in OPTIONS.items():
        value = job[key]
        if option.written == WITH_SYNC:
            lines += _sync(job) if key == "sync" else []
        elif option.written == ALWAYS or (value is not None if option.written == NOT_NULL else value):
            lines.append((option.fio_name, int(value) if type(value) is bool else value))
    return lines


def _sync(job: Dict[str, Any]) -> List[Tuple[str, object]]:
    if job["sync"] in ("fsync", "fdatasync"):
        return [(job["sync"], job["fsync_every"] or 1)]
    return [] if job["sync"] == "none" else [("sync", job["sync"])]
