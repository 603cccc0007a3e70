"""The run's test files are out of the page cache, which is read back."""

from apps.runs.host_guards.guard import HostGuard

GUARD = HostGuard(
    kind="caches_dropped",
    sentence="The run's test files are dropped from the page cache, and no page of them is in memory when it is read back.",
)
