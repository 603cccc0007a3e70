"""Which mounts are filesystems that a benchmark could be about."""

from collections.abc import Iterable

from apps.inventory.discovery.findmnt import Mount, Mounts
from apps.inventory.discovery.mkfs import Made
from apps.inventory.discovery.tools import Readings

MAX_KEPT = 512
# Read-only images; a snap-heavy desktop mounts fifty of them.
_IMAGES = ("squashfs", "iso9660", "udf", "erofs", "cramfs", "romfs")


def is_on_disk(mount: Mount) -> bool:
    """On a block device or a ZFS pool, and not a folder of it mounted again (btrfs subvolumes are kept)."""
    if mount.fstype in _IMAGES or mount.fstype.startswith("fuse."):
        return False
    if mount.fstype == "zfs":
        return True
    return mount.source.startswith("/dev/") and (not mount.root or mount.fstype == "btrfs")


def kept(mounts: Mounts, paths: Iterable[str]) -> list[Mount]:
    """Those on disks, and whatever holds one of `paths` (targets, the agent's directory), be it tmpfs or NFS."""
    holders = {mount.target: mount for mount in map(mounts.holder_of, paths) if mount}
    on_disk = {mount.target: mount for mount in mounts.mounts if is_on_disk(mount)}
    return list((holders | on_disk).values())[:MAX_KEPT]


def made_of(mount: Mount, readings: Readings) -> Made | None:
    """How it was made: ext by its device, XFS by device or mount point, a ZFS dataset by its name."""
    if mount.fstype == "zfs":
        options = readings.zfs.options.get(mount.source) if readings.zfs else None
        return Made(options) if options else None
    tool = readings.xfs_info if mount.fstype == "xfs" else readings.tune2fs if mount.fstype.startswith("ext") else None
    if tool is None:
        return None
    return tool.by_place.get(mount.source) or tool.by_place.get(mount.target)
