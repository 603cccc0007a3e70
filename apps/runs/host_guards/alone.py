"""No other benchmark runs on the host, by the processes that its agent may see."""

from apps.runs.host_guards.guard import HostGuard

GUARD = HostGuard(
    kind="alone",
    sentence="No other benchmark runs on the host, which could warm a cache for this run.",
)
