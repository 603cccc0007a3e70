"""Found filesystems onto rows, and the targets that lie on them."""

import re
from collections.abc import Mapping

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.filling import Sheet, is_typed, was_discovered
from apps.inventory.discovery.findmnt import Mount, Mounts
from apps.inventory.discovery.found import NOTHING, FoundFilesystem
from apps.inventory.models import Array, Disk, Filesystem, Host, Target
from apps.inventory.vocabulary import TargetKind

SECTOR = 512  # XFS prints sunit and swidth in these
AGENTS_TARGET = "agent directory"


def write_filesystems(
    host: Host,
    found: list[FoundFilesystem],
    disks: Mapping[str, Disk] | None,
    arrays: Mapping[str, Array],
    ledger: Ledger | None = None,
) -> dict[str, Filesystem]:
    """Mount point → row. `disks` None: lsblk could not be read, so what they lie on stays as it was."""
    rows = list(Filesystem.objects.filter(host=host).order_by("-is_present", "-id"))
    matches = {one.mount.target: _matching(rows, one.mount) for one in found}
    used = {row.pk for row in matches.values() if row}
    sheet, written = Sheet(Filesystem, ledger), {}
    for row in rows:
        is_in_the_way = row.mount_point in matches and row.pk not in used
        if row.pk not in used and row.is_present and (was_discovered(row) or is_in_the_way):
            sheet.put(row, {"is_present": False})
    sheet.write()  # before others take their mount points
    for one in found:
        row = matches[one.mount.target] or Filesystem(lab_id=host.lab_id, host=host)
        below = {} if disks is None else _below(one, disks, arrays)
        written[one.mount.target] = sheet.put(row, _values(one.mount) | _as_made(one) | below, exact=("disk", "array"))
    sheet.write()
    return written


def _matching(rows: list[Filesystem], mount: Mount) -> Filesystem | None:
    """The filesystem of this mount point, unless it was made anew or is of another type: that is another filesystem."""
    return next((row for row in rows if row.mount_point == mount.target and not _is_another(row, mount)), None)


def _is_another(row: Filesystem, mount: Mount) -> bool:
    if is_typed(row, "is_present"):
        return False
    if row.type != mount.fstype and not is_typed(row, "type"):
        return True
    return bool(row.uuid and mount.uuid and row.uuid != mount.uuid and not is_typed(row, "uuid"))


def _below(one: FoundFilesystem, disks: Mapping[str, Disk], arrays: Mapping[str, Array]) -> dict[str, int | None]:
    disk = disks.get(one.layer.name) if one.layer and one.layer.kind == "disk" else None
    array = arrays.get(one.layer.name) if one.layer and one.layer.kind == "array" else None
    return {"disk": disk.pk if disk else None, "array": array.pk if array else None}


def _values(mount: Mount) -> dict[str, object]:
    return {
        "mount_point": mount.target,
        "type": mount.fstype or "unknown",
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
    """What mkfs was told, as the filesystem itself still knows it."""
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


def write_targets(host: Host, mounts: Mounts, filesystems: Mapping[str, Filesystem], directory: str) -> None:
    """Targets with a path get the filesystem that holds it. The agent's own directory is one, made when it is new."""
    targets = list(Target.objects.filter(host=host).order_by("-is_agents_own", "id"))
    sheet = Sheet(Target)
    if directory:
        targets = _with_agents_own(host, targets, directory, sheet)
    for target in targets:
        holder = mounts.holder_of(target.path) if _is_path(target) else None
        filesystem = filesystems.get(holder.target) if holder else None
        if filesystem:
            sheet.put(target, {"filesystem": filesystem.pk})
    sheet.write()


def _is_path(target: Target) -> bool:
    return target.kind in (TargetKind.DIRECTORY, TargetKind.FILE) and target.path.startswith("/")


def _with_agents_own(host: Host, targets: list[Target], directory: str, sheet: Sheet[Target]) -> list[Target]:
    """The agent has one directory: the target that is already its own, else the one with its path, else a new one."""
    own = next((t for t in targets if t.is_agents_own), None)
    own = own or next((t for t in targets if t.kind == TargetKind.DIRECTORY and t.path == directory), None)
    if own is None:
        names = {target.name for target in targets}
        name = next(n for n in (AGENTS_TARGET, *(f"{AGENTS_TARGET} {i}" for i in range(2, 10_000))) if n not in names)
        own = Target(lab_id=host.lab_id, host=host, name=name, sources={"name": "discovered"})
    sheet.put(own, {"path": directory, "kind": TargetKind.DIRECTORY, "is_agents_own": True})
    for other in targets:
        if other is not own and other.is_agents_own:
            sheet.put(other, {"is_agents_own": False})
    return [own, *(target for target in targets if target is not own)]
