"""How facts and points are called and written for people. A fact that is not listed is called by its own name."""

import re
from typing import Any

from apps.comparison.readings import FILE_SIZE_OVER_RAM
from apps.core import units
from apps.runs.activity import RATES
from apps.runs.fio_options import BY_NAME

UNKNOWN = "unknown"
TIME = "time"  # of the end of a run, by the day (UTC)
LABELS = {
    "label": "configuration or host",
    "architecture": "architecture (word size)",
    "cpu": "CPU",
    "os": "OS",
    TIME: "time (day)",
    "file_size": "file size",
    "block_size": "block size",
    "iodepth": "I/O depth",
    FILE_SIZE_OVER_RAM: "file size ÷ RAM",
    "ram": "RAM",
    "raid_level": "RAID level",
    "raid_implementation": "RAID implementation",
    "controller_cache": "controller cache",
    "io_scheduler": "I/O scheduler",
    "read_ahead": "read-ahead",
    "drive_write_cache": "drive write cache",
    "cpu_governor": "CPU governor",
    "mkfs_options": "mkfs options",
    "mount_options": "mount options",
    "chunk_size": "chunk size",
    "disk_model": "disk model",
    "disk_count": "disks",
    "tool_version": "tool version",
    "fio_job": "job",
    "job_file": "file",
    "jobs_at_once": "jobs at the same time",
    "points": "measuring points",
    "rw": "fio's pattern",
    "ioengine": "I/O engine",
    "direct": "direct I/O",
    "numjobs": "parallel jobs",
    "nrfiles": "files of a job",
    "num_files": "number of files",
    "num_directories": "number of directories",
    "num_streams": "number of streams",
    "runtime": "runtime in seconds",
    "ramp_time": "ramp time in seconds",
    "rwmixread": "share of reads",
    "fsync": "fsync after so many writes",
    "fsync_every": "sync after so many writes",
    "end_fsync": "fsync at the end",
    "randseed": "random seed",
    "rate_iops": "limit of IOPS",
    "os_version": "OS version",
    "disk_rpm": "disk's turns per minute",
}
IN_BYTES = {
    "file_size",
    "block_size",
    "ram",
    "controller_cache",
    "chunk_size",
    "disk_capacity",
    "disk_cache",
    "read_ahead",
}
YES_OR_NO = {"direct", "rotational", "time_based", "end_fsync"}  # facts that are stored as 0 or 1
OPERATIONS = {"randread": "random read", "randwrite": "random write"}


def label_of(name: str) -> str:
    """Return what a fact is called: as listed here, as the start form calls an option of fio, or by its own name."""
    option = BY_NAME.get(name)
    return LABELS.get(name) or (option.label if option else "") or name.replace("_", " ")


def operation_of(name: str) -> str:
    return OPERATIONS.get(name, name.replace("_", " "))


def text_of(name: str, value: Any) -> str:
    """Format a value of a fact: `1 GiB` for a size, `1.20 MB/s` for a rate, `unknown` for None, `yes` and `no`."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(text_of(name, item) for item in value)
    if isinstance(value, int | float) and name in IN_BYTES:
        return units.size(value)
    if isinstance(value, int | float) and name in RATES:
        return units.human(value, "B/s")
    if isinstance(value, int | float):
        return units.plain(value) if isinstance(value, int) else units.significant(value)
    return str(value)


def natural(value: Any) -> tuple[int, float, tuple[tuple[bool, int, str, str], ...]]:
    """Order for mixed values: numbers by size, then words with their numbers by size (sda2 before sda10), unknown last."""
    if value is None:
        return 2, 0.0, ()
    if isinstance(value, int | float):
        return 0, float(value), ()
    parts = re.findall(r"\d+|\D+", str(value))
    return 1, 0.0, tuple(_by_size(part) for part in parts)


def _by_size(part: str) -> tuple[bool, int, str, str]:
    """Order for a run of digits: of two without leading zeros the longer is the larger, and none is too long for this."""
    digits = part.lstrip("0") if part.isdecimal() else ""
    return part.isdigit(), len(digits), digits, part
