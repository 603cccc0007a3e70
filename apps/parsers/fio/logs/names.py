"""The names of fio's logs: `PREFIX_MEASURE.JOB.log`, where PREFIX is the argument of `write_lat_log` and similar options."""

import re
from pathlib import PurePosixPath

_NAME = re.compile(r"(?:^|[_.-])(clat_hist|bw|iops|clat|slat|lat)(?=[._-]|$)")
_NUMBER = re.compile(r"_(?:clat_hist|bw|iops|clat|slat|lat)(?:[_-][nu]s(?:ec)?)?\.(\d{1,6})\.")
_WORDS = {
    "bw": "bandwidth", "iops": "IOPS", "lat": "latency", "clat": "completion latency", "slat": "submission latency",
    "clat_hist": "completion latency histogram",
}  # fmt: skip
_LONGEST_PREFIX = 100


def get_measure(name: str) -> str:
    """Return `clat` for `job_clat.1.log`; "" where the name does not tell."""
    measures = _NAME.findall(PurePosixPath(name.replace("\\", "/")).name.lower())
    return measures[-1] if measures else ""


def get_prefix(name: str) -> str:
    """Return `randread` for `results/randread_clat.1.log`; "" where there is none, or the name is not a log's."""
    last = PurePosixPath(name.replace("\\", "/")).name
    words = list(_NAME.finditer(last.lower()))
    return last[: words[-1].start()] if words else ""


def make_caption(name: str) -> str:
    """Return what distinguishes a log from others of its job: `randread: completion latency, job 1` for `randread_clat.1.log`."""
    if not (measure := get_measure(name)):
        return ""
    number = _NUMBER.search(PurePosixPath(name.replace("\\", "/")).name)
    what = _WORDS[measure] + (f", job {number[1]}" if number else "")
    prefix = get_prefix(name)[:_LONGEST_PREFIX]
    return f"{prefix}: {what}" if prefix else what
