"""No batch system works on the host, by the names of the processes that run.

A daemon that runs may be drained, which only its own commands tell; so it is neither held against the host nor for it. A job that it has
started is seen for certain.
"""

from typing import Any, Dict

from . import processes
from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite

KIND, LABEL = "queues_off", "queues off"
# By batch system: the daemon that takes jobs on a host, and what it starts for each of them. comm has 15 letters.
DAEMONS = {
    "slurmd": "Slurm", "pbs_mom": "PBS", "sge_execd": "Grid Engine", "condor_startd": "HTCondor", "sbatchd": "LSF",
    "kubelet": "Kubernetes",
}  # fmt: skip
JOBS = {
    "slurmstepd": "Slurm", "pbs_demux": "PBS", "sge_shepherd": "Grid Engine", "condor_starter": "HTCondor",
}  # fmt: skip


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Look for jobs and daemons of the batch systems that are known by name; cron and at are not among them."""
    running = processes.names()
    if running is None:
        return HostFinding(NOT_CHECKED, processes.HIDDEN, {}, {})
    jobs = {name: len(running[name]) for name in JOBS if name in running}
    daemons = [name for name in DAEMONS if name in running]
    figures: Dict[str, Any] = {"jobs": sum(jobs.values()), "daemons": ", ".join(daemons)}
    if jobs:
        words = ", ".join(f"{count} {name} ({JOBS[name]})" for name, count in jobs.items())
        return HostFinding(FAILED, f"jobs of a batch system run: {words}", figures, {"jobs": 0})
    if daemons:
        words = ", ".join(f"{name} ({DAEMONS[name]})" for name in daemons)
        text = f"{words} runs; no job is seen by its name, and whether the queue is off cannot be seen from here"
        return HostFinding(NOT_CHECKED, text, figures, {"jobs": 0})
    return HostFinding(PASSED, f"none of {', '.join([*JOBS, *DAEMONS])} runs", figures, {"jobs": 0})
