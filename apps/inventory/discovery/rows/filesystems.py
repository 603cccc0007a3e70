"""Writing discovered filesystems to rows, and linking the targets that lie on them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.looks import FILESYSTEMS
from apps.inventory.discovery.models import NOTHING, FoundFilesystem
from apps.inventory.discovery.readings import Readings
from apps.inventory.discovery.rows.writer import Sheet, is_typed, was_discovered
from apps.inventory.discovery.tools.findmnt import Mount, Mounts
from apps.inventory.models import Array, Disk, Filesystem, Host, Target
from apps.inventory.target_identity import Place, is_same_filesystem, offer_directories, settle_typed_target
from apps.inventory.vocabulary import TargetKind

UNKNOWN_TYPE = "unknown"  # of a filesystem whose type was not printed
SECTOR = 512  # bytes; XFS prints sunit and swidth in sectors


def write_filesystems(
    host: Host,
    found: list[FoundFilesystem],
    below: tuple[Mapping[str, Disk] | None, Mapping[str, Array]],
    readings: Readings,
    ledger: Ledger | None = None,
) -> dict[str, Filesystem]:
    """Write the mounted filesystems and return their rows by mount point.

    `below` are the disks and arrays; the disks are None if lsblk could not be read, and what the filesystems lie on then
    stays as it was. Those that only an earlier look of findmnt listed stay as they were.
    """
    look, earlier = readings.look("findmnt"), readings.findmnt.earlier if readings.findmnt else frozenset()
    disks, arrays = below
    rows = list(Filesystem.objects.filter(host=host).order_by("-is_present", "-id"))
    matches = {one.mount.target: _matching(rows, one.mount) for one in found}
    used = {row.pk for row in matches.values() if row}
    sheet, written = Sheet(Filesystem, ledger), {}
    for row in rows:
        is_in_the_way = row.mount_point in matches and row.mount_point not in earlier and row.pk not in used
        is_gone = was_discovered(row) and look.lists(FILESYSTEMS, row.type)
        if row.pk not in used and row.is_present and (is_gone or is_in_the_way):
            sheet.put(row, {"is_present": False})
    sheet.write()  # first, to free the mount points for others
    for one in found:
        known = matches[one.mount.target]
        if one.mount.target in earlier:
            if known is not None:
                values = {name: value for name, value in _values(one.mount).items() if name != "is_present"}
                written[one.mount.target] = sheet.put(known, values | _as_made(one))
            continue
        row = known or Filesystem(lab_id=host.lab_id, host=host, type=UNKNOWN_TYPE)
        is_told = disks is not None and (one.layer is not None or readings.look("lsblk").is_whole)
        lies_on = _below(one, disks or {}, arrays) if is_told and (one.mount.source or one.mount.numbers) else {}
        written[one.mount.target] = sheet.put(
            row, _values(one.mount) | _as_made(one) | lies_on, exact=("disk", "array")
        )
    sheet.write()
    return written


def _matching(rows: list[Filesystem], mount: Mount) -> Filesystem | None:
    """Return the filesystem of this mount point, unless it was made anew or is of another type."""
    return next((row for row in rows if row.mount_point == mount.target and not _is_another(row, mount)), None)


def _is_another(row: Filesystem, mount: Mount) -> bool:
    if is_typed(row, "is_present"):
        return False
    if mount.fstype and row.type not in (mount.fstype, UNKNOWN_TYPE) and not is_typed(row, "type"):
        return True
    return bool(row.uuid and mount.uuid and row.uuid != mount.uuid and not is_typed(row, "uuid"))


def _below(one: FoundFilesystem, disks: Mapping[str, Disk], arrays: Mapping[str, Array]) -> dict[str, int | None]:
    disk = disks.get(one.layer.name) if one.layer and one.layer.kind == "disk" else None
    array = arrays.get(one.layer.name) if one.layer and one.layer.kind == "array" else None
    return {"disk": disk.pk if disk else None, "array": array.pk if array else None}


def _values(mount: Mount) -> dict[str, object]:
    return {
        "mount_point": mount.target,
        "type": mount.fstype,
        "device_name": mount.source,
        "uuid": mount.uuid,
        "mount_options": mount.options,
        "size_bytes": mount.size,
        "used_bytes": mount.used,
        "free_bytes": mount.available,
        "journal_mode": _option(mount, r"data=(\w+)", ("ext3", "ext4")),
        "stripe_unit": _sectors(_option(mount, r"sunit=(\d{1,12})", ("xfs",))),
        "stripe_width": _sectors(_option(mount, r"swidth=(\d{1,12})", ("xfs",))),
        "is_present": True,
    }


def _as_made(one: FoundFilesystem) -> dict[str, object]:
    """Return the options of mkfs as the filesystem itself still knows them."""
    if one.made is None:
        return {}
    made = one.made
    stripes = {"stripe_unit": made.stripe_unit or NOTHING, "stripe_width": made.stripe_width or NOTHING}
    told = {} if made.stripe_unit is None else stripes
    return {"mkfs_options": made.options, **({"block_size": made.block_size} if made.block_size else {}), **told}


def _option(mount: Mount, pattern: str, types: tuple[str, ...]) -> str:
    found = re.search(rf"(?:^|,){pattern}(?:,|$)", mount.options) if mount.fstype in types else None
    return found[1] if found else ""


def _sectors(count: str) -> int | None:
    return int(count) * SECTOR if count else None


def write_targets(
    host: Host, mounts: Mounts, filesystems: Mapping[str, Filesystem], directories: Sequence[str]
) -> None:
    """Link each target that has a path to the filesystem that holds it; make the agent's own directories targets.

    A target whose filesystem is gone stays where it was (`target_identity.py`).
    """
    places = _reported_places(host) or [_place_of(path, mounts.holder_of(path)) for path in directories]
    if places:
        offer_directories(host, places)
    targets = list(Target.objects.filter(host=host).select_related("filesystem").order_by("-is_agents_own", "id"))
    sheet = Sheet(Target)
    for target in targets:
        holder = mounts.holder_of(target.path) if _is_path(target) else None
        filesystem = filesystems.get(holder.target) if holder else None
        if holder is None or filesystem is None:
            continue
        if target.lies_on:
            is_there = not target.gone_at and is_same_filesystem(
                target.lies_on, _place_of(target.path, holder).identity
            )
        else:
            is_there = settle_typed_target(target, filesystem, targets)
        if is_there:
            sheet.put(target, {"filesystem": filesystem.pk})
    sheet.write()


def _reported_places(host: Host) -> list[Place]:
    """Return the places that the agent reports at its polls; none from the oldest agents.

    They are newer than any inventory.
    """
    agent: Any = getattr(host, "agent", None)
    places = [Place.from_json(directory) for directory in agent.directories] if agent else []
    return [place for place in places if place.path]


def _place_of(directory: str, holder: Mount | None) -> Place:
    if holder is None:
        return Place(directory)
    return Place(directory, holder.fstype, holder.uuid, holder.source, holder.target)


def _is_path(target: Target) -> bool:
    return target.kind in (TargetKind.DIRECTORY, TargetKind.FILE) and target.path.startswith("/")
