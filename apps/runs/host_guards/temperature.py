"""The disks under the target are no warmer than allowed, where their sensors can be read without root."""

from apps.runs.host_guards.guard import GuardParameter, HostGuard

GUARD = HostGuard(
    kind="temperature",
    sentence="The target's disks are no warmer than allowed, by the sensors that the kernel shows without root.",
    parameters=(GuardParameter("celsius", "At most °C (empty: each drive's own warning threshold)", 0, 120),),
)
