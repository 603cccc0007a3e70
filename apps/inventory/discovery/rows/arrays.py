"""Writing discovered arrays and their members to rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.models import FoundArray, Layer
from apps.inventory.discovery.rows.disks import ToolCoverage
from apps.inventory.discovery.rows.writer import Sheet, is_typed, was_discovered
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Host
from apps.inventory.vocabulary import RaidImplementation


@dataclass(frozen=True)
class Context:
    """What arrays are written with: rows of controllers by address, which tools could be read, where to note differences."""

    controllers: Mapping[str, Controller]
    told: ToolCoverage
    ledger: Ledger | None = None


Place = tuple[int, int | None, int | None, str, str]  # position, disk, member array, partition, state


def typed_hardware(host: Host) -> dict[str, Array]:
    """Return the hardware array that a person entered for each device name.

    What looks like a disk there is this array.
    """
    arrays = Array.objects.filter(host=host, implementation=RaidImplementation.HARDWARE, is_present=True)
    rows = (row for row in arrays.exclude(device_name="").order_by("id") if not was_discovered(row))
    return {row.device_name.removeprefix("/dev/"): row for row in rows}


def hardware_layer(row: Array) -> str:
    """Return the layer name of an array that a RAID card makes; no device has such a name."""
    return f"hardware array {row.pk}"


def write_arrays(
    host: Host,
    found: list[FoundArray],
    disks: Mapping[str, Disk],
    hardware: Iterable[Array],
    context: Context,
) -> dict[str, Array]:
    """Write the discovered arrays, nested members included, and return their rows by layer name.

    Arrays of this host that were not found are marked as not present.
    """
    written = _write_rows(host, found, context) | {hardware_layer(row): row for row in hardware}
    _write_members([one for one in found if one.name in written], written, disks, context.ledger)
    return written


def _write_rows(host: Host, found: list[FoundArray], context: Context) -> dict[str, Array]:
    rows = list(Array.objects.filter(host=host).order_by("id"))
    taken = {(row.name, row.round) for row in rows}
    known = KnownArrays([row for row in rows if not row.round])
    sheet, written = Sheet(Array, context.ledger), {}
    for one in found:
        row = known.take(one)
        if one.device_name.removeprefix("/dev/") in context.told.earlier:
            if row is not None and not _is_another(row, one):
                values = {name: value for name, value in _values(one).items() if name != "is_present"}
                written[one.name] = sheet.put(row, values, inferred=one.inferred)
            continue
        if row is not None and _is_another(row, one):
            _retire(row, sheet, taken)
            row = None
        if row is None:
            row = Array(lab_id=host.lab_id, host=host, name=_free(one, taken), sources={"name": "discovered"})
        controller = context.controllers.get(one.controller.address) if one.controller else None
        if row.pk is not None and row.name in one.formers and not is_typed(row, "name"):
            taken.discard((row.name, ""))
            values = _values(one) | {"name": _free(one, taken)}
        else:
            values = _values(one)
        values |= {"controller": controller.pk} if controller else {}
        written[one.name] = sheet.put(row, values, inferred=one.inferred)
    for row in known.rest():
        if row.is_present and was_discovered(row) and context.told.would_list_array(row):
            sheet.put(row, {"is_present": False})
    sheet.write()
    return written


class KnownArrays:
    """The rows that discovered arrays may be.

    They are looked up by device name, which people do not change, then by UUID and name. An array of a RAID controller
    is never one of software.
    """

    def __init__(self, rows: list[Array]) -> None:
        self.rows = {row.pk: row for row in rows}
        self.keys: dict[tuple[bool, str, str], int] = {}
        for row in reversed(rows):
            for kind, key in (("device", row.device_name), ("uuid", row.uuid), ("name", row.name)):
                if key:
                    self.keys[_is_hardware(row), kind, key] = row.pk

    def take(self, one: FoundArray) -> Array | None:
        is_hardware = one.implementation == RaidImplementation.HARDWARE
        tried = (("device", one.device_name), ("uuid", one.uuid if is_hardware else ""), ("name", one.name))
        for kind, key in tried:
            row = self.rows.get(self.keys.get((is_hardware, kind, key), 0)) if key else None
            if row and (kind != "name" or not row.device_name or not one.device_name):
                return self.rows.pop(row.pk)
        formers = (self.keys.get((is_hardware, "name", former), 0) for former in one.formers)
        return next((self.rows.pop(pk) for pk in formers if pk in self.rows), None)

    def rest(self) -> Iterable[Array]:
        return self.rows.values()


def _is_hardware(row: Array) -> bool:
    return row.implementation == RaidImplementation.HARDWARE


def _is_another(row: Array, one: FoundArray) -> bool:
    return bool(row.uuid and one.uuid and row.uuid != one.uuid) and not is_typed(row, "uuid")


def _retire(row: Array, sheet: Sheet[Array], taken: set[tuple[str, str]]) -> None:
    """Move an array to a round named by its UUID, because another array has taken over its name."""
    base = row.uuid[:50]
    former = next(name for name in (base, *(f"{base} {n}" for n in range(2, 10_000))) if (row.name, name) not in taken)
    taken.discard((row.name, ""))
    taken.add((row.name, former))
    sheet.put(row, {"round": former, "is_present": False})


def _free(one: FoundArray, taken: set[tuple[str, str]]) -> str:
    names = (one.name, *(f"{one.name[:110]} ({n})" for n in range(2, 10_000)))
    name = next(name for name in names if (name, "") not in taken)
    taken.add((name, ""))
    return name


def _values(one: FoundArray) -> dict[str, object]:
    return {
        "device_name": one.device_name,
        "level": one.level,
        "implementation": one.implementation,
        "software": one.software,
        "software_version": one.software_version,
        "write_policy": one.write_policy,
        "read_policy": one.read_policy,
        "uuid": one.uuid,
        "chunk_size": one.chunk_size,
        "layout": one.layout,
        "state": one.state,
        "capacity_bytes": one.capacity_bytes,
        "member_count": one.member_count,
        "is_present": True,
    }


def _write_members(
    found: list[FoundArray], arrays: Mapping[str, Array], disks: Mapping[str, Disk], ledger: Ledger | None
) -> None:
    """Replace members that differ; leave those that people typed and those of arrays for which tools show none."""
    told = {arrays[one.name].pk: places for one in found if (places := _places(one, arrays, disks))}
    typed = {row.pk: row for row in arrays.values() if row.pk in told and is_typed(row, "members")}
    if typed and ledger:
        _compare(typed, told, ledger, arrays, disks)
    wanted = {pk: places for pk, places in told.items() if pk not in typed}
    known: dict[int, list[Place]] = {pk: [] for pk in wanted}
    for member in ArrayMember.objects.filter(array_id__in=wanted).order_by("array_id", "position"):
        place = (member.position, member.disk_id, member.member_array_id, member.partition, member.state)
        known[member.array_id].append(place)
    stale = [pk for pk, places in wanted.items() if places != known[pk]]
    if stale:
        ArrayMember.objects.filter(array_id__in=stale).delete()
        ArrayMember.objects.bulk_create(_member(pk, place) for pk in stale for place in wanted[pk])


def _compare(
    typed: dict[int, Array],
    told: dict[int, list[Place]],
    ledger: Ledger,
    arrays: Mapping[str, Array],
    disks: Mapping[str, Disk],
) -> None:
    """Note where the members that a person typed differ from those of the tools, by name and in order."""
    entered: dict[int, list[str]] = {pk: [] for pk in typed}
    members = ArrayMember.objects.filter(array_id__in=typed).select_related("disk", "member_array")
    for member in members.order_by("array_id", "position"):
        entered[member.array_id].append(str(member))
    names: dict[tuple[int | None, int | None], str] = {(None, row.pk): str(row) for row in arrays.values()}
    names |= {(row.pk, None): str(row) for row in disks.values()}
    for pk, row in typed.items():
        ledger.note(row, "members", entered[pk], [names[disk, array] for _, disk, array, _, _ in told[pk]])


def _places(one: FoundArray, arrays: Mapping[str, Array], disks: Mapping[str, Disk]) -> list[Place]:
    places: list[Place] = []
    for member in one.members:
        disk, array = _ids(member.layer, arrays, disks)
        if disk or array:
            places.append((len(places), disk, array, member.partition[:60], member.state[:40]))
    return places


def _ids(layer: Layer, arrays: Mapping[str, Array], disks: Mapping[str, Disk]) -> tuple[int | None, int | None]:
    if layer.kind == "disk":
        return (disks[layer.name].pk, None) if layer.name in disks else (None, None)
    return (None, arrays[layer.name].pk) if layer.name in arrays else (None, None)


def _member(array_id: int, place: Place) -> ArrayMember:
    position, disk_id, member_array_id, partition, state = place
    return ArrayMember(
        array_id=array_id,
        position=position,
        disk_id=disk_id,
        member_array_id=member_array_id,
        partition=partition,
        state=state,
    )
