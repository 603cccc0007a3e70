"""No Linux md array under the run's directory resyncs, recovers, is checked or lacks a member, by /proc/mdstat now."""

import os
import re
from typing import Any, Dict, List, Set

from .. import mount
from ..disk import text_of
from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite

KIND, LABEL = "array_settled", "array settled"
MDSTAT = "/proc/mdstat"
POOLS = "/proc/spl/kstat/zfs"
LONGEST = 2000  # characters of /proc/mdstat that are evidence
HEAD = re.compile(r"(md[\w/-]+) : (.*)")
MEMBERS = re.compile(r"\[(\d+)/(\d+)\]")
ACTION = re.compile(r"(resync|recovery|reshape|check|repair)\s*=\s*(\S+)")


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Look at the arrays below the run's directory, or at the state of its ZFS pool."""
    if site.place.get("type") == "zfs":
        return _pool(str(site.place.get("source") or "").split("/")[0])
    try:
        own = sorted(arrays_below(site.path))
    except (OSError, mount.NotTold):
        return HostFinding(NOT_CHECKED, "the kernel does not name the devices of this filesystem", {}, {})
    if not own:
        return HostFinding(PASSED, "no Linux md array lies under the directory", {"arrays": 0}, {})
    return judge(text_of(MDSTAT), own)


def judge(mdstat: str, own: List[str]) -> HostFinding:
    """Return what /proc/mdstat says of these arrays, whose lines are the evidence verbatim."""
    parts = sections(mdstat)
    missing = [name for name in own if name not in parts]
    lines = "\n".join(parts[name] for name in own if name in parts)[:LONGEST]
    problems = [f"{name}: {problem}" for name in own if name in parts for problem in problems_of(parts[name])]
    figures = {"arrays": len(own), "mdstat": lines}
    if problems:
        return HostFinding(FAILED, "; ".join(problems), figures, {})
    if missing:
        return HostFinding(NOT_CHECKED, f"/proc/mdstat does not list {', '.join(missing)}", figures, {})
    return HostFinding(PASSED, f"{', '.join(own)}: all members there, nothing under way", figures, {})


def sections(mdstat: str) -> Dict[str, str]:
    """Return the lines of each array, by its name."""
    parts: Dict[str, str] = {}
    name = ""
    for line in mdstat.splitlines():
        head = HEAD.match(line)
        if head:
            name = head.group(1)
        elif not line.strip() or not line.startswith(" "):
            name = ""
        if name:
            parts[name] = parts[name] + "\n" + line if name in parts else line
    return parts


def problems_of(lines: str) -> List[str]:
    """Return what is not settled: members that are missing, and what is under way with its progress."""
    problems = []
    head = HEAD.match(lines)
    if head and not head.group(2).startswith("active"):
        problems.append(head.group(2).split()[0])
    members = MEMBERS.search(lines)
    if members and int(members.group(2)) < int(members.group(1)):
        problems.append(f"degraded, {members.group(2)} of {members.group(1)} members")
    return problems + [f"{found.group(1)} {found.group(2)}" for found in ACTION.finditer(lines)]


def arrays_below(path: str) -> Set[str]:
    """Return the names of the md arrays below the filesystem of a directory.

    Raises:
        mount.NotTold: The filesystem has no block device that the kernel names.
    """
    return set().union(*(_arrays(os.path.realpath(device)) for device in mount.block_devices(path)))


def _arrays(path: str) -> Set[str]:
    if os.path.exists(f"{path}/partition"):
        path = os.path.dirname(path)
    file = text_of(f"{path}/loop/backing_file")
    if file:
        return arrays_below(file)
    own = {os.path.basename(path)} if os.path.isdir(f"{path}/md") else set()
    below = os.listdir(f"{path}/slaves") if os.path.isdir(f"{path}/slaves") else []
    return own.union(*(_arrays(os.path.realpath(f"{mount.SYS}/class/block/{name}")) for name in below))


def _pool(pool: str) -> HostFinding:
    state = text_of(f"{POOLS}/{pool}/state")
    if not state:
        return HostFinding(NOT_CHECKED, "the state of its ZFS pool cannot be read", {}, {})
    figures = {"pool": pool, "state": state}
    if state != "ONLINE":
        return HostFinding(FAILED, f"ZFS pool {pool} is {state}", figures, {"state": "ONLINE"})
    text = f"ZFS pool {pool} is ONLINE; whether it resilvers cannot be read without a command"
    return HostFinding(NOT_CHECKED, text, figures, {"state": "ONLINE"})
