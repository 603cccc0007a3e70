"""Nothing else uses the host: runnable tasks, CPU, the I/O in flight of the run's disks, all disks and the network for some seconds.

Nothing of ours runs meanwhile but this process, which sleeps; it is taken off the runnable tasks at each look.
"""

import os
import time
from typing import Any, Dict, List

from .. import activity, mount
from ..disk import text_of
from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite, limit

KIND, LABEL = "idle", "idle host"
USUAL_S, EVERY_S = 10.0, 0.25
LOAD, RATE, IN_FLIGHT = 0.5, 1000000.0, 0.5  # cores or tasks, bytes/s, requests: on average


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Look for up to ten seconds. The sample at the beginning is kept in `samples` for the figures of the run."""
    seconds = limit(asked, "seconds", USUAL_S, 1.0, USUAL_S)
    own = mount.disks_below(site.path)[0]
    first, cpu = activity.sample(), busy_seconds(text_of("/proc/stat"))
    SAMPLES[:] = [first]
    tasks: List[int] = []
    in_flight: List[int] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        site.sleep(EVERY_S)
        tasks.append(runnable(text_of("/proc/stat")))
        in_flight.append(sum(requests_in_flight(disk) for disk in own or ()))
    last, cpu_after = activity.sample(), busy_seconds(text_of("/proc/stat"))
    took = last["clock"] - first["clock"]
    figures = {
        "runnable_tasks": mean(tasks), "runnable_tasks_max": max(tasks), "cores_busy": (cpu_after - cpu) / took,
        "disks": activity.moved(first["disks"], last["disks"]) / took,
        "network": activity.moved(first["nics"], last["nics"]) / took,
        "load_average": last["load"], "seconds": took,
    }  # fmt: skip
    if own is not None:
        figures.update(in_flight=mean(in_flight), in_flight_max=max(in_flight, default=0))
    return judge({name: round(value, 3) for name, value in figures.items()}, limits_of(asked), own)


SAMPLES: List[activity.Sample] = []  # the counters when the newest look began


def limits_of(asked: Dict[str, Any]) -> Dict[str, float]:
    """Return the most that each figure may be on average."""
    load, rate = limit(asked, "load", LOAD, 0.0, 100000.0), limit(asked, "rate", RATE, 0.0, 1e12)
    return {"runnable_tasks": load, "cores_busy": load, "in_flight": IN_FLIGHT, "disks": rate, "network": rate}


def judge(figures: Dict[str, float], limits: Dict[str, float], own: Any = ()) -> HostFinding:
    """Compare the means with their limits. In-flight I/O is unknown where the kernel does not name the disks."""
    known = [name for name in limits if name in figures]
    over = [name for name in known if figures[name] > limits[name]]
    words = [
        f"{NAMES[name]} {_number(name, figures[name])} (at most {_number(name, limits[name])})"
        for name in over or known
    ]
    text = ", ".join(words) + f", over {figures['seconds']:.1f} s"
    if over:
        return HostFinding(FAILED, text, dict(figures), limits)
    if own is None:
        text += "; the kernel does not name the disks of this filesystem, so the I/O in flight is not known"
        return HostFinding(NOT_CHECKED, text, dict(figures), limits)
    return HostFinding(PASSED, text, dict(figures), limits)


NAMES = {
    "runnable_tasks": "runnable tasks",
    "cores_busy": "cores busy",
    "in_flight": "I/O in flight",
    "disks": "disks",
    "network": "network",
}


def _number(name: str, value: float) -> str:
    value, unit = (value / 1e6, " MB/s") if name in ("disks", "network") else (value, "")
    return (f"{value:.3g}" if value < 1000 else f"{value:.0f}") + unit


def mean(values: List[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def runnable(stat: str) -> int:
    """Return how many tasks run or wait for a processor or a disk, without this one (`procs_running`, `procs_blocked`)."""
    counts = [
        int(line.split()[1]) for line in stat.splitlines() if line.startswith(("procs_running ", "procs_blocked "))
    ]
    return max(0, sum(counts) - 1)


def busy_seconds(stat: str) -> float:
    """Return the seconds that all cores were busy since boot: user, nice, system, irq, softirq and steal of `cpu  …`."""
    words = stat.split("\n", 1)[0].split()
    if len(words) < 9:
        return 0.0
    ticks = [int(words[place]) for place in (1, 2, 3, 6, 7, 8)]
    return sum(ticks) / float(os.sysconf("SC_CLK_TCK"))


def requests_in_flight(disk: str) -> int:
    """Return the reads and writes that a disk works on now, from /sys/block/DISK/inflight."""
    return sum(int(word) for word in text_of(f"{mount.SYS}/class/block/{disk}/inflight").split())
