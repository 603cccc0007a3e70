"""The banner of sysbench's fileio test: what it was asked to do.

    128 files, 24Mb each              3Gb total file size              Block size 16Kb Doing random r/w test
    (sb_fileio.c, `file_print_mode` and `get_test_mode_str`)

Where requests are merged (--file-merged-requests), those of the sequential tests have the size in the line about
merging, not that of a block (sb_fileio.c, `sb_get_seq_request`): that size is the `block_size` of their figures.

What is not printed is taken from the command line, if the report belongs to it: sizes there count 1024 (`KMGT` in
either case, whatever follows that letter: sb_options.c, `sb_opt_to_size`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.parsers.core.numbers import INT4, read_whole
from apps.parsers.sysbench.report import parse_whole_size

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
_MODE_OPTION = re.compile(r"--file-test-mode=(\w{1,10})")
_OPTION = re.compile(
    r"--(num-threads|threads|max-time|time|file-num|file-total-size|file-block-size|file-extra-flags)=(\S{1,30})"
)
_OPTION_SIZE = re.compile(r"(\d{1,15})(?:([KMGT])[A-Za-z]{0,3})?", re.IGNORECASE)
_MODES = {"seqwr": "sequential write (creation)", "seqrewr": "sequential rewrite", "seqrd": "sequential read",
          "rndrd": "random read", "rndwr": "random write", "rndrw": "random r/w"}  # fmt: skip
_RW = {"sequential write (creation)": "write", "sequential rewrite": "write", "sequential read": "read",
       "random read": "randread", "random write": "randwrite", "random r/w": "randrw"}  # fmt: skip
_DAMAGED = re.compile(
    r"Number of threads:|\S{1,20} files, \S+ each|\S{1,20} total file size|Block size \S|Periodic FSYNC enabled|Read/Write ratio for "
)
_ENGINES = {"synchronous": "sync", "asynchronous": "libaio", "fast mmaped": "mmap", "slow mmaped": "mmap"}


@dataclass(slots=True)
class SysbenchBanner:
    """What the banner and the command line state."""

    threads: int | None = None
    file_size: int | None = None
    block_size: int | None = None
    merged: int | None = None  # bytes of a merged request of a sequential test
    operations: tuple[str, ...] = ()
    workload: dict[str, str | int | float] = field(default_factory=dict)
    damaged: list[tuple[int, str]] = field(default_factory=list)  # line, what stands there


def read_banner(lines: Sequence[tuple[int, str]], command: str = "", is_own: bool = True) -> SysbenchBanner:
    """Read the banner; where it was cut off, the mode comes from the command line, and the sizes if the report belongs to it."""
    banner = SysbenchBanner()
    for number, line in lines:
        if not _read_line(banner, line) and _DAMAGED.match(line):
            banner.damaged.append((number, line))
        if banner.operations:
            break
    if not banner.operations and (mode := _MODE_OPTION.search(command)) and mode[1] in _MODES:
        _read_line(banner, f"Doing {_MODES[mode[1]]} test")
    if is_own and " run" in command:
        _read_options(banner, dict(_OPTION.findall(command)))
    if banner.merged and banner.block_size and banner.workload.get("rw") in ("read", "write"):
        banner.workload["merged_requests"] = banner.merged // banner.block_size
        banner.block_size = banner.merged
    for name in ("file_size", "block_size"):
        if (value := getattr(banner, name)) is not None:
            banner.workload[name] = value
    if banner.threads is not None:
        banner.workload["numjobs"] = banner.threads
    return banner


def is_of_another_test(command: str, banner: SysbenchBanner) -> bool:
    """Return whether the command line is that of another test; reports without a command get the last one above."""
    mode = _MODE_OPTION.search(command)
    return mode is not None and mode[1] in _MODES and _RW[_MODES[mode[1]]] != banner.workload.get("rw")


def _read_options(banner: SysbenchBanner, options: dict[str, str]) -> None:
    """Read from the command line what no line of the banner states."""
    if banner.threads is None:
        banner.threads = _parse_count(options.get("threads") or options.get("num-threads", ""))
    if banner.file_size is None:
        banner.file_size = _parse_option_size(options.get("file-total-size", ""))
    if banner.block_size is None:
        banner.block_size = _parse_option_size(options.get("file-block-size", ""))
    for name, word in (
        ("nrfiles", options.get("file-num")),
        ("runtime", options.get("time") or options.get("max-time")),
    ):
        if count := _parse_count(word or ""):
            banner.workload.setdefault(name, count)
    if {"direct", "directio"} & set(options.get("file-extra-flags", "").split(",")):
        banner.workload["direct"] = 1  # the banner of 0.4 and 0.5 prints it as a number


def _parse_count(word: str) -> int | None:
    return read_whole(word, INT4) if word.isascii() and word.isdecimal() else None


def _parse_option_size(word: str) -> int | None:
    match = _OPTION_SIZE.fullmatch(word)
    return parse_whole_size(match[1], (match[2] or "").upper()) if match else None


def _read_line(banner: SysbenchBanner, line: str) -> bool:
    """Read a line of the banner; return whether it is one."""
    workload = banner.workload
    if match := _THREADS.match(line):
        banner.threads = read_whole(match[1], INT4)
    elif match := _TOTAL.match(line):
        banner.file_size = parse_whole_size(match[1], match[2])
    elif match := _BLOCK.match(line):
        banner.block_size = parse_whole_size(match[1], match[2])
    elif match := _MERGED.match(line):
        banner.merged = parse_whole_size(match[1], match[2])
    elif match := _FILES.match(line):
        workload["nrfiles"] = int(match[1])
    elif match := _FLAGS.match(line):
        _read_flags(workload, match[1].split())
    elif match := _ENGINE.match(line):
        workload["ioengine"] = _ENGINES[match[1]]
    elif match := _LIMIT.match(line):
        workload["rate_iops" if match[1] else "ramp_time"] = int(match[1] or match[2])
    elif match := _RATIO.match(line):
        workload["read_write_ratio"] = float(match[1])
    elif match := _MODE.match(line):
        banner.operations = _OPERATIONS.get(match[1], ())
        if match[1] in _RW:
            workload["rw"] = _RW[match[1]]
    else:
        return _read_fsync(workload, line)
    return True


def _read_flags(workload: dict[str, str | int | float], words: Sequence[str]) -> None:
    if "directio" in words:
        workload["direct"] = 1
    for flag in ("sync", "dsync"):
        if flag in words:
            workload["sync"] = flag
    if words and words[0] not in ("(none)", "0", "sync", "dsync", "directio"):
        workload["open_flags"] = " ".join(words)


def _read_fsync(workload: dict[str, str | int | float], line: str) -> bool:
    if match := _PERIODIC.match(line):
        workload["fsync"] = int(match[1])
    elif line.startswith("Calling fsync() at the end of test"):
        workload["end_fsync"] = 1
    elif line.startswith("Calling fsync() after each write operation"):
        workload["fsync"] = 1
    else:
        return False
    return True
