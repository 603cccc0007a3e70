"""What people paste to say which slots hold disks: the driver's listing, and lines `c1d0 sda`.

    # grep HITACH `ls -t /proc/scsi/mvSata/*`
    /proc/scsi/mvSata/12:1 4 0 0 2250308 488412117        entry 12: controller 1, disk 4 (the other numbers have no known meaning)
    HITACH NCQ 1                                          what the driver calls the drive; may stand in the same line
    c1d0 /dev/sda                                         a slot and, where it is printed, its device name
    ...                                                   lines were left out

Source: seed 001 and Marvell's mvSata 3.6.1. Lines that begin with # or $ are commands. Each entry must fit the rule
entry = disks per controller × controller + disk; one that does not is an error, for then the rule is another.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from apps.inventory.slots.driver_names import DISKS_PER_CONTROLLER, entry_of, slot_of
from apps.inventory.slots.names import MOST, Slot, SlotError, slot_named

MOST_LINES = 10_000
_ENTRY = re.compile(r"(?:\S*/)?(\d{1,5}):\s*(\d{1,4})\s+(\d{1,4})((?:\s+\d+)*)(?:\s+(\S.*))?")
_SLOT = re.compile(r"((?:c\d{1,4})?d\d{1,4})(?:\s*(?:=|:|->|→)?\s*(?:/dev/)?([a-z][a-z0-9]{1,30}))?", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z][\w .-]{0,80}")
EXPECTED = "/proc/scsi/mvSata/12:1 4 … or c1d0 sda"


@dataclass(frozen=True)
class ListingEntry:
    slot: Slot
    device_name: str = ""  # where it is printed
    drive: str = ""  # what the driver calls it


@dataclass(frozen=True)
class Listing:
    """A driver's listing; `has_gaps` means that it leaves lines out itself and does not show which slots are empty."""

    entries: tuple[ListingEntry, ...]
    has_gaps: bool = False


def read(text: str, per_controller: int = DISKS_PER_CONTROLLER) -> Listing:
    """Parse a listing of the driver's entries.

    Raises:
        SlotError: with the line, what was found and what was expected.
    """
    results: dict[Slot, ListingEntry] = {}
    last: Slot | None = None
    has_gaps = False
    for number, line in enumerate(_lines(text), 1):
        if not line or line[0] in "#$":
            continue
        if line in ("...", "…"):
            has_gaps = True
        elif last and not _ENTRY.fullmatch(line) and not _SLOT.fullmatch(line) and _DRIVE.fullmatch(line):
            results[last] = replace(results[last], drive=line.split()[0])
            last = None
        else:
            entry = _entry(line, number, per_controller)
            results[entry.slot] = _joined(results.get(entry.slot), entry, number)
            last = entry.slot if "/" in line or ":" in line else None
    return Listing(tuple(results.values()), has_gaps)


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) > MOST_LINES:
        raise SlotError(f"{len(lines)} lines", f"at most {MOST_LINES}")
    return lines


def _entry(line: str, number: int, per_controller: int) -> ListingEntry:
    if driver := _ENTRY.fullmatch(line):
        slot = Slot(int(driver[2]), int(driver[3]))
        if entry_of(slot, per_controller) != int(driver[1]) or slot.number >= per_controller:
            rule = f"{per_controller} × {slot.controller} + {slot.number} = {entry_of(slot, per_controller)}"
            raise SlotError(driver[1], f"entry number {rule}", number)
        return ListingEntry(slot, drive=(driver[5] or "").split(" ")[0])
    if named := _SLOT.fullmatch(line):
        return ListingEntry(slot_named(named[1], number), (named[2] or "").lower())
    raise SlotError(line, EXPECTED, number)


def _joined(before: ListingEntry | None, entry: ListingEntry, number: int) -> ListingEntry:
    if before is None:
        return entry
    if before.device_name and entry.device_name and before.device_name != entry.device_name:
        raise SlotError(f"{entry.slot} {entry.device_name}", f"{before.device_name}, as said above", number)
    return ListingEntry(entry.slot, before.device_name or entry.device_name, before.drive or entry.drive)


def read_slots(text: str, per_controller: int = DISKS_PER_CONTROLLER) -> tuple[Slot, ...]:
    """Parse slots or entry numbers separated by blanks or commas, such as `c1d0 9, 12`, each once.

    Raises:
        SlotError: for anything else, and for too many slots.
    """
    words = text.replace(",", " ").split()
    if len(words) > MOST_LINES:
        raise SlotError(f"{len(words)} slots", f"at most {MOST_LINES}")
    return tuple(dict.fromkeys(_slots(words, per_controller)))


def _slots(words: Iterable[str], per_controller: int) -> Iterable[Slot]:
    for word in words:
        is_entry = word.isascii() and word.isdigit() and len(word) <= len(str(MOST))
        yield slot_of(int(word), per_controller) if is_entry else slot_named(word)
