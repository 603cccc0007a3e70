"""A host's whole tree as one JSON: host → controllers → disks → arrays → filesystems → targets, and what it is wired to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from apps.inventory.host_parts import HostParts, parts_of
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
)
from apps.inventory.network import ends_of

Thing = dict[str, Any]

_FIELDS: dict[type[Part], tuple[str, ...]] = {
    Host: (
        "name", "fqdn", "cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes", "ram_type", "board",
        "os", "kernel", "architecture", "environment", "hypervisor", "role", "vendor", "model", "serial",
        "hypervisor_version", "sysctl",
    ),
    Controller: (
        "name", "vendor", "model", "model_behind", "kind", "bus", "address", "cache_bytes", "cache_protection",
        "write_policy", "firmware", "ports", "lanes", "sits_on_id", "driver", "serial", "protection_state",
    ),
    Disk: (
        "device_name", "vendor", "model", "serial", "wwn", "firmware", "interface", "generation", "rpm",
        "is_solid_state", "capacity_bytes", "logical_block_bytes", "cache_bytes", "enclosure", "slot_controller",
        "slot_number", "is_present", "link_generation", "media_bytes_per_second", "channel", "health",
    ),
    Array: (
        "name", "device_name", "round", "level", "implementation", "software", "software_version", "uuid", "chunk_size",
        "layout", "state", "capacity_bytes", "member_count", "controller_id", "is_present", "write_policy",
        "read_policy",
    ),
    Filesystem: (
        "type", "device_name", "uuid", "mount_point", "mount_options", "mkfs_options", "block_size", "stripe_unit",
        "stripe_width", "journal_mode", "size_bytes", "used_bytes", "free_bytes", "disk_id", "array_id", "is_present",
    ),
    Target: ("name", "kind", "path", "array_id", "disk_id", "is_agents_own", "nic_id", "peer_id"),
    Enclosure: ("name", "kind", "vendor", "model", "serial", "layout", "boot_slots", "is_present"),
    StoragePath: ("name", "array_id"),
    Nic: (
        "name", "vendor", "model", "driver", "firmware", "bus", "address", "mac", "bits_per_second", "mtu", "count",
        "is_present",
    ),
    Switch: ("name", "vendor", "model", "firmware", "ports"),
    NetworkLink: ("bits_per_second", "mtu", "count"),
}  # fmt: skip
_SECTION = ("position", "name", "kind", "link", "count", "standby_count", "bytes_per_second", "controller_id")


def topology(host: Host) -> Thing:
    """A fixed number of queries, however large the host: see `topology_of`."""
    return topology_of(parts_of([host])[host.pk])


def topology_of(parts: HostParts) -> Thing:
    """What belongs to one thing stands inside it (`controllers[].disks[]`, `filesystems[].targets[]`; disks without a
    controller under `disks`, targets without a filesystem under `targets`). What can lie on many things refers by id:
    `arrays[].members[]` has `disk` or `array`, filesystems and targets have `disk` and `array`, `links[].ends[]` a `nic`
    or a `switch`. `disks_elsewhere` are members of arrays that are not in this host now. Empty fields are null; `absent`
    says of them `not_printed` or `none`, else they are unknown. Sizes in bytes, network rates in bits/s.
    """
    disks = _grouped(parts.disks, "controller_id")
    targets = _grouped(parts.targets, "filesystem_id")
    known = {row.pk for row in parts.controllers}
    return {
        **_shown(parts.host),
        "controllers": [_shown(row) | {"disks": disks[row.pk]} for row in parts.controllers],
        "disks": [disk for pk, some in disks.items() if pk not in known for disk in some],
        "disks_elsewhere": [_shown(row) | {"host_name": row.host and row.host.name} for row in parts.elsewhere],
        "arrays": [_shown(row) | {"members": [_member(m) for m in parts.members.get(row.pk, ())]} for row in parts.arrays],
        "filesystems": [_shown(row) | {"targets": targets[row.pk]} for row in parts.filesystems],
        "targets": [target for pk, some in targets.items() if pk is None for target in some],
        "enclosures": [_shown(row) for row in parts.enclosures],
        "storage_paths": [_shown(row) | {"sections": [_section(s) for s in row.sections.all()]} for row in parts.paths],
        **_network(parts),
    }  # fmt: skip


def _grouped(rows: Iterable[Part], key: str) -> Mapping[int | None, list[Thing]]:
    groups: dict[int | None, list[Thing]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, key)].append(_shown(row))
    return groups


def _member(member: ArrayMember) -> Thing:
    return {
        "position": member.position,
        "disk": member.disk_id,
        "array": member.member_array_id,
        "partition": member.partition or None,
        "state": member.state or None,
    }


def _section(section: PathSection) -> Thing:
    return {name.removesuffix("_id"): None if (value := getattr(section, name)) == "" else value for name in _SECTION}


def _network(parts: HostParts) -> Thing:
    network = parts.network
    return {
        "nics": [_shown(row) for row in network.nics],
        "switches": [_shown(row) for row in network.switches],
        "links": [_shown(row) | {"ends": [_end(end) for end in ends_of(row)]} for row in network.links],
    }


def _end(end: Nic | Switch) -> Thing:
    """A NIC says so much of itself that a far one needs no other look."""
    if isinstance(end, Switch):
        return {"switch": end.pk, "nic": None, "name": end.name}
    return {
        "switch": None, "nic": end.pk, "name": end.name, "host": end.host_id, "host_name": end.host.name,
        "bits_per_second": end.bits_per_second, "mtu": end.mtu, "count": end.count,
    }  # fmt: skip


def _shown(row: Part) -> Thing:
    shown: Thing = {"id": row.pk}
    for name in _FIELDS[type(row)]:
        value = getattr(row, name)
        shown[name.removesuffix("_id")] = None if value == "" else value
    absent = {name: why for name, why in row.absent.items() if name in shown and shown[name] is None}
    return shown | {"absent": absent, "labels": row.labels}
