"""A host's whole tree as one JSON: host → controllers → disks → arrays → filesystems → targets, and what it is wired to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from django.db import models

from apps.inventory.fields import specs_of
from apps.inventory.models import (
    ArrayMember,
    Host,
    Nic,
    Part,
    PathSection,
    Switch,
)
from apps.inventory.topology.host_parts import HostParts, parts_of
from apps.inventory.topology.network import ends_of

Thing = dict[str, Any]


def topology(host: Host) -> Thing:
    """Return the topology of a host (see `topology_of`); a fixed number of queries, however large the host."""
    return topology_of(parts_of([host])[host.pk])


def topology_of(parts: HostParts) -> Thing:
    """Return a host's topology as nested dictionaries.

    What belongs to one thing stands inside it (`controllers[].disks[]`, `filesystems[].targets[]`; disks without a
    controller under `disks`, targets without a filesystem under `targets`). What can lie on many things refers by id:
    `arrays[].members[]` has `disk` or `array`, filesystems and targets have `disk` and `array`, `links[].ends[]` a
    `nic` or a `switch`. `disks_elsewhere` are members of arrays that are not in this host now. Empty fields are null;
    `absent` gives the reason `not_printed` or `none`, else they are unknown. Sizes are in bytes, network rates in
    bits/s.
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
    return {"position": section.position} | _fields(section)


def _network(parts: HostParts) -> Thing:
    network = parts.network
    return {
        "nics": [_shown(row) for row in network.nics],
        "switches": [_shown(row) for row in network.switches],
        "links": [_shown(row) | {"ends": [_end(end) for end in ends_of(row)]} for row in network.links],
    }


def _end(end: Nic | Switch) -> Thing:
    """Return an end of a cable; a NIC comes with the facts that readers need of a far one."""
    if isinstance(end, Switch):
        return {"switch": end.pk, "nic": None, "name": end.name}
    return {
        "switch": None, "nic": end.pk, "name": end.name, "host": end.host_id, "host_name": end.host.name,
        "bits_per_second": end.bits_per_second, "mtu": end.mtu, "count": end.count,
    }  # fmt: skip


def _shown(row: Part) -> Thing:
    visible = {"id": row.pk} | _fields(row)
    absent = {name: why for name, why in row.absent.items() if name in visible and visible[name] is None}
    return visible | {"absent": absent, "labels": row.labels}


def _fields(row: Part | PathSection) -> Thing:
    """Return the fields of a row, references by id, empty fields as null."""
    columns = _columns(type(row))
    return {name: None if (value := getattr(row, column)) == "" else value for name, column in columns.items()}


@cache
def _columns(model: type[models.Model]) -> dict[str, str]:
    """Map each field that a topology shows to its column."""
    names = {spec.name for spec in specs_of(str(model._meta.model_name)) if spec.in_topology}
    return {field.name: field.attname for field in model._meta.concrete_fields if field.name in names}
