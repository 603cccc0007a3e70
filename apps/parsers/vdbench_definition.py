"""What Vdbench prints when it starts a run definition, in every report: `Starting RD=rd1; I/O rate: 100; elapsed=5`."""

import re

SKEW = "Workload skew report"  # the title of the page that has no intervals
START = re.compile(r"(\d\d:\d\d:\d\d\.\d{3}) (?:Starting|Simulating) RD=([^;<\s]{1,100})([^<]{0,600})")
STARTED = re.compile(r"([^\s<>:]{1,4}:[^\s<>]{1,14}) Starting RD=([^;<\s]{1,100})([^<]{0,600})")  # with whatever time
_RUNTIME = re.compile(r"elapsed=(\d{1,9})\b")
_WARMUP = re.compile(r"\bwarmup=(\d{1,9})\b")
_RATE = re.compile(r"(?:I/O rate|fwdrate)[:=] ?([\w ]{1,40})")
_LOOPS = re.compile(r"For loops: (.{1,300})")
_SIZE = re.compile(r"(\d{1,12})([kmg]?)b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def workload(told: str) -> dict[str, str | int | float]:
    found: dict[str, str | int | float] = {}
    if match := _RUNTIME.search(told):
        found["runtime"] = int(match[1])
    if match := _WARMUP.search(told):
        found["ramp_time"] = int(match[1])
    if match := _RATE.search(told):
        found["rate"] = match[1].strip()
    for name, value in loops(told).items():
        found[{"threads": "numjobs", "xfersize": "block_size"}.get(name, name)] = value
    return found


def loops(told: str) -> dict[str, int]:
    """`For loops: xfersize=4k threads=8`: what this run of a definition was given."""
    found: dict[str, int] = {}
    match = _LOOPS.search(told)
    for word in match[1].split() if match else ():
        name, _, value = word.partition("=")
        size = _SIZE.fullmatch(value)
        if size and name in ("threads", "xfersize"):
            found[name] = int(size[1]) * _FACTORS[size[2].lower()]
    return found
