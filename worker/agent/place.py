"""On which disks a directory lies, as the kernel's device tree says: the whole disks below partitions, arrays, volumes, multipath, loop
files and btrfs."""

import os
import re
from typing import Optional, Set, Tuple

from .tools import text_of

SYS, MOUNTS = "/sys", "/proc/self/mountinfo"
IN_MEMORY = ("tmpfs", "ramfs")
OCTAL = re.compile(r"\\([0-7]{3})")  # how mountinfo writes blanks


class NotTold(Exception):
    """The kernel does not name the disks."""


def disks_below(directory: str) -> Tuple[Optional[Set[str]], bool]:
    """Names such as `sda`; an empty set for a filesystem in memory, None where the kernel does not say (ZFS, overlay, NFS). And whether
    the data stay inside this machine: over iSCSI, NVMe over fabrics or a network filesystem the test itself is network activity."""
    kind, source = _mounted(os.path.realpath(directory))
    if kind in IN_MEMORY:
        return set(), True
    try:
        found = _of_filesystem(directory, kind, source)
        return found, not any(map(_is_remote, found))
    except (NotTold, OSError):
        return None, kind == "zfs"


def _of_filesystem(directory: str, kind: str, source: str) -> Set[str]:
    device = os.stat(directory).st_dev
    path = f"{SYS}/dev/block/{os.major(device)}:{os.minor(device)}"
    if os.path.exists(path):
        return _whole(path)
    own = os.path.basename(os.path.realpath(source))
    pools = f"{SYS}/fs/btrfs"
    for pool in os.listdir(pools) if kind == "btrfs" else []:
        members = os.listdir(f"{pools}/{pool}/devices") if os.path.isdir(f"{pools}/{pool}/devices") else []
        if own in members:
            return set().union(*(_whole(f"{SYS}/class/block/{name}") for name in members))
    raise NotTold


def _whole(path: str) -> Set[str]:
    path = os.path.realpath(path)
    if os.path.exists(f"{path}/partition"):
        path = os.path.dirname(path)
    below = os.listdir(f"{path}/slaves") if os.path.isdir(f"{path}/slaves") else []
    if below:
        return set().union(*(_whole(f"{SYS}/class/block/{name}") for name in below))
    file = text_of(f"{path}/loop/backing_file")
    if file:
        found = disks_below(file)[0]
        if found is None:
            raise NotTold
        return found
    if "/devices/virtual/" in path and "/virtual/nvme" not in path:  # nbd, drbd and the like
        raise NotTold
    return {os.path.basename(path)}


def _is_remote(disk: str) -> bool:
    path = os.path.realpath(f"{SYS}/class/block/{disk}")
    if "/virtual/nvme" in path:
        above = os.path.dirname(path)
        controllers = [above] + [os.path.join(above, name) for name in os.listdir(above)]
        return {text_of(f"{one}/transport") for one in controllers} - {""} != {"pcie"}
    return "/session" in path or "/devices/rbd/" in path


def _mounted(path: str) -> Tuple[str, str]:
    """Type and source of the filesystem that holds a path; of several mounted at one place the last."""
    best, found = "", ("", "")
    for line in text_of(MOUNTS).splitlines():
        place, _, what = line.partition(" - ")
        point = OCTAL.sub(lambda code: chr(int(code.group(1), 8)), place.split(" ")[4])
        if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, found = point, (what.split(" ")[0], what.split(" ")[1])
    return found
