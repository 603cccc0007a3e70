"""Found arrays and their members onto rows."""

from collections.abc import Iterable, Mapping

from apps.inventory.discovery.filling import Sheet, is_typed, was_discovered
from apps.inventory.discovery.found import FoundArray, Layer
from apps.inventory.models import Array, ArrayMember, Disk, Host
from apps.inventory.vocabulary import RaidImplementation

Place = tuple[int, int | None, int | None, str, str]  # position, disk, member array, partition, state


def typed_hardware(host: Host) -> dict[str, Array]:
    """Device name → the hardware array that a person typed in for it: what looks like a disk there is this array."""
    arrays = Array.objects.filter(host=host, implementation=RaidImplementation.HARDWARE, is_present=True)
    return {row.device_name.removeprefix("/dev/"): row for row in arrays.exclude(device_name="").order_by("id")}


def hardware_layer(row: Array) -> str:
    """The name of its layer among the found ones; no device has such a name."""
    return f"hardware array {row.pk}"


def write_arrays(
    host: Host, found: list[FoundArray], disks: Mapping[str, Disk], hardware: Iterable[Array]
) -> dict[str, Array]:
    """Layer name → row, nested members included. Arrays of this host that were not found are marked as not present."""
    written = _write_rows(host, found) | {hardware_layer(row): row for row in hardware}
    _write_members(found, written, disks)
    return written


def _write_rows(host: Host, found: list[FoundArray]) -> dict[str, Array]:
    rows = list(Array.objects.filter(host=host).order_by("id"))
    current = [row for row in rows if not row.round and row.implementation != RaidImplementation.HARDWARE]
    taken = {(row.name, row.round) for row in rows}
    # By device name, which people do not change; a row without one by its name.
    known = {row.device_name or row.name: row for row in reversed(current)}
    sheet, written = Sheet(Array), {}
    for one in found:
        row = known.pop(one.device_name, None) or known.pop(one.name, None)
        if row is not None and _is_another(row, one):
            _retire(row, sheet, taken)
            row = None
        if row is None:
            row = Array(lab_id=host.lab_id, host=host, name=_free(one, taken), sources={"name": "discovered"})
        written[one.name] = sheet.put(row, _values(one), inferred=one.inferred)
    for row in known.values():
        if row.is_present and was_discovered(row):
            sheet.put(row, {"is_present": False})
    sheet.write()
    return written


def _is_another(row: Array, one: FoundArray) -> bool:
    return bool(row.uuid and one.uuid and row.uuid != one.uuid) and not is_typed(row, "uuid")


def _retire(row: Array, sheet: Sheet[Array], taken: set[tuple[str, str]]) -> None:
    """Another array has taken over the name: the former one stays, in a round named by its UUID."""
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
        "implementation": RaidImplementation.SOFTWARE,
        "software": one.software,
        "uuid": one.uuid,
        "chunk_size": one.chunk_size,
        "layout": one.layout,
        "state": one.state,
        "capacity_bytes": one.capacity_bytes,
        "member_count": one.member_count,
        "is_present": True,
    }


def _write_members(found: list[FoundArray], arrays: Mapping[str, Array], disks: Mapping[str, Disk]) -> None:
    """Replaced where they differ; left alone where people typed them or where the tools show none."""
    wanted = {
        arrays[one.name].pk: places
        for one in found
        if not is_typed(arrays[one.name], "members") and (places := _places(one, arrays, disks))
    }
    known: dict[int, list[Place]] = {pk: [] for pk in wanted}
    for member in ArrayMember.objects.filter(array_id__in=wanted).order_by("array_id", "position"):
        place = (member.position, member.disk_id, member.member_array_id, member.partition, member.state)
        known[member.array_id].append(place)
    stale = [pk for pk, places in wanted.items() if places != known[pk]]
    if stale:
        ArrayMember.objects.filter(array_id__in=stale).delete()
        ArrayMember.objects.bulk_create(_member(pk, place) for pk in stale for place in wanted[pk])


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
