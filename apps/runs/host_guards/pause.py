"""The host is left alone for some seconds before the run."""

from apps.runs.host_guards.guard import GuardParameter, HostGuard

GUARD = HostGuard(
    kind="pause",
    sentence="The host is left alone for some seconds before the run.",
    parameters=(GuardParameter("seconds", "Seconds", 0, 86400),),
)
