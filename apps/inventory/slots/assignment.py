"""Writing what was proposed: which disk sits in which slot, by a driver's listing or one by one.

The preview and the writing read the same rows; a fingerprint of the preview says whether the inventory has changed between.
"""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from apps.inventory.models import Disk, Enclosure
from apps.inventory.slots.driver_listing import Listing
from apps.inventory.slots.driver_names import DISKS_PER_CONTROLLER
from apps.inventory.slots.layout import rows_of, slots_in
from apps.inventory.slots.names import Slot, SlotError
from apps.inventory.slots.placement import PLACE, TYPED, KnownDisk, Placement, doubles, proposed


class PlacingError(ValueError):
    """Nothing was written; the message says why."""


@dataclass(frozen=True)
class SlotWish:
    """What a person enters about an enclosure to place its disks.

    The listing, the slots that are inferred, whether unknown disks are entered, whether names follow from the rule.
    """

    listing: Listing
    inferred: tuple[Slot, ...] = ()
    makes_new: bool = True
    gives_names: bool = True


@dataclass(frozen=True)
class SlotPreview:
    placements: tuple[Placement, ...]
    fingerprint: str

    def count(self, act: str) -> int:
        return sum(placement.act == act for placement in self.placements)

    @property
    def problems(self) -> int:
        return self.count("problem")


def preview(enclosure: Enclosure, wish: SlotWish) -> SlotPreview:
    return _preview(enclosure, wish, _known(list(Disk.objects.filter(host=enclosure.host_id))))


def place(enclosure: Enclosure, wish: SlotWish, consent: Collection[str], fingerprint: str | None) -> int:
    """Write the preview and return how many disks were changed or made; nothing is written if this raises.

    `consent` names the slots where something known may be replaced.

    Raises:
        PlacingError: if the inventory is not what the preview saw, or two disks would have one name.
    """
    with transaction.atomic():
        rows = list(Disk.objects.filter(host=enclosure.host_id).select_for_update(no_key=True).order_by("id"))
        result = _preview(enclosure, wish, known := _known(rows))
        if fingerprint is not None and fingerprint != result.fingerprint:
            raise PlacingError("The inventory has changed since this preview. Look at it again; nothing was written.")
        wanted = [placement for placement in result.placements if placement.disk or wish.makes_new]
        if names := doubles(wanted, known, consent):
            raise PlacingError(
                f"Two disks would be called {', '.join(names[:5])}. Tick the other disk too, or take the name from it first."
            )
        return _write(enclosure, wanted, consent, {row.pk: row for row in rows})


def _preview(enclosure: Enclosure, wish: SlotWish, known: list[KnownDisk]) -> SlotPreview:
    per = enclosure.disks_per_controller or DISKS_PER_CONTROLLER
    slots = _slots(enclosure)
    result = proposed(wish.listing, wish.inferred, known, enclosure.name, per, wish.gives_names, slots)
    seen = [
        [
            str(placement.slot),
            placement.disk and placement.disk.key,
            [asdict(change) for change in placement.changes],
            placement.problem,
        ]
        for placement in result
    ]
    return SlotPreview(tuple(result), hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest())


def _slots(enclosure: Enclosure) -> frozenset[Slot]:
    try:
        return frozenset(slots_in(rows_of(enclosure.layout)))
    except SlotError:
        return frozenset()


def _known(rows: Sequence[Disk]) -> list[KnownDisk]:
    return [KnownDisk(row.pk, row.device_name, row.enclosure, slot_of_disk(row), row.sources) for row in rows]


def slot_of_disk(row: Disk) -> Slot | None:
    return None if row.slot_number is None else Slot(row.slot_controller, row.slot_number)


def _write(enclosure: Enclosure, wanted: Sequence[Placement], consent: Collection[str], rows: dict[int, Disk]) -> int:
    changed, new = list[Disk](), list[Disk]()
    for placement in wanted:
        if changes := placement.written(consent):
            row = rows[placement.disk.key] if placement.disk else _new(enclosure, placement)
            for change in changes:
                _set(row, change.field, change.after, change.source)
            (changed if placement.disk else new).append(row)
    Disk.objects.bulk_update(changed, [*PLACE, "device_name", "sources", "absent", "updated_at"], batch_size=500)
    Disk.objects.bulk_create(new)
    return len(changed) + len(new)


def _new(enclosure: Enclosure, placement: Placement) -> Disk:
    row = Disk(lab_id=enclosure.lab_id, host_id=enclosure.host_id)
    if placement.drive:
        _set(row, "vendor", placement.drive, TYPED)
    row.absent |= {"serial": "not_printed", "model": "not_printed"}
    return row


def _set(row: Disk, name: str, value: object, source: str) -> None:
    setattr(row, name, value)
    row.sources = {**row.sources, name: source}
    row.absent = {field: why for field, why in row.absent.items() if field != name}
    row.updated_at = timezone.now()  # bulk_update does not set it


def put(enclosure: Enclosure, disk: Disk, slot: Slot) -> str:
    """Put one disk into one slot because a person says so, and return a sentence about it.

    Raises:
        PlacingError: if the slot is taken or does not exist.
    """
    slots = _slots(enclosure)
    if slots and slot not in slots:
        raise PlacingError(f"{enclosure} has no slot {slot}.")
    with transaction.atomic():
        here = {"host": enclosure.host_id, "enclosure": enclosure.name, "slot_number": slot.number}
        taken = Disk.objects.filter(**here, slot_controller=slot.controller).exclude(pk=disk.pk).first()
        if taken:
            raise PlacingError(f"{slot} holds {taken}. Take it out first.")
        row = Disk.objects.select_for_update(no_key=True).get(pk=disk.pk)
        before = slot_of_disk(row)
        for name, value in zip(PLACE, (enclosure.name, slot.controller, slot.number), strict=True):
            _set(row, name, value, TYPED)
        row.save(update_fields=[*PLACE, "sources", "absent", "updated_at"])
    return f"{row} is in {slot} now{f'; it was in {before}' if before and before != slot else ''}."


def take_out(enclosure: Enclosure, disk: Disk) -> str:
    """Take a disk out of its slot and return a sentence about it; it stays in the host.

    A later discovery may put it into a slot again.

    Raises:
        PlacingError: if the disk is not in this enclosure.
    """
    with transaction.atomic():
        row = Disk.objects.select_for_update(no_key=True).get(pk=disk.pk)
        if row.enclosure != enclosure.name:
            raise PlacingError(f"{row} is not in {enclosure}.")
        before = slot_of_disk(row)
        row.enclosure, row.slot_controller, row.slot_number = "", None, None
        row.sources = {name: source for name, source in row.sources.items() if name not in PLACE}
        row.save(update_fields=[*PLACE, "sources", "updated_at"])
    return f"{row} is in no slot now{f'; it was in {before}' if before else ''}."
