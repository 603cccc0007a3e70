"""The level of an LVM volume, as far as lsblk's numbers tell.

A striped volume asks for I/O of one stripe at least (`min-io`) and of all stripes at best (`opt-io`); a linear one
passes on what its disks ask for. A RAID volume lies on `_rimage_N` parts, and its size against theirs tells how many
carry data.
"""

import re
from collections.abc import Mapping

from apps.inventory.discovery.lsblk import Device

_PARTS = "rimage|rmeta|mimage|mlog|tdata|tmeta|cdata|cmeta|cvol|corig|vdata|pmspare"
_INSIDE = re.compile(rf".*(_({_PARTS})(_\d+)?|-tpool|-real|-cow)")
_BOOKKEEPING = re.compile(r".*(_(rmeta|mlog|tmeta|cmeta|pmspare)(_\d+)?|-cow)")
_IMAGE = re.compile(r".*_[rm]image_\d+")


def is_inside(device: Device) -> bool:
    """A part that LVM made for its own use: seen through, not shown."""
    return device.type == "lvm" and bool(_INSIDE.fullmatch(device.name))


def is_bookkeeping(device: Device) -> bool:
    """Holds no data of the volume."""
    return device.type == "lvm" and bool(_BOOKKEEPING.fullmatch(device.name))


def level_and_chunk(volume: Device, devices: Mapping[str, Device], members: int) -> tuple[str, int | None]:
    """(level, chunk in bytes). Level '' where the numbers fit two levels or none."""
    parents = [devices[parent] for parent in volume.parents if parent in devices]
    images = [parent for parent in parents if _IMAGE.fullmatch(parent.name)]
    if images:
        return _raid_level(volume, images), None
    if members < 2:
        return "linear", None
    if any(is_inside(parent) for parent in parents):
        return "", None
    stripe, asked_below = volume.min_io or 0, max((parent.min_io or 0 for parent in parents), default=0)
    if stripe > asked_below and (volume.opt_io or 0) == stripe * len(parents):
        return "0", stripe
    return "linear", None


def _raid_level(volume: Device, images: list[Device]) -> str:
    size, count = images[0].size, len(images)
    if not size or not volume.size:
        return ""
    # lvmraid(7): RAID 5 has at least three images, RAID 6 five, RAID 10 an even number from four on.
    carrying: dict[str, float] = {
        "1": 1,
        "0": count,
        "5": count - 1 if count > 2 else 0,
        "6": count - 2 if count > 4 else 0,
    }
    carrying["10"] = count / 2 if count > 3 and count % 2 == 0 else 0
    fitting = [level for level, data in carrying.items() if data and abs(volume.size / size - data) < 0.02]
    return fitting[0] if len(fitting) == 1 else ""
