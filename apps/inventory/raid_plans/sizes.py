"""What md leaves of its members: metadata 1.2 and whole chunks, as mdadm 4 lays them out. Sizes in bytes.

The data begin behind the superblock, room for the write-intent bitmap and head room of 128 MiB, rounded up to whole MiB: 129 MiB on
disks from 128 GiB, less on smaller ones (mdadm 4.x, super1.c: validate_geometry1, choose_bm_space). RAID 0, 5, 6 and 10 use
whole chunks of a member (Create.c); RAID 1 has no chunk. md's RAID 0 also uses what is larger than the smallest member.
"""

from collections.abc import Sequence

from apps.inventory.geometry import data_members

SECTOR = 512
MIB_SECTORS = 2048
HEAD_ROOM = 128 * MIB_SECTORS
_BEFORE = 24  # superblock and its surroundings, in sectors
_GIB_SECTORS = 1024 * MIB_SECTORS


def data_offset(size: int, chunk: int | None) -> int:
    """Bytes at a member's beginning that hold no data."""
    sectors = size // SECTOR
    room = HEAD_ROOM
    while room << 10 > sectors and (chunk is None or room > 2 * chunk // SECTOR):
        room >>= 1
    offset = _BEFORE + _bitmap(sectors) + room
    return -(-offset // MIB_SECTORS) * MIB_SECTORS * SECTOR


def _bitmap(sectors: int) -> int:
    if sectors < 128:
        return 0
    if sectors - 128 >= 200 * _GIB_SECTORS:
        return 256
    return 128 if sectors - 8 > 8 * _GIB_SECTORS else 8


def used_of(size: int, chunk: int | None) -> int:
    """Bytes of a member that hold data or parity: whole chunks, or whole KiB where there is no chunk."""
    unit = chunk or 1024
    return max(0, (size - data_offset(size, chunk)) // unit * unit)


def capacity_of(level: str, sizes: Sequence[int], chunk: int) -> int:
    """Of an array of members of these sizes; `level` is 0, 1, 5, 6 or 10 (two copies)."""
    used = [used_of(size, None if level == "1" else chunk) for size in sizes]
    least = min(used, default=0)
    if level == "0":
        return sum(used)
    if level == "1":
        return least
    if level == "10":
        return len(used) * (least // chunk) // 2 * chunk
    return int(data_members(level, len(used))) * least
