"""Nobody is logged in on the host, by systemd-logind and utmp."""

from apps.runs.host_guards.guard import HostGuard

GUARD = HostGuard(
    kind="users_out",
    sentence="Nobody is logged in on the host, by the sessions of systemd-logind and the records of utmp.",
)
