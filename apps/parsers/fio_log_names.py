"""What the names of fio's logs say: `PREFIX_MEASURE.JOB.log`, where PREFIX is what `write_lat_log` and its like were given."""

import re
from pathlib import PurePosixPath

_NAME = re.compile(r"(?:^|[_.-])(clat_hist|bw|iops|clat|slat|lat)(?=[._-]|$)")
_NUMBER = re.compile(r"_(?:clat_hist|bw|iops|clat|slat|lat)(?:[_-][nu]s(?:ec)?)?\.(\d{1,6})\.")
_WORDS = {
    "bw": "bandwidth", "iops": "IOPS", "lat": "latency", "clat": "completion latency", "slat": "submission latency",
    "clat_hist": "completion latency histogram",
}  # fmt: skip
_LONGEST_PREFIX = 100


def measure_of(name: str) -> str:
    """`clat` of `job_clat.1.log`; nothing where the name does not tell."""
    found = _NAME.findall(PurePosixPath(name.replace("\\", "/")).name.lower())
    return found[-1] if found else ""


def caption_of(name: str) -> str:
    """What tells a log from the others of its job: `randread_clat.1.log` → `randread: completion latency, job 1`."""
    last = PurePosixPath(name.replace("\\", "/")).name
    if not (words := list(_NAME.finditer(last.lower()))):
        return ""
    found = words[-1]
    number = _NUMBER.search(last)
    what = _WORDS[found[1]] + (f", job {number[1]}" if number else "")
    prefix = last[: found.start()][:_LONGEST_PREFIX]
    return f"{prefix}: {what}" if prefix else what
