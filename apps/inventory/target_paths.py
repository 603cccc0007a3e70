"""The path of a target: how it must be written, what its host allows, and how a directory that is missing is made."""

import posixpath
import shlex
from typing import Any

from apps.inventory.models import Host, Target
from apps.inventory.vocabulary import TargetKind

PATHS = (TargetKind.DIRECTORY, TargetKind.FILE)
MISSING = "No such file or directory"  # what the system says of a directory that is not there
ACCOUNT = "spindle-agent"  # under which the agent runs where install.sh has installed it
UNCONFIRMED = "the path is not yet confirmed by the host"


def is_plain_path(path: str) -> bool:
    """Return whether a path is absolute and written in the one way in which agents take it."""
    is_plain = path.startswith("/") and not path.startswith("//") and posixpath.normpath(path) == path
    return is_plain and path.isprintable()


def explain_path(path: str) -> str:
    """Return what is expected in place of a path that is not written plainly; empty for one that is."""
    if is_plain_path(path):
        return ""
    if not path.startswith("/"):
        return "expected an absolute path such as /data/ext4"
    if not path.isprintable():
        return "expected a path of printable characters, without control characters and no-break spaces"
    plain = "/" + posixpath.normpath(path).lstrip("/")
    if ".." in path.split("/"):
        return "expected a path without .. in it"
    return f"expected it written plainly: {plain}"


def refuse_path(target: Target) -> str:
    """Return what is wrong with the path of a target as it would be saved; empty where nothing is.

    A path that is stored already may stay, for what was measured there was measured there. Which directories a host
    allows is known once its agent has reported; before, the path is taken and shown as not confirmed.
    """
    if target.kind not in PATHS or not target.path:
        return ""
    problem = _find_problem(target)
    return "" if not problem or _is_stored(target) else f"found {target.path[:80]!r}, {problem}"


def _find_problem(target: Target) -> str:
    if expected := explain_path(target.path):
        return expected
    agent: Any = getattr(target.host, "agent", None)
    if agent is None or not agent.directories or target.kind != TargetKind.DIRECTORY:
        return ""
    allowed = agent.explain_outside(target.path)
    return f"expected a directory where runs can go: {allowed}" if allowed else ""


def _is_stored(target: Target) -> bool:
    same = {"pk": target.pk, "host_id": target.host_id, "kind": target.kind, "path": target.path}
    return target.pk is not None and bool(Target.objects.filter(**same).exists())


def explain_problem(path: str, root: str, problem: str) -> str:
    """Return why a directory takes no runs, as its host reports it; of a missing one below a root, how it is made.

    The agent makes no directory because a server names it, so this is up to the host's administrator.
    """
    if problem == MISSING and root and path != root:
        command = f"install -d -m 0700 -o {ACCOUNT} {shlex.quote(path)}"
        return f"{problem}. Make it there, as root: {command} (with the agent's account, if it is another one)"
    return problem


def explain_unconfirmed(target: Target) -> str:
    """Return that nobody on the host has confirmed a target's path, and why; empty where its agent has, or forbids it."""
    if target.kind != TargetKind.DIRECTORY or not target.path or target.lies_on or target.gone_at:
        return ""
    host: Host = target.host
    agent: Any = getattr(host, "agent", None)
    if agent is None:
        return f"{UNCONFIRMED}: {host} has no agent"
    return "" if agent.has_reported else f"{UNCONFIRMED}: its agent has not reported yet what it allows"
