"""What a snapshot says of the way to far disks and to the other end of a network test; nothing where there is no such way."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from apps.inventory.models import NetworkLink, Nic, PathSection, StoragePath, Switch, Target
from apps.inventory.topology.network import Network, ends_of, key_of, networks_of
from apps.inventory.topology.stack import Stack

_SECTION = ("name", "kind", "link", "count", "standby_count", "bytes_per_second")
_NIC = ("name", "vendor", "model", "driver", "firmware", "bus", "bits_per_second", "mtu", "count", "labels")


def paths_of(host_id: int) -> list[StoragePath]:
    """Return the storage paths of a host with their sections; one query where the host has none."""
    return list(StoragePath.objects.filter(host_id=host_id).prefetch_related("sections__controller"))


def paths_of_hosts(hosts: Iterable[int]) -> dict[int, list[StoragePath]]:
    """Return the storage paths of many hosts by the hosts' ids, with their sections; in three queries."""
    paths: dict[int, list[StoragePath]] = defaultdict(list)
    for path in StoragePath.objects.filter(host_id__in=list(hosts)).prefetch_related("sections__controller"):
        paths[path.host_id].append(path)
    return paths


def network_of(target: Target) -> Network | None:
    return networks_of([target.host])[target.host_id] if target.nic_id else None


def connections(stack: Stack, paths: Iterable[StoragePath], network: Network | None) -> dict[str, Any]:
    """Return the connections over which the stack is reached, each key only if there is such a connection.

    The shape is `{storage_paths: [{name, sections: [{name, kind, link, count, …}]}], network: {nic, way}}`.

    `way` are the cables from the NIC to the peer, `[{bits_per_second, mtu, count, to, nic}]`: `to` names a switch or a
    host and its NIC, `nic` is that NIC. Rates are in bits/s, a section's printed bandwidth in bytes/s.
    """
    found: dict[str, Any] = {}
    if mine := [path for path in paths if _leads_to(path, stack)]:
        found["storage_paths"] = [{"name": p.name, "sections": [_section(s) for s in p.sections.all()]} for p in mine]
    if stack.target.nic:
        found["network"] = {"nic": _fields(stack.target.nic, _NIC), "way": _way(stack.target, network)}
    return found


def _leads_to(path: StoragePath, stack: Stack) -> bool:
    """Return whether the path leads to the stack's storage.

    Its array is under the target; or it names no array, and the controller that it ends at is, or it names none.
    """
    if stack.storage is None:
        return False
    if path.array_id:
        return path.array_id in {array.pk for array in stack.arrays}
    ends = {section.controller_id for section in path.sections.all() if section.controller_id}
    return not ends or bool(ends & {controller.pk for controller in stack.controllers})


def _section(section: PathSection) -> dict[str, Any]:
    controller = {"controller": section.controller.name} if section.controller else {}
    return _fields(section, _SECTION) | controller


def _way(target: Target, network: Network | None) -> list[dict[str, Any]]:
    if target.peer is None or target.nic is None or network is None:
        return []
    here = key_of(target.nic)
    cables = []
    for link in network.way(target.nic, target.peer):
        near, far = ends_of(link)
        end = near if key_of(far) == here else far
        here = key_of(end)
        cables.append(_cable(link) | _end(end))
    return cables


def _end(end: Nic | Switch) -> dict[str, Any]:
    if isinstance(end, Nic):
        return {"to": f"{end.host.name} {end.name}", "nic": _fields(end, _NIC)}
    return {"to": end.name}


def _cable(link: NetworkLink) -> dict[str, Any]:
    return _fields(link, ("bits_per_second", "mtu", "count"))


def _fields(row: Nic | NetworkLink | PathSection, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(row, name)) not in (None, "", {})}
