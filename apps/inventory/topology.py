"""A host's whole tree as one JSON: host → controllers → disks → arrays → filesystems → targets."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from apps.inventory.models import Array, ArrayMember, Controller, Disk, Filesystem, Host, Part, Target

_FIELDS: dict[type[Part], tuple[str, ...]] = {
    Host: (
        "name", "fqdn", "cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes", "ram_type", "board",
        "os", "kernel", "architecture", "environment", "hypervisor", "role",
    ),
    Controller: (
        "name", "vendor", "model", "model_behind", "kind", "bus", "address", "cache_bytes", "cache_protection",
        "write_policy", "firmware", "ports", "lanes", "sits_on_id",
    ),
    Disk: (
        "device_name", "vendor", "model", "serial", "wwn", "firmware", "interface", "generation", "rpm",
        "is_solid_state", "capacity_bytes", "logical_block_bytes", "cache_bytes", "enclosure", "slot_controller",
        "slot_number", "is_present",
    ),
    Array: (
        "name", "device_name", "round", "level", "implementation", "software", "software_version", "uuid", "chunk_size",
        "layout", "state", "capacity_bytes", "member_count", "controller_id", "is_present",
    ),
    Filesystem: (
        "type", "device_name", "uuid", "mount_point", "mount_options", "mkfs_options", "block_size", "stripe_unit",
        "stripe_width", "journal_mode", "size_bytes", "used_bytes", "free_bytes", "disk_id", "array_id", "is_present",
    ),
    Target: ("name", "kind", "path", "array_id", "disk_id", "is_agents_own"),
}  # fmt: skip


def topology(host: Host) -> dict[str, Any]:
    """Six queries, however large the host.

    What belongs to one thing stands inside it (`controllers[].disks[]`, `filesystems[].targets[]`; disks without a
    controller under `disks`, targets without a filesystem under `targets`). What can lie on many things refers by id:
    `arrays[].members[]` has `disk` or `array`, filesystems and targets have `disk` and `array`. Empty fields are null;
    `absent` says of them `not_printed` or `none`, else they are unknown. Sizes in bytes.
    """
    controllers = list(Controller.objects.filter(host=host))
    disks = _grouped(Disk.objects.filter(host=host), "controller_id")
    targets = _grouped(Target.objects.filter(host=host), "filesystem_id")
    members = _members(host)
    return {
        **_shown(host),
        "controllers": [_shown(row) | {"disks": disks[row.pk]} for row in controllers],
        "disks": [disk for pk in disks.keys() - {row.pk for row in controllers} for disk in disks[pk]],
        "arrays": [_shown(row) | {"members": members[row.pk]} for row in Array.objects.filter(host=host)],
        "filesystems": [_shown(row) | {"targets": targets[row.pk]} for row in Filesystem.objects.filter(host=host)],
        "targets": targets[None],
    }


def _grouped(rows: Iterable[Part], key: str) -> Mapping[int | None, list[dict[str, Any]]]:
    groups: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, key)].append(_shown(row))
    return groups


def _members(host: Host) -> Mapping[int, list[dict[str, Any]]]:
    groups: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for member in ArrayMember.objects.filter(array__host=host).order_by("array_id", "position"):
        groups[member.array_id].append(
            {
                "position": member.position,
                "disk": member.disk_id,
                "array": member.member_array_id,
                "partition": member.partition or None,
                "state": member.state or None,
            }
        )
    return groups


def _shown(row: Part) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": row.pk}
    for name in _FIELDS[type(row)]:
        value = getattr(row, name)
        shown[name.removesuffix("_id")] = None if value == "" else value
    absent = {name: why for name, why in row.absent.items() if name in shown and shown[name] is None}
    return shown | {"absent": absent, "labels": row.labels}
