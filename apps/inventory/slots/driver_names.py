"""How a driver that numbers its ports gives the kernel's names: seed 001, Marvell's mvSata on the Sun Fire X4500.

    entry number = disks per controller × controller + disk number        c1d4 → 8 × 1 + 4 = 12
    letters in ascending order of the entries that are there               8 → sda, 9 → sdb, 12 → sdc …

Ascending as numbers: a directory listing prints 12 before 8. Block device numbers are those of the kernel's sd driver
(Documentation/admin-guide/devices.txt; drivers/scsi/sd.c): 16 minors a disk, major 8, then 65 to 71 and 128 to 135.
"""

from collections.abc import Iterable, Mapping
from string import ascii_lowercase

from apps.inventory.slots.names import Slot

DISKS_PER_CONTROLLER = 8
MINORS = 16
_MAJORS = (8, *range(65, 72), *range(128, 136))


def entry_of(slot: Slot, per_controller: int = DISKS_PER_CONTROLLER) -> int:
    return per_controller * (slot.controller or 0) + slot.number


def slot_of(entry: int, per_controller: int = DISKS_PER_CONTROLLER) -> Slot:
    return Slot(*divmod(entry, per_controller))


def letters(index: int) -> str:
    """Return the letters of a disk's index: 0 → a, 25 → z, 26 → aa, 701 → zz, 702 → aaa."""
    text, rest = "", index + 1
    while rest:
        rest, last = divmod(rest - 1, 26)
        text = ascii_lowercase[last] + text
    return text


def index_of(device_name: str) -> int | None:
    """Return the index of an sd disk: `sdc` → 2; None for any other device."""
    bare = device_name.removeprefix("/dev/")
    if not bare.startswith("sd") or not bare[2:].isascii() or not bare[2:].isalpha() or not bare.islower():
        return None
    index = 0
    for letter in bare[2:]:
        index = index * 26 + ascii_lowercase.index(letter) + 1
    return index - 1


def block_number(index: int) -> tuple[int, int]:
    """Return (major, minor) of the whole disk with this index: 0 → (8, 0), 15 → (8, 240), 16 → (65, 0)."""
    return _MAJORS[(index & 0xF0) >> 4], ((index & 0xF) << 4) | (index & 0xFFF00)


def device_names(slots: Iterable[Slot], per_controller: int = DISKS_PER_CONTROLLER) -> dict[Slot, str]:
    """Map every slot with a disk to its device name; names ascend with the entry numbers."""
    ascending = sorted(set(slots), key=lambda slot: (entry_of(slot, per_controller), slot.order))
    return {slot: f"sd{letters(index)}" for index, slot in enumerate(ascending)}


def possible_entries(index: int, printed: Mapping[int, int], count: int, slots: int) -> range:
    """Return the entries at which the disk with this letter index can be if only the printed entries are certain.

    `printed` maps letter index to entry number. Between two printed letters there must be room for the letters between
    them; before the first and after the last for those up to a and up to the last of `count` disks in `slots` slots.
    """
    lowest = max([index, *(entry + index - known for known, entry in printed.items() if known <= index)])
    last = slots - count + index
    highest = min([last, *(entry - known + index for known, entry in printed.items() if known >= index)])
    return range(lowest, highest + 1)
