"""No other benchmark runs on the host, so that none warms a cache for this run. This run's own files are always new ones."""

from typing import Any, Dict

from . import processes
from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite

KIND, LABEL = "alone", "no other benchmark"
BENCHMARKS = ("fio", "iozone", "bonnie++", "bonnie", "dd", "iperf", "iperf3", "netperf", "netserver", "hdparm",
              "ioping", "sysbench", "dbench", "filebench", "stress-ng")  # fmt: skip


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Look for the processes of benchmarks by their names. This run's fio has not been started yet."""
    running = processes.names()
    if running is None:
        return HostFinding(NOT_CHECKED, processes.HIDDEN, {}, {})
    others = {name: len(running[name]) for name in BENCHMARKS if name in running}
    figures: Dict[str, Any] = {"processes": sum(others.values()), "programs": ", ".join(others)}
    if others:
        words = ", ".join(f"{count} {name}" for name, count in others.items())
        return HostFinding(FAILED, f"another benchmark runs: {words}", figures, {"processes": 0})
    text = (
        f"none of {', '.join(BENCHMARKS)} runs on this host, and this run's files are its own; a cache that other hosts"
        " share (a controller's, an array's) is not seen from here"
    )
    return HostFinding(PASSED, text, figures, {"processes": 0})
