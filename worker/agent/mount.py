"""The filesystem and the disks under a directory, read from the open directory, and whether they are those that a run is for.

The disks are the whole disks below partitions, arrays, volumes, multipath, image files and btrfs, as the kernel's device tree
says.
"""

import array
import fcntl
import json
import os
import re
import uuid
from typing import Any, Dict, List, Optional, Set, Tuple

from .directory import open_directory
from .disk import text_of

SYS, MOUNTS = "/sys", "/proc/self/mountinfo"
IN_MEMORY = ("tmpfs", "ramfs")
OCTAL = re.compile(r"\\([0-7]{3})")  # how mountinfo writes blanks


class NotTold(Exception):
    """The kernel does not name the disks."""


def disks_below(directory: str) -> Tuple[Optional[Set[str]], bool]:
    """Return the disks of a filesystem such as `sda`, and whether the data stay inside this machine.

    The disks are empty for a filesystem in memory and None where the kernel does not say (ZFS, overlay, NFS). Over
    iSCSI, NVMe
    over fabrics or a network filesystem the test itself is network activity.
    """
    kind, source = _mounted(os.path.realpath(directory))
    if kind in IN_MEMORY:
        return set(), True
    try:
        result = set().union(*map(_whole, _of_filesystem(directory, kind, source)))  # type: Set[str]
        return result, not any(map(_is_remote, result))
    except (NotTold, OSError):
        return None, kind == "zfs"


def block_devices(directory: str) -> List[str]:
    """Return the paths in /sys of the block devices that hold a filesystem; none of one in memory.

    Raises:
        NotTold: The kernel does not name them (ZFS, overlay, NFS).
    """
    kind, source = _mounted(os.path.realpath(directory))
    return [] if kind in IN_MEMORY else _of_filesystem(directory, kind, source)


def _of_filesystem(directory: str, kind: str, source: str) -> List[str]:
    device = os.stat(directory).st_dev
    path = f"{SYS}/dev/block/{os.major(device)}:{os.minor(device)}"
    if os.path.exists(path):
        return [path]
    own = os.path.basename(os.path.realpath(source))
    pools = f"{SYS}/fs/btrfs"
    for pool in os.listdir(pools) if kind == "btrfs" else []:
        members = os.listdir(f"{pools}/{pool}/devices") if os.path.isdir(f"{pools}/{pool}/devices") else []
        if own in members:
            return [f"{SYS}/class/block/{name}" for name in members]
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
        result = disks_below(file)[0]
        if result is None:
            raise NotTold
        return result
    if "/devices/virtual/" in path and "/virtual/nvme" not in path:  # nbd, drbd and the like
        raise NotTold
    return {os.path.basename(path)}


def _is_remote(disk: str) -> bool:
    path = os.path.realpath(f"{SYS}/class/block/{disk}")
    if "/virtual/nvme" in path:
        above = os.path.dirname(path)
        controllers = [above] + [os.path.join(above, name) for name in os.listdir(above)]
        return {text_of(f"{controller}/transport") for controller in controllers} - {""} != {"pcie"}
    return "/session" in path or "/devices/rbd/" in path


def _mounted(path: str) -> Tuple[str, str]:
    """Return type and source of the filesystem that holds a path; of several at one mount point the last."""
    best, result = "", ("", "")
    for line in text_of(MOUNTS).splitlines():
        place, _, what = line.partition(" - ")
        point = OCTAL.sub(lambda code: chr(int(code.group(1), 8)), place.split(" ")[4])
        if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, result = point, (what.split(" ")[0], what.split(" ")[1])
    return result


GET_UUID = 0x80111500  # FS_IOC_GETFSUUID of Linux 6.9: a length, then 16 bytes
UUID_KEPT = ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs")  # others draw theirs anew at each mount
BY_UUID, UDEV, BTRFS = "/dev/disk/by-uuid", "/run/udev/data", "/sys/fs/btrfs"
Place = Dict[str, Any]


def look_at(path: str, shared: bool = True, state: str = "") -> Place:
    """Return where a directory lies; `problem` tells why that is unknown, or why nothing may run there.

    No link is followed. `shared` and `state` are agent.conf's and the agent's own folder, as for `open_directory`.
    """
    try:
        handle = open_directory(path, shared, state)
    except (OSError, ValueError) as error:  # ValueError: of letters that this host's file names cannot have
        return {"path": path, "problem": getattr(error, "strerror", None) or str(error)}
    try:
        return dict(place_of(handle), path=path)
    except (OSError, ValueError, IndexError) as error:
        return {"path": path, "problem": str(error)}
    finally:
        os.close(handle)


def place_of(handle: int) -> Place:
    """Return where an open file lies: `type`, `source`, `uuid`, `mount_point`, `options` and `device` (major:minor)."""
    device = os.fstat(handle).st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    point, kind, source, options = _mount(handle)
    return {
        "type": kind,
        "source": source,
        "mount_point": point,
        "options": options,
        "device": numbers,
        "uuid": _uuid(handle, kind, source, numbers),
    }


def _mount(handle: int) -> Tuple[str, str, str, str]:
    """Mount point, type, source and options, by the number of the mount through which the file was opened."""
    lines = text_of(f"/proc/self/fdinfo/{handle}").splitlines()
    number = next((line.split()[1] for line in lines if line.startswith("mnt_id:")), "")
    for line in text_of(MOUNTS).splitlines():
        words, _, rest = line.partition(" - ")
        fields, about = words.split(" "), rest.split(" ")
        if fields[0] == number:
            options = fields[5].split(",")
            known = options + ["rw", "ro", ""]
            options += [item for item in (about[2] if len(about) > 2 else "").split(",") if item not in known]
            return _unescaped(fields[4]), about[0], _unescaped(about[1]), ",".join(options)
    raise ValueError("the kernel does not list its mount")


def _unescaped(text: str) -> str:
    return OCTAL.sub(lambda code: chr(int(code.group(1), 8)), text)


def _uuid(handle: int, kind: str, source: str, numbers: str) -> str:
    """Return the UUID from the filesystem itself, else from udev, or ''."""
    if kind in IN_MEMORY:
        return ""
    own = _own_uuid(handle) if kind in UUID_KEPT else ""
    return own or (_pool_of(source) if kind == "btrfs" else "") or _linked(source) or _known_to_udev(numbers)


def _own_uuid(handle: int) -> str:
    answer = array.array("B", bytes(17))
    try:
        fcntl.ioctl(handle, GET_UUID, answer)
    except OSError:  # an older kernel
        return ""
    return str(uuid.UUID(bytes=answer.tobytes()[1:])) if answer[0] == 16 and any(answer[1:]) else ""


def _pool_of(source: str) -> str:
    own = os.path.basename(os.path.realpath(source))
    return next((pool for pool in _names(BTRFS) if own in _names(f"{BTRFS}/{pool}/devices")), "")


def _linked(source: str) -> str:
    if not source.startswith("/dev/"):
        return ""
    device = os.path.realpath(source)
    return next((name for name in _names(BY_UUID) if os.path.realpath(f"{BY_UUID}/{name}") == device), "")


def _known_to_udev(numbers: str) -> str:
    lines = text_of(f"{UDEV}/b{numbers}").splitlines()
    return next((line.partition("=")[2] for line in lines if line.startswith("E:ID_FS_UUID=")), "")


def _names(folder: str) -> Tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()


def is_same(expected: Place, place: Place) -> bool:
    """Return whether both places are one filesystem: by UUID where both have one, else by type and source."""
    if not expected.get("type"):
        return True
    if expected["type"] != place.get("type"):
        return False
    if expected.get("uuid") and place.get("uuid"):
        return bool(expected["uuid"] == place["uuid"])
    return not expected.get("source") or bool(expected["source"] == place.get("source"))


def mismatch(expected: Place, place: Place) -> str:
    """Return why a run for `expected` may not start at `place`, or ''."""
    path = place["path"]
    if expected.get("path") and expected["path"] != path:
        return f"the run is for {expected['path']}, and this host offers {path} now."
    if place.get("problem"):
        return f"its directory {path} cannot be used: {place['problem']}."
    if is_same(expected, place):
        return ""
    point = expected.get("mount_point") or ""
    if point != place["mount_point"] and point.startswith(place["mount_point"].rstrip("/") + "/"):
        return f"{point} is not mounted: {path} lies on {words(place)}, expected {words(expected)}."
    return f"another filesystem is at {path}: found {words(place)}, expected {words(expected)}."


def words(place: Place) -> str:
    """Return a place in words: `ext4 on /dev/sdb1 (UUID 3f5b…)`."""
    known = f"{place.get('type')} on {place.get('source')}" if place.get("source") else str(place.get("type"))
    return known + (f" (UUID {place['uuid']})" if place.get("uuid") else "")


def note(folder: int, path: str, expected: Place, file: str) -> str:
    """Write down where a run really lies, read from its open folder. Why it may not start there; '' if it may."""
    try:
        place = dict(place_of(folder), path=path)
    except (OSError, ValueError, IndexError) as error:
        place = {"path": path, "problem": str(error)}
    place["settings"] = settings_below(folder)
    with open(file, "w") as target:
        json.dump(place, target)
    return mismatch(expected, place) if "problem" not in place else ""


CPUS = "devices/system/cpu"
QUEUE = (
    "scheduler",
    "read_ahead_kb",
    "rotational",
    "write_cache",
)  # files of /sys/block/DISK/queue, as the kernel writes them
MOST_DISKS = 256


def settings_below(handle: int) -> Dict[str, Any]:
    """Return how the kernel is set for what an open directory lies on.

    `device`: the queue of the block device that is mounted; `disks`: those of the whole disks below it, by name;
    `governors`: of all CPUs, each once. What cannot be read is left out. Nothing here needs root.
    """
    settings: Dict[str, Any] = {}
    number = os.fstat(handle).st_dev
    numbers = f"{os.major(number)}:{os.minor(number)}"
    device = _queue(f"{SYS}/dev/block/{numbers}")
    read_ahead = _read_ahead(handle, numbers)
    if read_ahead:
        device["read_ahead_kb"] = read_ahead
    if device:
        settings["device"] = device
    names = sorted(disks_below(f"/proc/self/fd/{handle}")[0] or ())[:MOST_DISKS]
    disks = {name: _queue(f"{SYS}/class/block/{name}") for name in names}
    if any(disks.values()):
        settings["disks"] = {name: queue for name, queue in disks.items() if queue}
    governors = _governors()
    if governors:
        settings["governors"] = governors
    return settings


def _read_ahead(handle: int, numbers: str) -> str:
    """Return the filesystem's own read-ahead, which is the one that counts: mostly its device's, and btrfs has another."""
    of_device = text_of(f"{SYS}/class/bdi/{numbers}/read_ahead_kb")
    kind, source = _mounted(os.path.realpath(f"/proc/self/fd/{handle}"))
    if of_device or kind != "btrfs":
        return of_device
    own = os.path.basename(os.path.realpath(source))
    pools = f"{SYS}/fs/btrfs"
    pool = next((name for name in _names(pools) if own in _names(f"{pools}/{name}/devices")), "")
    return text_of(f"{pools}/{pool}/bdi/read_ahead_kb")


def _queue(path: str) -> Dict[str, str]:
    """Return the settings of a block device; a partition has those of its disk."""
    path = os.path.realpath(path)
    if os.path.exists(f"{path}/partition"):
        path = os.path.dirname(path)
    read = {name: text_of(f"{path}/queue/{name}") for name in QUEUE}
    return {name: text for name, text in read.items() if text}


def _governors() -> List[str]:
    policies = [f"{CPUS}/cpufreq/{name}" for name in _names(f"{SYS}/{CPUS}/cpufreq") if name.startswith("policy")]
    if not policies:  # kernels before 4.3
        policies = [f"{CPUS}/{name}/cpufreq" for name in _names(f"{SYS}/{CPUS}") if re.fullmatch(r"cpu\d+", name)]
    return sorted({text_of(f"{SYS}/{policy}/scaling_governor") for policy in policies} - {""})
