"""What discovery found on a host, before it is written anywhere: plain values that name each other by kernel names.

Sizes in bytes. None and '' mean that the tools did not tell; `NOTHING` means that they told there is none.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from apps.inventory.discovery.findmnt import Mount


class Nothing(Enum):
    """A field that is empty because there is nothing, which is not the same as unknown."""

    NOTHING = "none"


NOTHING = Nothing.NOTHING


@dataclass(frozen=True)
class Layer:
    """A reference to a found disk (by device name) or array (by name)."""

    kind: Literal["disk", "array"]
    name: str


@dataclass(frozen=True)
class FoundController:
    """`address`: the kernel's own name for it; a SCSI host number, not a PCI slot, which lsblk does not print."""

    address: str
    kind: str = ""
    bus: str = ""


@dataclass(frozen=True)
class FoundDisk:
    """One drive, though it may have several device names: the paths of a multipath disk, the namespaces of an NVMe
    drive.
    """

    device_name: str
    aliases: tuple[str, ...] = ()
    vendor: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    firmware: str = ""
    interface: str = ""
    is_solid_state: bool | None = None
    capacity_bytes: int | None = None
    logical_block_bytes: int | None = None
    controller: FoundController | None = None


@dataclass(frozen=True)
class FoundMember:
    """One place in an array. `partition`: where not the whole device is used."""

    layer: Layer
    partition: str = ""
    state: str = ""


@dataclass(frozen=True)
class FoundArray:
    """`inferred`: fields that follow from others by a rule and are not printed. `level` '' where nothing tells it."""

    name: str
    device_name: str
    software: str
    level: str = ""
    uuid: str = ""
    chunk_size: int | Nothing | None = None
    layout: str | Nothing = ""
    state: str = ""
    capacity_bytes: int | None = None
    members: tuple[FoundMember, ...] = ()
    member_count: int | None = None
    inferred: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FoundFilesystem:
    """A mount that is kept, and what it lies on; None where that is no block device here (tmpfs, NFS, an overlay)."""

    mount: Mount
    layer: Layer | None = None


@dataclass
class FoundStorage:
    disks: list[FoundDisk] = field(default_factory=list)
    arrays: list[FoundArray] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def controllers(self) -> list[FoundController]:
        return list({disk.controller.address: disk.controller for disk in self.disks if disk.controller}.values())
