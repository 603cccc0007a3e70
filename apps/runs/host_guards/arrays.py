"""No array under the target resyncs or lacks a member, by /proc/mdstat at this moment."""

from apps.runs.host_guards.guard import HostGuard

GUARD = HostGuard(
    kind="array_settled",
    sentence="The Linux md arrays under the target neither resync nor are they degraded, by /proc/mdstat at this moment.",
)
