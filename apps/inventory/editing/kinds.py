"""The kinds of inventory that can be edited, how their fields are grouped, and what hangs below each."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import models

from apps.inventory.models import (
    Array,
    ArrayMember,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    NetworkLink,
    Nic,
    Part,
    PathSection,
    StoragePath,
    Switch,
    Target,
)  # fmt: skip

Group = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Places:
    """Rows that belong to a part, in order: an array's members, a path's sections."""

    model: type[models.Model]
    parent: str
    name: str
    word: str
    fields: tuple[str, ...]

    def column(self, name: str) -> str:
        """`disk` → `disk_id`."""
        field: Any = self.model._meta.get_field(name)
        return str(field.attname)


@dataclass(frozen=True)
class Kind:
    """`plural` stands in addresses, `word` in sentences; `alike` are the fields that count on from one
    to the next of many alike ones, `elsewhere` those that have a page of their own for editing.
    """

    model: type[Part]
    plural: str
    word: str
    groups: tuple[Group, ...]
    places: Places | None = None
    alike: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """All that can be edited, but labels and notes, which every part has."""
        return (*(field for _, fields in self.groups for field in fields), *self.elsewhere)

    def field(self, name: str) -> "models.Field[Any, Any]":
        found = self.model._meta.get_field(name)
        assert isinstance(found, models.Field)
        return found

    @property
    def words(self) -> str:
        return self.plural.replace("-", " ")

    @property
    def new_name(self) -> str:
        """The route that adds one."""
        return f"{self.name}-new"

    @property
    def has_host(self) -> bool:
        return "host" in self.fields


MEMBERS = Places(ArrayMember, "array", "members", "member", ("disk", "member_array", "partition", "state"))
SECTIONS = Places(
    PathSection, "path", "sections", "section",
    ("name", "kind", "link", "count", "standby_count", "bytes_per_second", "controller"),
)  # fmt: skip

KINDS = (
    Kind(Host, "hosts", "host", (
        ("Name", ("name", "fqdn", "role")),
        ("Machine", ("vendor", "model", "serial", "board")),
        ("Processors and memory", ("cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes", "ram_type")),
        ("System", ("os", "kernel", "architecture", "environment", "hypervisor", "hypervisor_version", "sysctl")),
        ("Maintenance", ("is_in_maintenance", "maintenance_note")),
    )),
    Kind(Controller, "controllers", "controller", (
        ("Name and place", ("host", "name", "sits_on", "address", "bus")),
        ("What it is", ("kind", "vendor", "model", "model_behind", "serial", "firmware", "driver")),
        ("Cache", ("cache_bytes", "cache_protection", "protection_state", "write_policy")),
        ("Links", ("ports", "lanes")),
    ), alike=("name",)),
    Kind(Disk, "disks", "disk", (
        ("Place", ("host", "controller", "device_name", "enclosure", "slot_controller", "slot_number", "channel", "is_present")),
        ("What it is", ("vendor", "model", "serial", "wwn", "firmware", "health")),
        ("How it is connected", ("interface", "generation", "link_generation")),
        ("Capacity and speed", (
            "capacity_bytes", "logical_block_bytes", "cache_bytes", "rpm", "is_solid_state", "media_bytes_per_second",
        )),
    ), alike=("device_name", "slot_number")),
    Kind(Array, "arrays", "array", (
        ("Name and place", ("host", "name", "device_name", "round", "uuid", "is_present")),
        ("Level", ("level", "implementation", "software", "software_version", "controller", "layout")),
        ("Geometry", ("chunk_size", "capacity_bytes", "member_count")),
        ("State", ("state", "write_policy", "read_policy")),
    ), MEMBERS, alike=("name",)),
    Kind(Filesystem, "filesystems", "filesystem", (
        ("Place", ("host", "disk", "array", "device_name", "mount_point", "uuid", "is_present")),
        ("How it was made", ("type", "mkfs_options", "block_size", "stripe_unit", "stripe_width")),
        ("How it is mounted", ("mount_options", "journal_mode")),
        ("Space", ("size_bytes", "used_bytes", "free_bytes")),
    )),
    Kind(Target, "targets", "target", (
        ("Where tests point", ("host", "name", "kind", "path")),
        ("What it lies on", ("filesystem", "array", "disk")),
        ("Network", ("nic", "peer")),
    )),
    Kind(Enclosure, "enclosures", "enclosure", (
        ("Name and place", ("host", "name", "kind", "is_present")),
        ("What it is", ("vendor", "model", "serial")),
        ("Device names", ("naming_rule", "disks_per_controller")),
    ), alike=("name",), elsewhere=("layout", "boot_slots")),
    Kind(Nic, "nics", "NIC", (
        ("Name and place", ("host", "name", "address", "bus", "is_present")),
        ("What it is", ("vendor", "model", "driver", "firmware", "mac")),
        ("Link", ("bits_per_second", "mtu", "count")),
    ), alike=("name",)),
    Kind(Switch, "switches", "switch", (("What it is", ("name", "vendor", "model", "firmware", "ports")),), alike=("name",)),
    Kind(NetworkLink, "network-links", "network link", (
        ("One end", ("nic", "switch")),
        ("The other end", ("far_nic", "far_switch")),
        ("What it carries", ("bits_per_second", "mtu", "count")),
    )),
    Kind(StoragePath, "storage-paths", "storage path", (("What it is", ("host", "name", "array")),), SECTIONS),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}
BY_PLURAL = {kind.plural: kind for kind in KINDS}


def kind_of(part: Part) -> Kind:
    return BY_NAME[str(part._meta.model_name)]


def editable(kind: Kind, name: str) -> bool:
    return name in kind.fields or name in ("labels", "notes")
