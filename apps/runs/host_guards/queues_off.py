"""No batch system works on the host, by the processes that its agent may see."""

from apps.runs.host_guards.guard import HostGuard

GUARD = HostGuard(
    kind="queues_off",
    sentence="No process of a batch system runs on the host: Slurm, PBS, Grid Engine, HTCondor, LSF, Kubernetes.",
)
