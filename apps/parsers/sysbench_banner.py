"""The banner of sysbench's fileio test: what it was asked to do.

128 files, 24Mb each              3Gb total file size              Block size 16Kb
Doing random r/w test             (sb_fileio.c, `file_print_mode` and `get_test_mode_str`)

Where requests are merged (--file-merged-requests), those of the sequential tests are as large as the line for that says, not
as a block (sb_fileio.c, `sb_get_seq_request`): that size is the `block_size` of their figures.

What is not printed is taken from the command line, where the report is its own: sizes there count 1024 (`KMGT` in either
case, whatever stands behind that letter: sb_options.c, `sb_opt_to_size`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.parsers.finite import INT4, whole
from apps.parsers.sysbench_report import whole_size

_SIZE = r"([\d.]{1,20}(?:e\+\d{1,2})?)([KMGTP]?)i?[bB]"
_THREADS = re.compile(r"^Number of threads: (\d{1,12})\s*$")
_TOTAL = re.compile(rf"^{_SIZE} total file size\s*$")
_BLOCK = re.compile(rf"^Block size {_SIZE}\s*$")
_MERGED = re.compile(rf"^Merging requests up to {_SIZE} for sequential IO\.\s*$")
_LIMIT = re.compile(r"^(?:Target transaction rate: (\d{1,9})/sec|Warmup time: (\d{1,9})s)\s*$")
_FLAGS = re.compile(r"^Extra file open flags: ([^\n]{1,60})")
_FILES = re.compile(r"^(\d{1,9}) files, \S{1,20} each\s*$")
_PERIODIC = re.compile(r"^Periodic FSYNC enabled, calling fsync\(\) each (\d{1,12}) requests\.?\s*$")
_RATIO = re.compile(r"^Read/Write ratio for combined random IO test: (\d{1,9}\.\d{2})")
_ENGINE = re.compile(r"^Using (synchronous|asynchronous|(?:fast|slow) mmaped) I/O mode")
_MODE = re.compile(r"^Doing (.{1,40}) test\s*$")

_OPERATIONS: dict[str, tuple[str, ...]] = {
    "sequential write (creation)": ("write",), "sequential rewrite": ("rewrite",), "sequential read": ("read",),
    "random read": ("randread",), "random write": ("randwrite",), "random r/w": ("randread", "randwrite"),
}  # fmt: skip
_ASKED = re.compile(r"--file-test-mode=(\w{1,10})")
_OPTION = re.compile(
    r"--(num-threads|threads|max-time|time|file-num|file-total-size|file-block-size|file-extra-flags)=(\S{1,30})"
)
_ASKED_SIZE = re.compile(r"(\d{1,15})(?:([KMGT])[A-Za-z]{0,3})?", re.IGNORECASE)
_MODES = {"seqwr": "sequential write (creation)", "seqrewr": "sequential rewrite", "seqrd": "sequential read",
          "rndrd": "random read", "rndwr": "random write", "rndrw": "random r/w"}  # fmt: skip
_RW = {"sequential write (creation)": "write", "sequential rewrite": "write", "sequential read": "read",
       "random read": "randread", "random write": "randwrite", "random r/w": "randrw"}  # fmt: skip
_DAMAGED = re.compile(
    r"Number of threads:|\S{1,20} files, \S+ each|\S{1,20} total file size|Block size \S|Periodic FSYNC enabled|Read/Write ratio for "
)
_ENGINES = {"synchronous": "sync", "asynchronous": "libaio", "fast mmaped": "mmap", "slow mmaped": "mmap"}


@dataclass(slots=True)
class Banner:
    threads: int | None = None
    file_size: int | None = None
    block_size: int | None = None
    merged: int | None = None  # bytes of a request of a sequential test
    operations: tuple[str, ...] = ()
    workload: dict[str, str | int | float] = field(default_factory=dict)
    damaged: list[tuple[int, str]] = field(default_factory=list)  # line, what stands there


def read_banner(lines: Sequence[tuple[int, str]], command: str = "", is_own: bool = True) -> Banner:
    """Where the banner was cut off, the command line says the mode, and the sizes if the report is its own."""
    banner = Banner()
    for number, line in lines:
        if not _read(banner, line) and _DAMAGED.match(line):
            banner.damaged.append((number, line))
        if banner.operations:
            break
    if not banner.operations and (asked := _ASKED.search(command)) and asked[1] in _MODES:
        _read(banner, f"Doing {_MODES[asked[1]]} test")
    if is_own and " run" in command:
        _ask(banner, dict(_OPTION.findall(command)))
    if banner.merged and banner.block_size and banner.workload.get("rw") in ("read", "write"):
        banner.workload["merged_requests"] = banner.merged // banner.block_size
        banner.block_size = banner.merged
    for name in ("file_size", "block_size"):
        if (value := getattr(banner, name)) is not None:
            banner.workload[name] = value
    if banner.threads is not None:
        banner.workload["numjobs"] = banner.threads
    return banner


def asks_otherwise(command: str, banner: Banner) -> bool:
    """Whether the command line is one of another test: of those with none of their own, the last one above is shown."""
    asked = _ASKED.search(command)
    return asked is not None and asked[1] in _MODES and _RW[_MODES[asked[1]]] != banner.workload.get("rw")


def _ask(banner: Banner, options: dict[str, str]) -> None:
    """What the command line says of the facts that no line of the banner does."""
    if banner.threads is None:
        banner.threads = _count(options.get("threads") or options.get("num-threads", ""))
    if banner.file_size is None:
        banner.file_size = _asked_size(options.get("file-total-size", ""))
    if banner.block_size is None:
        banner.block_size = _asked_size(options.get("file-block-size", ""))
    for name, word in (
        ("nrfiles", options.get("file-num")),
        ("runtime", options.get("time") or options.get("max-time")),
    ):
        if count := _count(word or ""):
            banner.workload.setdefault(name, count)
    if {"direct", "directio"} & set(options.get("file-extra-flags", "").split(",")):
        banner.workload["direct"] = 1  # which the banner of 0.4 and 0.5 has in a number


def _count(word: str) -> int | None:
    return whole(word, INT4) if word.isascii() and word.isdecimal() else None


def _asked_size(word: str) -> int | None:
    match = _ASKED_SIZE.fullmatch(word)
    return whole_size(match[1], (match[2] or "").upper()) if match else None


def _read(banner: Banner, line: str) -> bool:
    """Whether the line says something."""
    told = banner.workload
    if match := _THREADS.match(line):
        banner.threads = whole(match[1], INT4)
    elif match := _TOTAL.match(line):
        banner.file_size = whole_size(match[1], match[2])
    elif match := _BLOCK.match(line):
        banner.block_size = whole_size(match[1], match[2])
    elif match := _MERGED.match(line):
        banner.merged = whole_size(match[1], match[2])
    elif match := _FILES.match(line):
        told["nrfiles"] = int(match[1])
    elif match := _FLAGS.match(line):
        _flags(told, match[1].split())
    elif match := _ENGINE.match(line):
        told["ioengine"] = _ENGINES[match[1]]
    elif match := _LIMIT.match(line):
        told["rate_iops" if match[1] else "ramp_time"] = int(match[1] or match[2])
    elif match := _RATIO.match(line):
        told["read_write_ratio"] = float(match[1])
    elif match := _MODE.match(line):
        banner.operations = _OPERATIONS.get(match[1], ())
        if match[1] in _RW:
            told["rw"] = _RW[match[1]]
    else:
        return _fsync(told, line)
    return True


def _flags(told: dict[str, str | int | float], words: Sequence[str]) -> None:
    if "directio" in words:
        told["direct"] = 1
    for flag in ("sync", "dsync"):
        if flag in words:
            told["sync"] = flag
    if words and words[0] not in ("(none)", "0", "sync", "dsync", "directio"):
        told["open_flags"] = " ".join(words)


def _fsync(told: dict[str, str | int | float], line: str) -> bool:
    if match := _PERIODIC.match(line):
        told["fsync"] = int(match[1])
    elif line.startswith("Calling fsync() at the end of test"):
        told["end_fsync"] = 1
    elif line.startswith("Calling fsync() after each write operation"):
        told["fsync"] = 1
    else:
        return False
    return True
