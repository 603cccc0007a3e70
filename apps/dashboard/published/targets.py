"""Where a published configuration points: on which filesystem, array, disk or network card its tests lay."""

from collections.abc import Mapping
from typing import Any

from apps.inventory.editing.wanted import Wanted
from apps.inventory.models import Array, Disk, Filesystem, Host, Nic, Part
from apps.inventory.vocabulary import TargetKind

Entry = Mapping[str, Any]
Parts = Mapping[str, Part]


def target_of(study: Entry, entry: Entry, host: Host, parts: Parts, labels: Entry | None = None) -> Wanted:
    """What the report says of one configuration's place. A place that it leaves open has nothing beneath."""
    if entry.get("path"):
        return _network(entry, host, parts)
    beneath = _beneath(study, entry, host, parts)
    filesystem = beneath.get("filesystem")
    path = filesystem.mount_point if isinstance(filesystem, Filesystem) else ""
    values = {
        "host": host, "name": entry["name"], "kind": TargetKind.DIRECTORY, "notes": _notes(entry),
        **{name: beneath.get(name) for name in ("filesystem", "array", "disk")},
        **({"path": path} if path else {}), **({"labels": dict(labels)} if labels else {}),
    }  # fmt: skip
    absent = {} if path else {"path": "not_printed"}
    if not filesystem:
        absent["filesystem"] = "not_printed"
    is_inferred = str(entry.get("host_basis", "")).startswith("inferred")
    return Wanted(values, absent, None, frozenset(["host"] if is_inferred else []))


def _network(entry: Entry, host: Host, parts: Parts) -> Wanted:
    """From the first server; the other end is the second one where the report has one other end."""
    peer = parts.get("host server2") if "10GE to 10GE" in str(entry["path"]) else None
    card = next((part for part in parts.values() if isinstance(part, Nic) and part.host_id == host.pk), None)
    values = {"host": host, "name": entry["name"], "kind": TargetKind.NETWORK, "notes": entry["path"]}
    return Wanted({**values, **({"peer": peer} if peer else {}), **({"nic": card} if card else {})})


def _beneath(study: Entry, entry: Entry, host: Host, parts: Parts) -> dict[str, Part]:
    """The uppermost layer that is known: a filesystem, else an array, else a disk."""
    for number, one in enumerate(study.get("filesystems") or []):
        row = parts.get(f"filesystem {number}")
        if isinstance(row, Filesystem) and row.host_id == host.pk and _is_meant(one, entry):
            return {"filesystem": row}
    array = parts.get(f"array {entry.get('array')}")
    if isinstance(array, Array):
        return {"array": array}
    if entry.get("array") == "none" and entry.get("disk"):
        disk = parts.get(f"disk {host.name} {entry['disk']} 0")
        return {"disk": disk} if isinstance(disk, Disk) else {}
    return {}


def _is_meant(filesystem: Entry, entry: Entry) -> bool:
    """On the configuration's array and of its type (`xfs /data`); without an array it is the system disk's."""
    kind, _, mount = str(entry.get("filesystem") or "").partition(" ")
    if not kind or filesystem.get("type") != kind:
        return False
    if entry.get("array") == "none":
        return str(filesystem.get("device", "")).startswith("system disk")
    return bool(filesystem.get("array") == entry.get("array") and mount in ("", filesystem.get("mount_point")))


def _notes(entry: Entry) -> str:
    parts = [f"On this host: {entry['host_basis']}." if entry.get("host_basis") else "", entry.get("note")]
    if entry.get("array") is None or " or " in str(entry.get("array")):
        parts.append(f"Which array: {entry.get('array') or 'not named by the report'}.")
    return " ".join(str(part) for part in parts if part)
