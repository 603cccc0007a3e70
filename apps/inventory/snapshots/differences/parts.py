"""A snapshot's storage taken apart: each array, disk and controller once, with the places that it is in."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Content = dict[str, Any]
_KNOWN = {"position", "partition", "state", "controller", "disk", "array", "members"}


@dataclass(frozen=True)
class SnapshotPlace:
    """Where a part sits: the array's key, None at the top of the stack."""

    array: Any
    position: int
    partition: str = ""
    state: str = ""


@dataclass
class SnapshotPart:
    """One array, disk or controller of one snapshot."""

    kind: str
    key: Any
    state: Content
    controller: Any = None
    places: list[SnapshotPlace] = field(default_factory=list)
    members: list[Any] = field(default_factory=list)
    more: Content = field(default_factory=dict)

    @property
    def name(self) -> str:
        state = self.state
        if self.kind != "disk":
            name = str(state.get("name") or state.get("model") or self.kind)
            return f"{name}, round {state['round']}" if state.get("round") else name
        number = state.get("serial") or state.get("wwn")
        called = state.get("device_name") or state.get("model") or f"disk {state.get('number')}"
        return f"{called} ({number})" if number else str(called)


class Parts:
    """The arrays, disks and controllers of a snapshot by key, in the order in which they first occur."""

    def __init__(self, storage: Content | None) -> None:
        self.arrays: dict[Any, SnapshotPart] = {}
        self.disks: dict[Any, SnapshotPart] = {}
        self.controllers: dict[Any, SnapshotPart] = {}
        if storage:
            self._take(storage, SnapshotPlace(None, 0))

    def _take(self, node: Content, place: SnapshotPlace) -> Any:
        kind = "array" if "array" in node else "disk"
        state = node[kind]
        key = (kind, *(_array_key(state) if kind == "array" else (state.get("number"),)))
        known = self.arrays if kind == "array" else self.disks
        is_new = key not in known
        more = {name: value for name, value in node.items() if name not in _KNOWN}
        found = known.setdefault(key, SnapshotPart(kind, key, state, self._controller(node), more=more))
        found.places.append(place)
        if is_new:
            for member in node.get("members", []):
                there = SnapshotPlace(key, member["position"], member["partition"], member["state"])
                found.members.append(self._take(member, there))
        return key

    def _controller(self, node: Content) -> Any:
        state = node.get("controller")
        if not state:
            return None
        key = ("controller", state.get("address") or "", state.get("name") or "")
        self.controllers.setdefault(key, SnapshotPart("controller", key, state))
        return key


def _array_key(state: Content) -> tuple[Any, ...]:
    return state.get("uuid") or "", state.get("name"), state.get("round")


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each plain value in a nested value with its path, for parts of a snapshot without a rule of their own."""
    if isinstance(value, dict):
        for name in sorted(value):
            yield from flat(value[name], f"{path} {name}".strip())
    elif isinstance(value, list):
        for place, one in enumerate(value):
            called = one.get("name") if isinstance(one, dict) else None
            yield from flat(one, f"{path} {called or place}".strip())
    else:
        yield path, value
