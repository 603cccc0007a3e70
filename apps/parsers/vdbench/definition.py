"""The line with which Vdbench starts a run definition, in every report: `Starting RD=rd1; I/O rate: 100; elapsed=5`."""

import re

SKEW = "Workload skew report"  # the title of the page that has no intervals
START = re.compile(r"(\d\d:\d\d:\d\d\.\d{3}) (?:Starting|Simulating) RD=([^;<\s]{1,100})([^<]{0,600})")
STARTED_ANY_TIME = re.compile(
    r"([^\s<>:]{1,4}:[^\s<>]{1,14}) Starting RD=([^;<\s]{1,100})([^<]{0,600})"
)  # also with a time that can not be read
_RUNTIME = re.compile(r"elapsed=(\d{1,9})\b")
_WARMUP = re.compile(r"\bwarmup=(\d{1,9})\b")
_RATE = re.compile(r"(?:I/O rate|fwdrate)[:=] ?([\w ]{1,40})")
_LOOPS = re.compile(r"For loops: (.{1,300})")
_SIZE = re.compile(r"(\d{1,12})([kmg]?)b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def read_workload(settings: str) -> dict[str, str | int | float]:
    """Return what the run was asked to do, in fio's words."""
    workload: dict[str, str | int | float] = {}
    if match := _RUNTIME.search(settings):
        workload["runtime"] = int(match[1])
    if match := _WARMUP.search(settings):
        workload["ramp_time"] = int(match[1])
    if match := _RATE.search(settings):
        workload["rate"] = match[1].strip()
    for name, value in read_loops(settings).items():
        workload[{"threads": "numjobs", "xfersize": "block_size"}.get(name, name)] = value
    return workload


def read_loops(settings: str) -> dict[str, int]:
    """Return the threads and the transfer size in bytes of `For loops: xfersize=4k threads=8`."""
    loops: dict[str, int] = {}
    match = _LOOPS.search(settings)
    for word in match[1].split() if match else ():
        name, _, value = word.partition("=")
        size = _SIZE.fullmatch(value)
        if size and name in ("threads", "xfersize"):
            loops[name] = int(size[1]) * _FACTORS[size[2].lower()]
    return loops
