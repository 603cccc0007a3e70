"""Freezing what was true: the stack and host state under a target, known by the SHA-256 of its canonical JSON."""

import hashlib
import json
from collections.abc import Iterable
from itertools import count
from typing import Any

from apps.inventory.facts import facts_of
from apps.inventory.host_parts import HostParts
from apps.inventory.models import Host, Part, Snapshot, StoragePath, Target
from apps.inventory.network import Network
from apps.inventory.snapshot_connections import connections, network_of, paths_of
from apps.inventory.stack import ArrayLayer, Layer, Stack, stack_in, stack_of

FORMAT = 1
# Not evidence of the machine: who wrote what when. And not used and free space: they change with every run, so no two
# runs would share a snapshot; how full a filesystem was belongs to one run and is in the evidence of its guards.
_LEFT_OUT = {
    "id", "lab", "host", "controller", "disk", "array", "filesystem", "sits_on",
    "nic", "peer", "notes", "sources", "absent", "created_at", "updated_at", "is_in_maintenance", "maintenance_note",
    "used_bytes", "free_bytes",
}  # fmt: skip

__all__ = ["canonical", "content_of", "describe", "facts_of", "freeze"]


def freeze(target: Target) -> Snapshot:
    """The lab's one row for what is true of this target now; made if it is new, also when two ask at once."""
    return _row(target.lab_id, content_of(target))


def describe(host: Host, target: Target | None) -> Snapshot:
    """What the inventory says now, as the evidence of a result that was measured some other time: its content says so
    (`basis`), so it is never the same row as a snapshot that was taken when a run began.
    """
    nothing_below = {"format": FORMAT, "target": {}, "host": _state(host), "filesystem": None, "storage": None}
    content = content_of(target) if target else nothing_below
    return _row(host.lab_id, {**content, "basis": "described in the inventory when the result was imported"})


def _row(lab_id: int, content: dict[str, Any]) -> Snapshot:
    snapshot: Snapshot
    snapshot, _ = Snapshot.objects.get_or_create(
        lab_id=lab_id,
        sha256=hashlib.sha256(canonical(content)).hexdigest(),
        defaults={"content": content, "facts": facts_of(content)},
    )
    return snapshot


def canonical(content: dict[str, Any]) -> bytes:
    """The one way to write it: sorted keys, no blanks, ASCII. Anyone can check a snapshot's SHA-256 with it."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def content_of(target: Target) -> dict[str, Any]:
    """`{format, target, host, filesystem, storage}`; sizes in bytes, empty fields left out, no ids and no times.

    `storage` is `{disk, controller}` or `{array, controller, members: [{position, partition, state, disk | array …}]}`.
    A disk's `number` tells only which places of this stack are the same disk. Where it is reached over them, also
    `storage_paths` and `network` (`snapshot_connections.py`); without such parts the content has no such keys.
    """
    return content_of_stack(stack_of(target), paths_of(target.host_id), network_of(target))


def content_in(parts: HostParts, target: Target) -> dict[str, Any]:
    """The same from a host's parts that are already read (`target` one of them), without a query."""
    return content_of_stack(stack_in(parts, target), parts.paths, parts.network if target.nic_id else None)


def content_of_stack(stack: Stack, paths: Iterable[StoragePath], network: Network | None) -> dict[str, Any]:
    numbers = _Numbers()
    return {
        "format": FORMAT,
        "target": _state(stack.target),
        "host": _state(stack.host),
        "filesystem": _state(stack.filesystem) if stack.filesystem else None,
        "storage": _storage(stack.storage, numbers) if stack.storage else None,
        **connections(stack, paths, network),
    }


class _Numbers:
    """1, 2, 3 … in order of first meeting."""

    def __init__(self) -> None:
        self._next = count(1)
        self._known: dict[int, int] = {}

    def of(self, pk: int) -> int:
        if pk not in self._known:
            self._known[pk] = next(self._next)
        return self._known[pk]


def _state(row: Part) -> dict[str, Any]:
    """A row's own fields that say something, and why others are empty where that is known."""
    state: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        if field.name not in _LEFT_OUT and (value := getattr(row, field.attname)) not in (None, "", {}):
            state[field.name] = value
    absent = {name: why for name, why in row.absent.items() if name not in state and name not in _LEFT_OUT}
    return state | ({"absent": absent} if absent else {})


def _storage(layer: Layer, numbers: _Numbers) -> dict[str, Any]:
    content: dict[str, Any] = {"controller": _state(layer.controller) if layer.controller else None}
    if not isinstance(layer, ArrayLayer):
        return content | {"disk": _state(layer.disk) | {"number": numbers.of(layer.disk.pk)}}
    members = [
        {"position": place.position, "partition": place.partition, "state": place.state}
        | _storage(place.layer, numbers)
        for place in layer.places
    ]
    return content | {"array": _state(layer.array), "members": members}
