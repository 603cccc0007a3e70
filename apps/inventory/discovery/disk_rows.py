"""Found controllers and disks onto their rows. A disk is known by WWN or serial, wherever in the lab it was before."""

import re
from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Max, Q

from apps.inventory.discovery.filling import Sheet, is_typed, was_discovered
from apps.inventory.discovery.found import FoundController, FoundDisk
from apps.inventory.models import Controller, Disk, Host, ToolOutput


def write_controllers(host: Host, found: Iterable[FoundController]) -> dict[str, Controller]:
    """By address. The name may be changed by people; the address is how discovery finds the row again."""
    sheet = Sheet(Controller)
    rows = list(Controller.objects.filter(host=host).order_by("id"))
    by_address = {row.address: row for row in rows if row.address} | {row.name: row for row in rows if not row.address}
    taken = {row.name for row in rows}
    written = {}
    for one in found:
        row = by_address.get(one.address)
        if row is None:
            name = one.address if one.address not in taken else f"{one.address} (discovered)"
            row = Controller(lab_id=host.lab_id, host=host, name=name, sources={"name": "inferred"})
        values = {"address": one.address, "kind": one.kind, "bus": one.bus}
        written[one.address] = sheet.put(row, values, inferred=("address", "kind", "bus"))
    sheet.write()
    return written


def write_disks(host: Host, found: list[FoundDisk], controllers: dict[str, Controller]) -> dict[str, Disk]:
    """Device name (each of a disk's names) → row. Disks of this host that were not found are marked as not present."""
    rows = DiskRows(host, found)
    sheet = Sheet(Disk)
    written: dict[str, Disk] = {}
    for one, row in rows.matched(found):
        if row is None:
            row = Disk(lab_id=host.lab_id)
        if not rows.is_elsewhere(row):
            controller = controllers[one.controller.address].pk if one.controller else None
            has_moved = row.host_id != host.pk
            values = rows.without_clash(row, one) | {"host": host.pk, "controller": controller, "is_present": True}
            sheet.put(row, values, inferred=("controller",), exact=("controller",) if has_moved else ())
        written.update(dict.fromkeys((one.device_name, *one.aliases), row))
    for row in rows.gone():
        sheet.put(row, {"is_present": False})
    sheet.write()
    return written


class DiskRows:
    """The rows that may be the found disks: this host's, and all of the lab with one of the found numbers."""

    def __init__(self, host: Host, found: list[FoundDisk]) -> None:
        self.host = host
        serials, wwns = {disk.serial for disk in found} - {""}, {disk.wwn for disk in found} - {""}
        mine = Q(host=host) | Q(serial__in=serials) | Q(wwn__in=wwns)
        of_lab = Disk.objects.filter(mine, lab_id=host.lab_id)
        self.rows = list(of_lab.select_for_update(no_key=True).order_by("id"))
        self.used: set[int] = set()
        self.pairs = {(row.serial, row.model): row for row in self.rows if row.serial}
        self.newest_look = self._newest_looks()

    def matched(self, found: list[FoundDisk]) -> list[tuple[FoundDisk, Disk | None]]:
        """Numbers for all, then names: what is sda now must not take the row of the disk that was sda before."""
        matches: dict[str, Disk] = {}
        for key, is_same in (("wwn", _same_wwn), ("serial", _same_serial), ("device_name", self._same_place)):
            by_key = defaultdict(list)
            for row in self.rows:
                by_key[getattr(row, key)].append(row)
            for one in found:
                rows = (row for row in by_key[getattr(one, key)] if row.pk not in self.used and is_same(row, one))
                if one.device_name not in matches and (row := next(rows, None)):
                    matches[one.device_name] = row
                    self.used.add(row.pk)
        return [(one, matches.get(one.device_name)) for one in found]

    def _same_place(self, row: Disk, one: FoundDisk) -> bool:
        if row.host_id != self.host.pk:
            return False
        if not (row.serial or row.wwn):
            return True
        # Without udev (in a container) the same disk prints no numbers.
        return not (one.serial or one.wwn) and one.capacity_bytes in (None, row.capacity_bytes)

    def is_elsewhere(self, row: Disk) -> bool:
        """Another host has shown it in a later look than the one we read now."""
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
        """The fields to write; serial and model stay as they are where another row of the lab has that pair."""
        values: dict[str, object] = {
            name: getattr(one, name)
            for name in ("device_name", "vendor", "wwn", "firmware", "interface", "is_solid_state", "capacity_bytes")
        }
        values["logical_block_bytes"] = one.logical_block_bytes
        serial = row.serial if is_typed(row, "serial") or not one.serial else one.serial
        model = row.model if is_typed(row, "model") or not one.model else one.model
        if self.pairs.get((serial, model), row) is row:
            values |= {"serial": one.serial, "model": one.model}
            if serial:
                self.pairs[serial, model] = row
        return values

    def gone(self) -> list[Disk]:
        mine = (row for row in self.rows if row.host_id == self.host.pk and row.pk not in self.used)
        return [row for row in mine if row.is_present and was_discovered(row)]


def _same_wwn(_: Disk, one: FoundDisk) -> bool:
    return bool(one.wwn)


def _same_serial(row: Disk, one: FoundDisk) -> bool:
    """Models differ in blanks and length between versions of lsblk (SCSI cuts them to 16 characters)."""
    mine, other = (re.sub(r"[\W_]", "", model).lower() for model in (row.model, one.model))
    return bool(one.serial) and (mine.startswith(other) or other.startswith(mine))
