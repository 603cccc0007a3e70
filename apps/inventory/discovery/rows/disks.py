"""Writing discovered disks to rows. A disk is known by WWN or serial number, wherever in the lab it was before.

A number alone does not take a disk from a host that shows it and is heard of: whoever runs on one host must not change what another one is made
of. The claim is told, and the disk goes over when the other host no longer shows it, or is silent.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import Max, Q
from django.utils import timezone

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.looks import ARRAYS, DISKS, PARTIAL, WHOLE, ToolLook
from apps.inventory.discovery.models import FoundDisk
from apps.inventory.discovery.rows.writer import Sheet, is_typed, was_discovered
from apps.inventory.models import Array, Controller, Disk, Host, ToolOutput
from apps.inventory.vocabulary import RaidImplementation

HEARD_WITHIN = timedelta(minutes=10)
CLAIM = "also shown by {host}"


@dataclass(frozen=True)
class ToolCoverage:
    """What the tools of a discovery looked at: what they would have listed and did not is gone.

    `cards` is the look of the tools of RAID controllers. `earlier` are the kernel names of devices that only looks
    before this one listed: they are what others lie on, and nothing is said of them.
    """

    block: ToolLook = WHOLE
    cards: ToolLook = PARTIAL
    earlier: frozenset[str] = frozenset()

    def would_list_disk(self, row: Disk) -> bool:
        """Return whether a tool would have listed this disk of the host."""
        return self.block.lists(DISKS, row.device_name) if row.device_name else self.cards.lists(DISKS)

    def would_list_array(self, row: Array) -> bool:
        """Return whether a tool would have listed this array of the host.

        lsblk lists every device; a RAID controller's array without a device is listed only by the controller's tool.
        """
        by_block = self.block.lists(ARRAYS, row.device_name)
        if row.implementation != RaidImplementation.HARDWARE:
            return by_block
        return self.cards.lists(ARRAYS) or (by_block and bool(row.device_name))

    def is_only_earlier(self, one: FoundDisk) -> bool:
        """Return whether this disk was only seen before."""
        names = {one.device_name, *one.aliases} - {""}
        return bool(names) and names <= self.earlier


def write_disks(
    host: Host,
    found: list[FoundDisk],
    controllers: dict[str, Controller],
    ledger: Ledger | None = None,
    told: ToolCoverage = ToolCoverage(),
    problems: list[str] | None = None,
) -> dict[str, Disk]:
    """Write the discovered disks and return their rows by key (device name or label, and each alias).

    Disks of this host that were not found are marked as not present. `problems` gets a sentence for each disk that a
    living host shows as well.
    """
    rows = DiskRows(host, found)
    sheet = Sheet(Disk, ledger)
    written: dict[str, Disk] = {}
    for seen, matched in rows.matched(found):
        if told.is_only_earlier(seen):
            if matched is not None and matched.host_id == host.pk:
                values = rows.without_clash(matched, seen)
                sheet.put(matched, values)
                written.update(dict.fromkeys((seen.key, *seen.aliases), matched))
            continue
        one, row = rows.without_anothers(seen, matched, problems if problems is not None else [])
        if row is None:
            row = Disk(lab_id=host.lab_id)
        if not rows.is_elsewhere(row):
            controller = controllers[one.controller.address].pk if one.controller else None
            has_moved = row.host_id != host.pk
            values = rows.without_clash(row, one) | {"host": host.pk, "controller": controller, "is_present": True}
            exact = ("controller", "enclosure", "slot_number", "slot_controller") if has_moved else ()
            values |= {"slot_controller": None} if has_moved else {}
            # Behind a RAID controller it has no device of its own any more.
            sheet.put(
                row,
                values,
                inferred=("controller",),
                exact=(*exact, "device_name") if one.label and told.block.lists(DISKS) else exact,
            )
        written.update(dict.fromkeys((one.key, *one.aliases), row))
    for row in rows.gone(told):
        sheet.put(row, {"is_present": False})
    sheet.write()
    return written


class DiskRows:
    """The rows that may be the discovered disks: this host's, and all of the lab with one of the discovered numbers."""

    def __init__(self, host: Host, found: list[FoundDisk]) -> None:
        self.host = host
        serials, wwns = {disk.serial for disk in found} - {""}, {disk.wwn for disk in found} - {""}
        mine = Q(host=host) | Q(serial__in=serials) | Q(wwn__in=wwns)
        of_lab = Disk.objects.filter(mine, lab_id=host.lab_id)
        self.rows = list(of_lab.select_for_update(no_key=True).order_by("id"))
        self.used: set[int] = set()
        self.pairs = {(row.serial, row.model): row for row in self.rows if row.serial}
        self.newest_look = self._newest_looks()
        self.living = self._living()

    def _living(self) -> dict[int, str]:
        """Return the other hosts among these rows whose agents were heard of lately, by name."""
        others = {row.host_id for row in self.rows if row.host_id and row.is_present} - {self.host.pk}
        if not others:
            return {}
        heard = Host.objects.filter(pk__in=others, agent__last_seen_at__gte=timezone.now() - HEARD_WITHIN)
        return dict(heard.values_list("pk", "name"))

    def without_anothers(self, one: FoundDisk, row: Disk | None, problems: list[str]) -> tuple[FoundDisk, Disk | None]:
        """Leave a disk with the other living host that shows it, and note the problem.

        Returns the disk without serial number and WWN and this host's nameless row for its place, or else the disk and
        row unchanged.
        """
        if row is None or row.pk is None or not row.is_present or row.host_id not in self.living:
            return one, row
        numbers = " ".join(filter(None, (one.serial, one.wwn)))
        problems.append(
            f"{one.key}: {numbers} is {CLAIM.format(host=self.living[row.host_id])}, whose it stays while that host shows it"
        )
        place = next((each for each in self.rows if self._is_nameless_place(each, one)), None)
        if place:
            self.used.add(place.pk)
        return replace(one, serial="", wwn=""), place

    def _is_nameless_place(self, row: Disk, one: FoundDisk) -> bool:
        """Return whether the row is this host's for the same place and has no serial number or WWN."""
        if row.host_id != self.host.pk or row.pk in self.used or row.serial or row.wwn:
            return False
        return (row.device_name, row.enclosure, row.slot_number) == (one.device_name, one.enclosure, one.slot_number)

    def matched(self, found: list[FoundDisk]) -> list[tuple[FoundDisk, Disk | None]]:
        """Pair each discovered disk with its stored row or None: by WWN, then serial number, name and slot.

        Names come after the numbers, so that today's sda does not take the row of the disk that was sda before.
        """
        matches: dict[str, Disk] = {}
        for key, is_same in (
            (_wwn, _same_wwn),
            (_serial, _same_serial),
            (_name, self._same_place),
            (_slot, self._same_slot),
        ):
            by_key = defaultdict(list)
            for row in self.rows:
                by_key[key(row)].append(row)
            for one in found:
                if not key(one) or one.key in matches:
                    continue
                rows = (row for row in by_key[key(one)] if row.pk not in self.used and is_same(row, one))
                if row := next(rows, None):
                    matches[one.key] = row
                    self.used.add(row.pk)
        return [(one, matches.get(one.key)) for one in found]

    def _same_slot(self, row: Disk, one: FoundDisk) -> bool:
        """Return whether the row is in the same slot, for tools that print slots and no serial numbers.

        The models must agree as far as both are known.
        """
        has_numbers = (row.serial or row.wwn) and (one.serial or one.wwn)
        return row.host_id == self.host.pk and not has_numbers and _alike(row.model, one.model) and not one.device_name

    def _same_place(self, row: Disk, one: FoundDisk) -> bool:
        if row.host_id != self.host.pk:
            return False
        if not (row.serial or row.wwn):
            return True
        # Without udev (in a container) the same disk prints no numbers.
        return not (one.serial or one.wwn) and one.capacity_bytes in (None, row.capacity_bytes)

    def is_elsewhere(self, row: Disk) -> bool:
        """Return whether another host has shown the disk in a later discovery than the one that is read now."""
        if row.pk is None or row.host_id in (None, self.host.pk) or not row.is_present:
            return False
        return self.newest_look.get(row.host_id or 0, 0) > self.newest_look.get(self.host.pk, 0)

    def _newest_looks(self) -> dict[int, int]:
        hosts = {row.host_id for row in self.rows} | {self.host.pk}
        if hosts == {self.host.pk}:
            return {}
        looks = ToolOutput.objects.filter(host_id__in=hosts - {None}, tool="lsblk")
        return dict(looks.order_by().values_list("host_id").annotate(Max("id")))

    def without_clash(self, row: Disk, one: FoundDisk) -> dict[str, object]:
        """Return the values to write for a disk; serial and model only if no other row of the lab has that pair."""
        values: dict[str, object] = {
            name: getattr(one, name)
            for name in (
                "device_name", "vendor", "wwn", "firmware", "interface", "generation", "link_generation", "rpm", "is_solid_state", "capacity_bytes",
                "logical_block_bytes", "health", "enclosure", "slot_number",
            )
        }  # fmt: skip
        serial = row.serial if is_typed(row, "serial") or not one.serial else one.serial
        model = row.model if is_typed(row, "model") or not one.model else one.model
        if self.pairs.get((serial, model), row) is row:
            values |= {"serial": one.serial, "model": one.model}
            if serial:
                self.pairs[serial, model] = row
        return values

    def gone(self, told: ToolCoverage) -> list[Disk]:
        """Return the present, discovered disks that a tool of this discovery would have listed but did not."""
        mine = (row for row in self.rows if row.host_id == self.host.pk and row.pk not in self.used)
        return [row for row in mine if row.is_present and was_discovered(row) and told.would_list_disk(row)]


def _wwn(one: Disk | FoundDisk) -> object:
    return one.wwn


def _serial(one: Disk | FoundDisk) -> object:
    return one.serial


def _name(one: Disk | FoundDisk) -> object:
    return one.device_name


def _slot(one: Disk | FoundDisk) -> object:
    return (one.enclosure, one.slot_number) if one.slot_number is not None else None


def _same_wwn(_: Disk, one: FoundDisk) -> bool:
    return bool(one.wwn)


def _same_serial(row: Disk, one: FoundDisk) -> bool:
    return bool(one.serial) and _alike(row.model, one.model)


def _alike(model: str, other_model: str) -> bool:
    """Return whether two models are alike, ignoring blanks and cuts.

    lsblk's versions differ in both: SCSI cuts models to 16 characters.
    """
    mine, other = (re.sub(r"[\W_]", "", model).lower() for model in (model, other_model))
    return mine.startswith(other) or other.startswith(mine)
