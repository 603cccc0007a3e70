"""One drive in the outputs of several tools: lsblk knows its device, the RAID tool its slot, smartctl what it is."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from apps.inventory.discovery.cards import Card, Drive
from apps.inventory.discovery.models import FoundController, FoundDisk, FoundEnclosure
from apps.inventory.discovery.storage.drives import is_common_serial, without_shared_numbers
from apps.inventory.discovery.tool_text import wwn_of
from apps.inventory.discovery.tools.smartctl.drives import SmartDrive
from apps.inventory.discovery.tools.sysfs import DeviceTree

_CUT = 8  # the shortest serial number that may be the beginning of a longer one
_IN_ARRAYS = ("online", "spare", "rebuilding")  # some plain cards mirror two drives
_FACTS = (
    "vendor",
    "model",
    "firmware",
    "interface",
    "generation",
    "link_generation",
    "rpm",
    "is_solid_state",
    "capacity_bytes",
    "logical_block_bytes",
    "health",
)


class Disks:
    """Discovered disks by their numbers: never by a name, and never by a number that two of them print."""

    def __init__(self, disks: Sequence[FoundDisk]) -> None:
        self.by_key: dict[str, FoundDisk] = {}
        self.by_wwn: dict[str, set[str]] = defaultdict(set)
        self.by_serial: dict[str, set[str]] = defaultdict(set)
        self.by_beginning: dict[str, set[str]] = defaultdict(set)
        for disk in disks:
            self.put(disk)

    def put(self, disk: FoundDisk) -> None:
        self.by_key[disk.key] = disk
        serial = _plain(disk.serial)
        if wwn := wwn_of(disk.wwn):
            self.by_wwn[wwn].add(disk.key)
        if serial:
            self.by_serial[serial].add(disk.key)
            self.by_beginning[serial[:_CUT]].add(disk.key)

    def same(self, one: Drive | SmartDrive) -> FoundDisk | None:
        wwn, serial = wwn_of(one.wwn), _plain(one.serial)
        keys = self.by_wwn.get(wwn, set()) if wwn else set()
        if not keys and serial:
            begun = self.by_beginning.get(serial[:_CUT], set()) if len(serial) >= _CUT else set()
            cut = {key for key in list(begun)[:50] if _is_cut(_plain(self.by_key[key].serial), serial)}
            keys = self.by_serial.get(serial) or cut
            # Another world wide name is another drive, whatever a bridge says of its serial number.
            keys = {key for key in keys if not (wwn and wwn_of(self.by_key[key].wwn))}
        return self.by_key[next(iter(keys))] if len(keys) == 1 else None

    def done(self) -> list[FoundDisk]:
        return without_shared_numbers(list(self.by_key.values()))


def _plain(serial: str) -> str:
    return "" if is_common_serial(serial) else re.sub(r"[\W_]", "", serial).upper()


def _is_cut(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _CUT and (one.startswith(other) or other.startswith(one))


def with_drives(disks: Disks, label: str, card: Card, controller: FoundController, has_lsblk: bool) -> dict[str, str]:
    """Place → key of the disk. Drives that the kernel sees too keep their device; the others are disks of their own."""
    keys: dict[str, str] = {}
    before = set(disks.by_key)
    for drive in card.drives:
        known = disks.same(drive)
        known = known if known and known.key in before else None  # two slots of one card are two drives
        is_kernels = drive.state == "jbod" or (card.kind == "hba" and drive.state not in _IN_ARRAYS)
        if known is None and (drive.state == "missing" or (is_kernels and has_lsblk)):
            continue  # lsblk lists it, but without a number to match it by
        place: dict[str, Any] = {
            "enclosure": _shelf(label, drive.shelf) if drive.shelf else "",
            "slot_number": drive.slot,
        }
        numbers: dict[str, Any] = {"serial": drive.serial, "wwn": drive.wwn}
        if known is None:
            numbers["serial"] = "" if is_common_serial(drive.serial) else drive.serial
            known = FoundDisk("", f"{label} {drive.place}", controller=controller, **numbers)
        disks.put(replace(known, **place, **_more(known, drive), controller=known.controller or controller))
        keys[drive.place] = known.key
    return keys


def _shelf(label: str, shelf: str) -> str:
    return f"{label} enclosure {shelf}"


def shelves(label: str, card: Card) -> list[FoundEnclosure]:
    used = {drive.shelf for drive in card.drives}
    wanted = (one for one in card.shelves if one.slots or one.name in used)
    return [FoundEnclosure(_shelf(label, one.name), one.vendor, one.model, one.serial, one.slots) for one in wanted]


def with_smart(disks: Disks, drives: Iterable[SmartDrive], has_lsblk: bool, has_cards: bool) -> None:
    """Add what drives report of themselves to the disks.

    A drive that no other tool listed becomes a disk only where no other tool could have listed it.
    """
    for number, drive in enumerate(drives):
        known = disks.same(drive) or _at(disks, drive)
        if known is None and ((has_lsblk and drive.device) or has_cards or not (drive.serial or drive.wwn)):
            continue
        if known is None:
            known = FoundDisk(
                "" if has_lsblk else drive.device, f"smartctl {number}", serial=drive.serial, wwn=drive.wwn
            )
        numbers: dict[str, Any] = {
            "serial": known.serial or ("" if is_common_serial(drive.serial) else drive.serial),
            "wwn": known.wwn or drive.wwn,
        }
        disks.put(replace(known, **_more(known, drive), **numbers))


def _at(disks: Disks, drive: SmartDrive) -> FoundDisk | None:
    """Return the disk with the drive's device name and size, if lsblk printed no number for it (in a container)."""
    device = f"{drive.device}n1" if re.fullmatch(r"nvme\d+", drive.device) else drive.device
    known = disks.by_key.get(device) if device else None
    is_nameless = known is not None and not (known.serial or known.wwn)
    return known if known and is_nameless and known.capacity_bytes == drive.capacity_bytes else None


def _more(known: FoundDisk, drive: Drive | SmartDrive) -> dict[str, Any]:
    """Return the facts that are not known yet.

    lsblk's `sas` for a SATA drive behind a SAS card is replaced by the drive's own interface.
    """
    more = {
        name: value
        for name in _FACTS
        if (value := getattr(drive, name)) not in (None, "") and getattr(known, name) in (None, "")
    }
    if drive.interface and known.interface != drive.interface and not known.device_name:
        more["interface"] = drive.interface
    return more


def with_seats(disks: Disks, tree: DeviceTree | None) -> list[FoundEnclosure]:
    """Add the enclosure and slot that the kernel knows through SES to disks without one; return those enclosures."""
    for key, disk in list(disks.by_key.items()):
        seat = next((tree.seats[name] for name in (key, *disk.aliases) if name in tree.seats), None) if tree else None
        if seat and not disk.enclosure:
            disks.put(replace(disk, enclosure=seat.enclosure, slot_number=seat.slot))
    return [FoundEnclosure(one.name, one.vendor, one.model, "", one.slots) for one in (tree.housings if tree else ())]
