"""The target lies on the filesystem that is recorded of it, mounted with the same options."""

from typing import Any

from apps.inventory.models import Target
from apps.runs.host_guards.guard import HostGuard


def expect(target: Target, options: str = "") -> dict[str, Any]:
    """Return what the host compares its mount with: the target's filesystem and its recorded mount options.

    Args:
        options: Those of an earlier run on the target, with which this one is to be compared; else the inventory's are
            taken, or those that the host's agent reported last.
    """
    known = target.filesystem.mount_options if target.filesystem else ""
    agent = getattr(target.host, "agent", None)
    reported = agent.find_directory(target.path).get("options", "") if agent else ""
    expected = {**target.lies_on, "options": options or known or reported}
    return {name: expected[name] for name in ("type", "source", "uuid", "options") if expected.get(name)}


GUARD = HostGuard(
    kind="filesystem",
    sentence="The open folder's mount has the filesystem and the mount options that are recorded of the target.",
)
