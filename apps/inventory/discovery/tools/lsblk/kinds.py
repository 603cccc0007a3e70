"""What kind of device each is where lsblk printed no TYPE (`-o NAME,SIZE`, `-f`, `-t`, `-m`): by its name and its place.

What hangs below a device and is named like it with a number is a partition (sda1, nvme0n1p1), whatever was drawn above it.
Everything else that hangs below others lies on them: md, or a mapping of LVM, dm-crypt or multipath, as what the devices below
it hold tells (FSTYPE), else its own name. What has nothing above it is a disk where the kernel names disks so; a flat list
(`-l`, `-r`, `-P`) puts mappings there too, and those are none.

`lsblk -s` draws the tree upside down, the disk below its partition; no partition has a disk on it, so this is turned round.

Source: the kernel's names (devices.txt, block/partitions/core.c) and util-linux's lsblk.c.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apps.inventory.discovery.tools.lsblk.devices import Device

_DISK = re.compile(
    r"(?:(?:sd|hd|vd|xvd|dasd|rssd|fio|ubd)[a-z]{1,4}|nvme\d+(?:c\d+)?n\d+|(?:mmcblk|pmem|nbd|rbd|zd|drbd|ublkb|mtdblock|zram|ram|fd"
    r"|skd|st|scm)\d+|pmem\d+\.\d+|mmcblk\d+(?:boot\d+|rpmb)|(?:cciss|ida|rd)[!/]c\d+d\d+|etherd[!/]e\d+\.\d+)"
)
PARTITION = re.compile(r"(?:(.*\d)p|(.*\D))\d+")  # a disk whose name ends in a digit gets a p
_NAMED_BY_KERNEL = re.compile(r"(sr|loop|md|bcache|drbd)_?d?\d+")
_KINDS = {"sr": "rom", "bcache": "disk", "drbd": "drbd"}  # of bcache lsblk says disk too
_MAPPINGS = {
    "LVM2_member": "lvm", "LVM1_member": "lvm", "crypto_LUKS": "crypt", "BitLocker": "crypt", "mpath_member": "mpath",
    "linux_raid_member": "md", "isw_raid_member": "md", "ddf_raid_member": "md", "bcache": "disk", "VDO": "vdo",
}  # fmt: skip
_MULTIPATH = re.compile(r"mpath[a-z]{1,4}|[1-38][0-9a-f]{16,32}")
_CRYPT = re.compile(r"luks-[0-9a-f-]{8,60}|\w{0,60}crypt\w{0,60}", re.IGNORECASE)
_VOLUME = re.compile(r"[\w+.]+-.*")  # group-volume
_MAPPED = {"lvm", "crypt", "mpath", "dm", "vdo"}


def with_kinds(devices: Mapping[str, "Device"], untyped: Collection[str]) -> dict[str, "Device"]:
    """Return the devices in a tree that stands upright, with a type for those of which lsblk printed none."""
    upright = _upright(devices)
    is_flat = any(
        one.type in ("", "part") and not one.parents and _is_partition(one.kname, devices) for one in upright.values()
    )
    kinds = {name: _kind(upright[name], upright, is_flat) for name in untyped if name in upright}
    return {name: _with_kind(device, kinds.get(name, device.type)) for name, device in upright.items()}


def _with_kind(device: "Device", kind: str) -> "Device":
    """Return the device with its type, and with the path of a mapping where lsblk printed none."""
    is_guessed = device.path == f"/dev/{device.kname}" and not re.fullmatch(r"dm-\d+", device.kname)
    path = f"/dev/mapper/{device.name}" if kind in _MAPPED and is_guessed else device.path
    return device if (kind, path) == (device.type, device.path) else replace(device, type=kind, path=path)


def disk_of(name: str) -> str:
    """Return the name of the disk that a partition of this name is on; '' for other names."""
    match = PARTITION.fullmatch(name)
    return (match[1] or match[2]) if match else ""


def _upright(devices: Mapping[str, "Device"]) -> dict[str, "Device"]:
    """Return the devices with their parents, which are their children where the tree is upside down."""
    upright = dict(devices)
    if not any(disk_of(parent) == device.kname for device in devices.values() for parent in device.parents):
        return upright
    above: dict[str, list[str]] = {}
    for device in devices.values():
        for parent in device.parents:
            above.setdefault(parent, []).append(device.kname)
    return {name: replace(device, parents=tuple(above.get(name, ()))) for name, device in upright.items()}


def _is_partition(name: str, devices: Iterable[str]) -> bool:
    disk = disk_of(name)
    return bool(disk) and (disk in devices or bool(_DISK.fullmatch(disk) or _NAMED_BY_KERNEL.fullmatch(disk)))


def _kind(device: "Device", devices: Mapping[str, "Device"], is_flat: bool) -> str:
    """Return the type of a device; '' where neither its name nor its place tells."""
    name = device.kname
    if not _DISK.fullmatch(name) and not _NAMED_BY_KERNEL.fullmatch(name) and _is_partition(name, devices):
        return "part"
    if kernels := _NAMED_BY_KERNEL.fullmatch(name):
        is_layer = kernels[1] in ("bcache", "drbd")
        return _KINDS.get(kernels[1], kernels[1]) if device.parents or not is_layer else ""
    if _DISK.fullmatch(name):
        return "disk"
    if device.parents:
        return _mapping(device, devices)
    is_plain = re.fullmatch(r"[a-z]{2}[a-z0-9]*", name) is not None
    return "disk" if is_plain and not is_flat and not name.startswith("dm") else ""


def _mapping(device: "Device", devices: Mapping[str, "Device"]) -> str:
    """Return the type of what lies on other devices and is no partition."""
    below = {devices[parent].fstype for parent in device.parents if parent in devices} - {""}
    for fstype in sorted(below):
        if fstype in _MAPPINGS:
            return _MAPPINGS[fstype]
    name = device.name
    if name.startswith("md"):
        return "md"
    if _MULTIPATH.fullmatch(name):
        return "mpath"
    if _CRYPT.fullmatch(name):
        return "crypt"
    return "lvm" if _VOLUME.fullmatch(name) else "dm"
