"""From a driver's listing to changes of disks: which disk is in which slot, its name, and the source of both.

    proposed(listing, inferred, known, enclosure)  →  one `Placement` for each slot with a disk

Nothing is decided silently: each placement says what changes from what to what. A change that takes away what somebody typed
or a tool discovered is `replaces`, and is written only with consent for that slot.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.inventory.slots.driver_listing import Listing
from apps.inventory.slots.driver_names import DISKS_PER_CONTROLLER, device_names, entry_of
from apps.inventory.slots.names import Slot

TYPED, INFERRED = "typed", "inferred"
PLACE = ("enclosure", "slot_controller", "slot_number")
Value = str | int | None


@dataclass(frozen=True)
class KnownDisk:
    """A disk of the host as the inventory has it."""

    key: int
    device_name: str = ""
    enclosure: str = ""
    slot: Slot | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> Value:
        if name == "slot_controller":
            return self.slot.controller if self.slot else None
        if name == "slot_number":
            return self.slot.number if self.slot else None
        return str(getattr(self, name))


@dataclass(frozen=True)
class SlotChange:
    field: str
    before: Value
    after: Value
    source_before: str
    source: str

    @property
    def label(self) -> str:
        return {"slot_controller": "controller", "slot_number": "disk number"}.get(
            self.field, self.field.replace("_", " ")
        )

    @property
    def replaces(self) -> bool:
        return self.before not in (None, "", self.after) and self.source_before != INFERRED


@dataclass(frozen=True)
class Placement:
    """What is to be written for a slot.

    `disk` is None for a disk that the inventory does not have yet; `problem` says why nothing can be written.
    """

    slot: Slot
    entry: int
    device_name: str
    place_source: str
    name_source: str
    drive: str
    disk: KnownDisk | None
    changes: tuple[SlotChange, ...]
    problem: str = ""

    @property
    def replaces(self) -> bool:
        return any(change.replaces for change in self.changes)

    @property
    def act(self) -> str:
        """Return what is to be done with the slot: `problem`, `new`, `replace`, `change` or `same`."""
        if self.problem:
            return "problem"
        if self.disk is None:
            return "new"
        return "replace" if self.replaces else "change" if self.changes else "same"

    def written(self, consent: Collection[str]) -> tuple[SlotChange, ...]:
        """Return the changes that may be written: all, or without consent those that take nothing away."""
        if self.problem:
            return ()
        if str(self.slot) in consent:
            return self.changes
        allowed = [change for change in self.changes if not change.replaces]
        moves = any(change.replaces and change.field in PLACE for change in self.changes)
        return tuple(change for change in allowed if not (moves and change.field in PLACE))


def proposed(
    listing: Listing,
    inferred: Sequence[Slot],
    known: Iterable[KnownDisk],
    enclosure: str,
    per_controller: int = DISKS_PER_CONTROLLER,
    gives_names: bool = True,
    slots: Collection[Slot] = (),
) -> list[Placement]:
    """Return a placement for each slot of the listing, in ascending order of entry numbers.

    `slots` are those that the enclosure has; empty means not known. Names follow from the rule only when the listing is
    whole or the slots that it leaves out are given as `inferred`. A printed name stays, and where the rule gives
    another one that is a problem.
    """
    printed = {entry.slot: entry for entry in listing.entries}
    all_slots = [*printed, *(slot for slot in inferred if slot not in printed)]
    can_name = gives_names and (not listing.has_gaps or bool(inferred))
    by_rule = device_names(all_slots, per_controller) if can_name else {}
    finder = _Finder(known, enclosure, all_slots)
    results = []
    for slot in sorted(all_slots, key=lambda slot: (entry_of(slot, per_controller), slot.order)):
        entry = printed.get(slot)
        device_name = entry.device_name if entry else ""
        name, rule = device_name or by_rule.get(slot, ""), by_rule.get(slot, "")
        disk, problem = finder.find(slot, name)
        if device_name and rule and device_name != rule:
            problem = (
                f"{device_name} is printed here, but the rule gives {rule}: a disk before it is missing or too many."
            )
        elif slots and slot not in slots:
            problem = f"{enclosure} has no slot {slot}."
        sources = (TYPED if entry else INFERRED, TYPED if device_name else INFERRED)
        changes = _changes(disk, enclosure, slot, name, *sources)
        drive = entry.drive if entry else ""
        results.append(Placement(slot, entry_of(slot, per_controller), name, *sources, drive, disk, changes, problem))
    return results


class _Finder:
    """Finds the disk that is meant: the one in the slot, else the one of that name that is in no other slot."""

    def __init__(self, known: Iterable[KnownDisk], enclosure: str, slots: Iterable[Slot]) -> None:
        self.enclosure, self.slots = enclosure, set(slots)
        self.by_slot: dict[Slot, list[KnownDisk]] = {}
        self.by_name: dict[str, list[KnownDisk]] = {}
        for disk in known:
            if disk.slot and disk.enclosure == enclosure:
                self.by_slot.setdefault(disk.slot, []).append(disk)
            if disk.device_name:
                self.by_name.setdefault(disk.device_name, []).append(disk)

    def find(self, slot: Slot, name: str) -> tuple[KnownDisk | None, str]:
        here, called = self.by_slot.get(slot, []), self.by_name.get(name, []) if name else []
        if len(here) > 1:
            return None, f"{len(here)} disks say that they are in {slot}: take all but one out first."
        if len(called) > 1:
            return None, f"{len(called)} disks of this host are called {name}: name them apart first."
        if not here and called and called[0].enclosure == self.enclosure and called[0].slot in self.slots:
            # that disk is in a slot of its own; no second slot may claim it
            return None, "" if _is_weak(called[0], "device_name") else f"{name} sits in {called[0].slot} already."
        if here and called and here[0].key != called[0].key and not _is_weak(called[0], "device_name"):
            return None, f"{slot} holds {here[0].device_name or 'a disk without a name'}, but {name} is another disk."
        result = here or called
        return (result[0], "") if result else (None, "")


def _is_weak(disk: KnownDisk, name: str) -> bool:
    return disk.sources.get(name) == INFERRED


def _changes(
    disk: KnownDisk | None, enclosure: str, slot: Slot, name: str, place_source: str, name_source: str
) -> tuple[SlotChange, ...]:
    wanted: dict[str, tuple[Value, str]] = {
        "enclosure": (enclosure, place_source),
        "slot_controller": (slot.controller, place_source),
        "slot_number": (slot.number, place_source),
    }
    if name:
        wanted["device_name"] = (name, name_source)
    changes = []
    for field_name, (after, source) in wanted.items():
        before = disk.value(field_name) if disk else None
        source_before = disk.sources.get(field_name, "") if disk else ""
        firmer = source == TYPED and source_before == INFERRED
        if before != after or firmer:
            changes.append(SlotChange(field_name, before, after, source_before, source))
    return tuple(changes)


def doubles(placements: Iterable[Placement], known: Iterable[KnownDisk], consent: Collection[str]) -> list[str]:
    """Return the device names that two disks would have after everything is written."""
    names = {disk.key: disk.device_name for disk in known}
    given: list[str] = []
    new: list[str] = []
    for placement in placements:
        for change in placement.written(consent):
            if change.field == "device_name":
                given.append(str(change.after))
                if placement.disk:
                    names[placement.disk.key] = str(change.after)
                else:
                    new.append(str(change.after))
    counts = Counter([*names.values(), *new])
    return sorted({name for name in given if counts[name] > 1})
