"""A workload point in words."""

from typing import Protocol

from apps.lib import units


class HasPoint(Protocol):
    """A `Point`, or a parsed sample."""

    @property
    def file_size(self) -> int | None: ...
    @property
    def block_size(self) -> int | None: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def iodepth(self) -> int | None: ...


def point_text(point: HasPoint) -> str:
    """`4 KiB blocks, 1 GiB file, 4 jobs, depth 16`: the three sizes are never mixed, so each is named."""
    parts = [
        f"{units.size(point.block_size)} blocks" if point.block_size else "",
        f"{units.size(point.file_size)} file" if point.file_size else "",
        f"{point.threads} {'job' if point.threads == 1 else 'jobs'}" if point.threads else "",
        f"depth {point.iodepth}" if point.iodepth else "",
    ]
    return ", ".join(part for part in parts if part)
