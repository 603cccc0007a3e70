"""Which of lsblk's devices are disks, and which device names are one and the same drive."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from apps.inventory.discovery.models import FoundDisk
from apps.inventory.discovery.storage.buses import controller_of, interface_of, is_solid_state, vendor_of
from apps.inventory.discovery.tools.lsblk.devices import Device

# Memory, flash without a controller, floppies, boot areas of MMC chips: nothing a benchmark points at.
_IGNORED = re.compile(r"(zram|ram|fd|mtdblock|mtd|sr|nbd)\d+.*|mmcblk\d+(boot\d+|rpmb)")
_NVME_NAMESPACE = re.compile(r"(nvme\d+)n\d+")
# Numbers that hypervisors and cheap bridges give to every disk: they identify none.
_COMMON_SERIAL = re.compile(
    r"(.)\1*|QM\d{5}|drive-scsi.*|0?123456789.*|(0x)?0+|unknown|none|redacted|.{1,3}", re.IGNORECASE
)
_COMMON_WWN = re.compile(r"(0x|eui\.|naa\.|uuid\.|nvme\.)?0*", re.IGNORECASE)


def is_common_serial(serial: str) -> bool:
    return bool(_COMMON_SERIAL.fullmatch(serial))


def is_disk(device: Device) -> bool:
    """Return whether a device is a disk with a medium, neither a layer over others (bcache) nor an empty reader."""
    return device.type == "disk" and not device.parents and device.size != 0 and not _IGNORED.fullmatch(device.kname)


def is_loop(device: Device) -> bool:
    return device.type == "loop"


def drives(devices: Iterable[Device], multipaths: dict[str, str]) -> list[FoundDisk]:
    """Return the disks behind these devices, one for each drive however many paths lead to it.

    `multipaths` maps a device name to the multipath device above it. A number that unrelated devices share is dropped.
    """
    disks = list(devices)
    keys = {device.kname: _drive_key(device, multipaths) for device in disks}
    found = []
    for _, group in groupby(
        sorted(disks, key=lambda device: keys[device.kname]), key=lambda device: keys[device.kname]
    ):
        found.append(_drive(list(group)))
    order = {device.kname: place for place, device in enumerate(disks)}
    return without_shared_numbers(sorted(found, key=lambda disk: order[disk.device_name]))


def _drive_key(device: Device, multipaths: dict[str, str]) -> str:
    if above := multipaths.get(device.kname):
        return f"multipath {above}"
    namespace = _NVME_NAMESPACE.fullmatch(device.kname)
    if namespace and device.serial:
        return f"nvme {namespace[1]} {device.serial}"
    return f"alone {device.kname}"


def _drive(group: list[Device]) -> FoundDisk:
    """Return one disk for all devices of a drive, named after the first.

    The sizes of an NVMe drive's namespaces add up; those of several paths to one disk do not.
    """
    first = group[0]
    sizes = [device.size for device in group if device.size is not None]
    is_nvme = bool(_NVME_NAMESPACE.fullmatch(first.kname))
    return FoundDisk(
        device_name=first.kname,
        aliases=tuple(device.kname for device in group[1:]),
        vendor=vendor_of(first),
        model=re.sub(r"[\s_]+", " ", first.model).strip() or ("loop device" if is_loop(first) else ""),
        serial="" if _COMMON_SERIAL.fullmatch(first.serial) else first.serial,
        wwn="" if _COMMON_WWN.fullmatch(first.wwn) else first.wwn,
        firmware=first.rev[:60],
        interface=interface_of(first),
        is_solid_state=None if is_loop(first) else is_solid_state(first),
        capacity_bytes=(sum(sizes) if is_nvme else max(sizes)) if sizes else None,
        logical_block_bytes=first.log_sec,
        controller=controller_of(first),
    )


def without_shared_numbers(disks: list[FoundDisk]) -> list[FoundDisk]:
    """Clear a serial number (with its model) or WWN that more than one disk prints, as it identifies none of them."""
    serials = Counter((disk.serial, disk.model) for disk in disks)
    wwns = Counter(disk.wwn for disk in disks)
    return [
        replace(
            disk,
            serial=disk.serial if serials[disk.serial, disk.model] == 1 else "",
            wwn=disk.wwn if wwns[disk.wwn] == 1 else "",
        )
        for disk in disks
    ]
