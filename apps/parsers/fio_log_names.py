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


def prefix_of(name: str) -> str:
    """`randread` of `results/randread_clat.1.log`; nothing where there is none, or the name is not a log's."""
    last = PurePosixPath(name.replace("\\", "/")).name
    words = list(_NAME.finditer(last.lower()))
    return last[: words[-1].start()] if words else ""


def caption_of(name: str) -> str:
    """What tells a log from the others of its job: `randread_clat.1.log` → `randread: completion latency, job 1`."""
    if not (measure := measure_of(name)):
        return ""
    number = _NUMBER.search(PurePosixPath(name.replace("\\", "/")).name)
    what = _WORDS[measure] + (f", job {number[1]}" if number else "")
    prefix = prefix_of(name)[:_LONGEST_PREFIX]
    return f"{prefix}: {what}" if prefix else what
