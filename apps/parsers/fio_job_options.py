"""The options of a fio job that Spindle runs, read from the words of a job file into those of `apps.runs.workload`; and
why others are none.
"""

import re
from collections.abc import Callable
from typing import Any

from apps.parsers.fio_options import bytes_of, loses_unit, seconds_of
from apps.parsers.fio_workload import SYNC_WORDS

_WORDS_OF_RW = {
    "read": "read", "write": "write", "randread": "randread", "randwrite": "randwrite",
    "rw": "rw", "readwrite": "rw", "randrw": "randrw",
}  # fmt: skip
_ENGINES = ("psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null")
_CHOSEN = re.compile(
    r"(?:filename|directory|filename_format|unique_filename|opendir|name|description|write_\w+_log|log_\w+|per_job_logs|"
    r"disk_util|kb_base|unit_base|disable_\w+|clocksource|gtod_\w+|unlink|allow_\w+|significant_figures)\Z"
)
_RUNS_CODE = re.compile(
    r"(?:exec_\w+|uid|gid|cgroup\w*|profile|read_iolog\w*|write_iolog|replay_\w+|merge_\w+|program)\Z"
)


class RefusedError(ValueError):
    """Why a value is not taken: what was expected."""


def taken(name: str, value: str | None, kb_base: int) -> dict[str, Any]:
    if value is not None and "$" in value:
        raise RefusedError("no variables and no arithmetic")
    if value is None and name not in _FLAGS:
        raise RefusedError("a value")
    if loses_unit(value or ""):
        raise RefusedError("no blank before a number with a unit: fio does not see the unit then")
    return READERS[name]((value or "").strip(), kb_base)


ALIASES = {
    "readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "timeout": "runtime", "wait_for_previous": "stonewall",
}  # fmt: skip
KEYS = {
    "bs": "block_size", "bsrange": "block_size", "bssplit": "block_size", "size": "file_size", "filesize": "file_size", "buffered": "direct",
    "rwmixwrite": "rwmixread", "fsync": "fsync_every",
    "fdatasync": "fsync_every",
}  # fmt: skip
OVER_BS = ("bsrange", "bssplit")  # fio takes them and not bs, whichever stands first (`fixup_options` in init.c)
SYNCS = ("sync", "fsync", "fdatasync")
_FLAGS = ("time_based", "end_fsync", "stonewall", "group_reporting", "direct")
DEFAULTS: dict[str, Any] = {
    "rw": "read", "block_size": 4096, "direct": False, "stonewall": False, "group_reporting": False,
}  # fmt: skip
_TRUE, _FALSE = ("", "1", "true", "yes"), ("0", "false", "no")


def _flag(value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        raise RefusedError("1 or 0")
    return value.lower() in _TRUE


def _whole(value: str, kb_base: int) -> int:
    count = bytes_of(value, kb_base)
    if count is None:
        raise RefusedError("one whole number")
    return count


def _size(value: str, kb_base: int) -> int:
    parts = {bytes_of(part, kb_base) for part in value.split(",", 3)}
    size = parts.pop() if len(parts) == 1 else None
    if not size:
        raise RefusedError("one size for reads and writes, like 4k")
    return size


def _range(value: str, kb_base: int) -> int:
    """`4k-4k,4k-4k` is one size too: the least and the largest of reads, writes and trims."""
    ends = [part.split("-", 2) for part in value.split(",", 3)]
    sizes = {bytes_of(end, kb_base) for part in ends for end in part}
    size = sizes.pop() if len(sizes) == 1 and {len(part) for part in ends} == {2} else None
    if not size:
        raise RefusedError("one size for all, like 4k")
    return size


def _split(value: str, kb_base: int) -> dict[str, Any]:
    raise RefusedError("one size for all, like 4k")


def _seconds(value: str) -> int:
    seconds = seconds_of(value)
    if seconds is None or seconds < 0 or not float(seconds).is_integer():
        raise RefusedError("whole seconds")
    return int(seconds)


def _word(value: str, words: dict[str, str]) -> str:
    if value not in words:
        raise RefusedError("one of " + ", ".join(words))
    return words[value]


def _flushes(word: str) -> Callable[[str, int], dict[str, Any]]:
    def read(value: str, kb_base: int) -> dict[str, Any]:
        every = _whole(value, kb_base)
        return {"sync": word, "fsync_every": every} if every else {}

    return read


READERS: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "rw": lambda value, _: {"rw": _word(value, _WORDS_OF_RW)},
    "bs": lambda value, base: {"block_size": _size(value, base)},
    "bsrange": lambda value, base: {"block_size": _range(value, base)},
    "bssplit": _split,
    "size": lambda value, base: {"file_size": _size(value, base)},
    "filesize": lambda value, base: {"file_size": _size(value, base)},
    "iodepth": lambda value, base: {"iodepth": _whole(value, base)},
    "numjobs": lambda value, base: {"numjobs": _whole(value, base)},
    "ioengine": lambda value, _: {"ioengine": _word(value, dict(zip(_ENGINES, _ENGINES, strict=True)))},
    "direct": lambda value, _: {"direct": _flag(value)},
    "buffered": lambda value, _: {"direct": not _flag(value)},
    "runtime": lambda value, _: {"runtime": _seconds(value) or None},
    "ramp_time": lambda value, _: {"ramp_time": _seconds(value)},
    "time_based": lambda value, _: {"time_based": _flag(value)},
    "end_fsync": lambda value, _: {"end_fsync": _flag(value)},
    "stonewall": lambda value, _: {"stonewall": _flag(value)},
    "group_reporting": lambda value, _: {"group_reporting": _flag(value)},
    "rwmixread": lambda value, base: {"rwmixread": _whole(value, base)},
    "rwmixwrite": lambda value, base: {"rwmixread": 100 - _whole(value, base)},
    "randseed": lambda value, base: {"randseed": _whole(value, base)},
    "sync": lambda value, _: {"sync": _word(value.lower(), SYNC_WORDS)},
    "fsync": _flushes("fsync"),
    "fdatasync": _flushes("fdatasync"),
}


def reason(name: str) -> str:
    """Why an option is none that Spindle runs."""
    if name == "include":
        return "no other files: their options in this one"
    if _RUNS_CODE.match(name):
        return "nothing that runs programs, replays traces or changes who fio runs as"
    if _CHOSEN.match(name) or "percentile" in name:
        return "nothing: Spindle sets this itself"
    return "an option that Spindle runs"
