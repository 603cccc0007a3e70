"""Freezing what was true: the stack and host state under a target, known by the SHA-256 of its canonical JSON."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from itertools import count
from typing import Any

from apps.inventory.fields import specs_of
from apps.inventory.models import Host, Part, Snapshot, StoragePath, Target
from apps.inventory.snapshots.connections import connections, network_of, paths_of
from apps.inventory.snapshots.facts import facts_of
from apps.inventory.target_identity import Place, is_same_filesystem, words_of
from apps.inventory.topology.host_parts import HostParts
from apps.inventory.topology.network import Network
from apps.inventory.topology.stack import ArrayLayer, Layer, Stack, stack_in, stack_of

FORMAT = 1
# Not evidence of the machine: who wrote what when. Neither is what `fields.py` leaves out: used and free space change with
# every run, so no two runs would share a snapshot; how full a filesystem was is in the evidence of a run's guards.
_LEFT_OUT = {"id", "lab", "notes", "sources", "absent", "created_at", "updated_at"}

__all__ = ["canonical", "content_of", "describe", "facts_of", "freeze"]


def freeze(target: Target, place: Place | None = None) -> Snapshot:
    """Return the lab's one snapshot of what is true of this target now; make it if there is none.

    This is safe when two callers ask at once. `place` is where the run really lies, as its host read it; it takes
    precedence over the filesystem in the inventory.
    """
    content = content_of(target)
    if place is not None:
        content = _as_found(content, place) | _describe_difference(target, place)
    return _row(target.lab_id, content)


def _describe_difference(target: Target, place: Place) -> dict[str, str]:
    """Return where the target is and where the run lay, in words, where these differ; empty where they do not."""
    is_elsewhere = bool(place.path and target.path and place.path != target.path)
    if not is_elsewhere and is_same_filesystem(target.lies_on, place.identity):
        return {}
    known = ", ".join(filter(None, [target.path, words_of(target.lies_on)]))
    return {"expected_place": known, "found_place": ", ".join(filter(None, [place.path, place.words]))}


def _as_found(content: dict[str, Any], place: Place) -> dict[str, Any]:
    known = content["filesystem"] or {}
    told = {"type": known.get("type"), "uuid": known.get("uuid"), "source": known.get("device_name")}
    if not place.type or (known and is_same_filesystem(told, place.identity)):
        return content
    found = {
        "type": place.type, "device_name": place.source, "uuid": place.uuid, "mount_point": place.mount_point,
        "mount_options": place.options,
    }  # fmt: skip
    return {**content, "filesystem": {name: value for name, value in found.items() if value}, "storage": None}


def describe(host: Host, target: Target | None) -> Snapshot:
    """Return a snapshot of the inventory now as evidence for a result that was measured some other time.

    Its content says so (`basis`), so it is never the same row as a snapshot that was taken when a run began.
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
    """Return the content as JSON in its one canonical form: sorted keys, no blanks, ASCII.

    A snapshot's SHA-256 is that of these bytes.
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def content_of(target: Target) -> dict[str, Any]:
    """Return the content of a target's snapshot, `{format, target, host, filesystem, storage}`.

    Sizes are in bytes; empty fields are left out, and so are ids and times. `storage` is `{disk, controller}` or
    `{array, controller, members: [{position, partition, state, disk | array …}]}`. A disk's `number` tells only which
    places of this stack are the same disk. Where the target is reached over them there are also `storage_paths` and
    `network` (`snapshots/connections.py`).
    """
    return content_of_stack(stack_of(target), paths_of(target.host_id), network_of(target))


def content_in(parts: HostParts, target: Target) -> dict[str, Any]:
    """Return what `content_of` returns, from a host's parts that are already loaded, without a query.

    `target` is one of those parts.
    """
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
    """Numbers 1, 2, 3 … for keys, in the order in which they first occur."""

    def __init__(self) -> None:
        self._next = count(1)
        self._known: dict[int, int] = {}

    def of(self, pk: int) -> int:
        if pk not in self._known:
            self._known[pk] = next(self._next)
        return self._known[pk]


def _state(row: Part) -> dict[str, Any]:
    """Return a row's own fields that are not empty, and why others are empty where that is known."""
    state: dict[str, Any] = {}
    left_out = _left_out(str(row._meta.model_name))
    for field in row._meta.concrete_fields:
        if field.name not in left_out and (value := getattr(row, field.attname)) not in (None, "", {}):
            state[field.name] = value
    absent = {name: why for name, why in row.absent.items() if name not in state and name not in left_out}
    return state | ({"absent": absent} if absent else {})


@cache
def _left_out(kind: str) -> set[str]:
    return _LEFT_OUT | {spec.name for spec in specs_of(kind) if not spec.in_snapshot}


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
