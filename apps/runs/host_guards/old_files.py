"""The test files of earlier runs are gone from the directory under test."""

from apps.runs.host_guards.guard import HostGuard

GUARD = HostGuard(
    kind="file_removed",
    sentence="No test file of an earlier run is left in the directory.",
)
