"""What discovery found on a host, before it is written anywhere: plain values that name each other by kernel names.

Sizes in bytes. None and '' mean that the tools did not tell; `NOTHING` means that they told there is none.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from apps.inventory.discovery.tools.findmnt import Mount
from apps.inventory.discovery.tools.mkfs import Made


class Nothing(Enum):
    """A field that is empty because there is nothing, which is not the same as unknown."""

    NOTHING = "none"


NOTHING = Nothing.NOTHING


@dataclass(frozen=True)
class Layer:
    """A reference to a found disk (by its key) or array (by name)."""

    kind: Literal["disk", "array"]
    name: str


@dataclass(frozen=True)
class FoundController:
    """A controller.

    `address` is the PCI function (`0000:03:00.0`), the kernel's own name (`nvme0`) or, where nothing else is known, the
    SCSI host that lsblk prints (`sas host 0`). `formers` are names that it had while less was known.
    """

    address: str
    kind: str = ""
    bus: str = ""
    vendor: str = ""
    model: str = ""
    model_behind: str = ""
    driver: str = ""
    serial: str = ""
    firmware: str = ""
    ports: int | None = None
    cache_bytes: int | Nothing | None = None
    cache_protection: str = ""
    protection_state: str = ""
    formers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.model} ({self.address})"[:200] if self.model else self.address


@dataclass(frozen=True)
class FoundDisk:
    """One drive, though it may have several device names.

    Examples are the paths of a multipath disk and the namespaces of an NVMe drive. Behind a RAID controller it has
    none, and `label` stands for it (`c0 252:3`).
    """

    device_name: str
    label: str = ""
    aliases: tuple[str, ...] = ()
    vendor: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    firmware: str = ""
    interface: str = ""
    generation: str = ""
    link_generation: str = ""
    rpm: int | None = None
    is_solid_state: bool | None = None
    capacity_bytes: int | None = None
    logical_block_bytes: int | None = None
    health: str = ""
    enclosure: str = ""
    slot_number: int | None = None
    controller: FoundController | None = None

    @property
    def key(self) -> str:
        return self.device_name or self.label


@dataclass(frozen=True)
class FoundEnclosure:
    name: str
    vendor: str = ""
    model: str = ""
    serial: str = ""
    slots: int | None = None


@dataclass(frozen=True)
class FoundNic:
    name: str
    vendor: str = ""
    model: str = ""
    driver: str = ""
    firmware: str = ""
    bus: str = ""
    address: str = ""
    mac: str = ""
    bits_per_second: int | None = None
    mtu: int | None = None


@dataclass(frozen=True)
class FoundMember:
    """One place in an array. `partition`: where not the whole device is used."""

    layer: Layer
    partition: str = ""
    state: str = ""


@dataclass(frozen=True)
class FoundArray:
    """An array.

    `inferred` are fields that follow from others by a rule and are not printed; `level` is '' where nothing tells it.
    `formers` are names that it had while less was known.
    """

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
    software_version: str = ""
    implementation: str = "software"
    controller: FoundController | None = None
    write_policy: str = ""
    read_policy: str = ""
    formers: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundFilesystem:
    """A mount to store, and what it lies on; None where that is no block device here (tmpfs, NFS, an overlay)."""

    mount: Mount
    layer: Layer | None = None
    made: Made | None = None


@dataclass
class FoundStorage:
    """The storage of a host; `cards` are the controllers that exist, whether or not disks are attached to them."""

    disks: list[FoundDisk] = field(default_factory=list)
    arrays: list[FoundArray] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    cards: list[FoundController] = field(default_factory=list)
    enclosures: list[FoundEnclosure] = field(default_factory=list)

    @property
    def controllers(self) -> list[FoundController]:
        used = [one.controller for one in self.disks if one.controller]
        used += [one.controller for one in self.arrays if one.controller]
        return list({one.address: one for one in (*used, *self.cards)}.values())
