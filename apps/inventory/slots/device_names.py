"""The naming rule of an enclosure, worked out for the disks in it: entry, letter, block number, and what is certain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.inventory.models import Enclosure
from apps.inventory.slots.driver_names import (
    DISKS_PER_CONTROLLER,
    block_number,
    device_names,
    entry_of,
    index_of,
    possible_entries,
    slot_of,
)
from apps.inventory.slots.grid import DiskHere
from apps.inventory.slots.layout import Rows, slots_in
from apps.inventory.slots.names import Slot
from apps.inventory.slots.spans import most_controllers
from apps.inventory.vocabulary import NamingRule

MOST_CONTROLLERS = 255


@dataclass(frozen=True)
class NamedDisk:
    """One line of the table of names.

    `by_rule` is the name that the rule gives; `possible` are the first and last slot that it can have if only the
    printed entries hold, None where it is printed.
    """

    disk: DiskHere
    slot: Slot
    entry: int
    by_rule: str
    block: tuple[int, int] | None
    possible: tuple[Slot, Slot] | None

    @property
    def agrees(self) -> bool:
        return self.disk.device_name in ("", self.by_rule)


@dataclass(frozen=True)
class Naming:
    per_controller: int
    lines: tuple[NamedDisk, ...]
    controllers: dict[int, frozenset[int]]  # disk → controllers that are possible for it

    @property
    def disagreements(self) -> list[str]:
        return [
            f"{line.slot} holds {line.disk.device_name}, but by the driver's entry numbers it would be {line.by_rule}."
            for line in self.lines
            if not line.agrees
        ]

    @property
    def as_numbers(self) -> list[int]:
        return [line.entry for line in self.lines]

    @property
    def as_text(self) -> list[int]:
        """Return the entry numbers as a directory listing sorts them: as text, which misleads readers."""
        return sorted(self.as_numbers, key=str)

    def at_most(self, disks: Iterable[int]) -> int | None:
        """Return how many controllers these disks can touch at most; None where no name among them is inferred."""
        keys = list(disks)
        inferred = {line.disk.key for line in self.lines if line.possible}
        if not keys or not inferred.intersection(keys) or not self.controllers.keys() >= set(keys):
            return None
        return most_controllers([self.controllers[key] for key in keys])


def naming_of(row: Enclosure, rows: Rows, disks: Iterable[DiskHere]) -> Naming | None:
    """Return the driver's naming of the disks in an enclosure; None where the enclosure has no naming rule.

    Disks in slots without a controller number are not named by the rule.
    """
    if row.naming_rule != NamingRule.DRIVER_ENTRY:
        return None
    per = row.disks_per_controller or DISKS_PER_CONTROLLER
    placed = {disk.slot: disk for disk in disks if disk.slot and _is_numbered(disk.slot, per)}
    names = device_names(placed, per)
    printed = {
        index: entry_of(slot, per)
        for slot, disk in placed.items()
        if not disk.inferred and (index := index_of(disk.device_name)) is not None
    }
    count = max(len(slots_in(rows)), *(entry_of(slot, per) + 1 for slot in placed)) if placed else 0
    ranges = {disk.key: _possible(disk, printed, len(placed), count) for disk in placed.values()}
    lines = [_line(disk, slot, names[slot], per, ranges[disk.key]) for slot, disk in placed.items()]
    controllers = {
        disk.key: _controllers(ranges[disk.key] or [entry_of(slot, per)], per) for slot, disk in placed.items()
    }
    return Naming(per, tuple(sorted(lines, key=lambda line: line.entry)), controllers)


def _is_numbered(slot: Slot, per: int) -> bool:
    """Return whether a driver can have an entry for the slot."""
    return slot.controller is not None and slot.controller <= MOST_CONTROLLERS and slot.number < per


def _controllers(entries: Sequence[int], per: int) -> frozenset[int]:
    """Return the controllers of consecutive entries."""
    return frozenset(range(entries[0] // per, entries[-1] // per + 1))


def _possible(disk: DiskHere, printed: dict[int, int], count: int, slots: int) -> range:
    """Return the possible entries of a disk; empty where nothing is inferred or no letter is known."""
    index = index_of(disk.device_name)
    return possible_entries(index, printed, count, slots) if disk.inferred and index is not None else range(0)


def _line(disk: DiskHere, slot: Slot, by_rule: str, per: int, possible: range) -> NamedDisk:
    index = index_of(disk.device_name or by_rule)
    ends = (slot_of(possible[0], per), slot_of(possible[-1], per)) if possible else None
    return NamedDisk(disk, slot, entry_of(slot, per), by_rule, None if index is None else block_number(index), ends)
