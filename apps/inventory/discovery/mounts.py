"""Which mounts are filesystems that a benchmark could be about."""

from collections.abc import Iterable

from apps.inventory.discovery.findmnt import Mount, Mounts

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
