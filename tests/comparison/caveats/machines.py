"""Machines and evidence for readings, in the shape of snapshots."""

from datetime import UTC, datetime, timedelta
from typing import Any

from apps.comparison.readings import Evidence, MeasuredMachine
from apps.core.quantities import written

Content = dict[str, Any]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def plain(text: str | None) -> str:
    return written(text or "").replace("\u00a0", " ").replace("\u202f", " ")


def controller(name: str, **fields: Any) -> Content:
    return {"name": name, **fields}


def disk(name: str, interface: str = "SATA", generation: str = "SATA-3G", **more: Any) -> Content:
    """`on=`: its controller; `state=`, `partition=`: of its place in an array."""
    told = {"number": name, "device_name": name, "interface": interface, "generation": generation}
    return {
        "disk": told,
        "controller": more.get("on"),
        "state": more.get("state", ""),
        "partition": more.get("partition", ""),
    }


def array(name: str, level: str, members: list[Content], implementation: str = "software", **fields: Any) -> Content:
    on = fields.pop("on", None)
    told = {"name": name, "level": level, "implementation": implementation, **fields}
    return {"array": told, "controller": on, "members": members, "state": "", "partition": ""}


def machine(storage: Content | None = None, labels: Content | None = None, **host: Any) -> MeasuredMachine:
    """`labels`: the target's; `storage_paths`: as a snapshot has them."""
    target = {"kind": "directory", "labels": labels or {}}
    paths = {"storage_paths": host.pop("storage_paths")} if "storage_paths" in host else {}
    return MeasuredMachine(
        {"target": target, "host": {"name": "node", **host}, "filesystem": None, "storage": storage, **paths}
    )


def on(storage: Content | None = None, labels: Content | None = None, **host: Any) -> Evidence:
    return Evidence(machine=machine(storage, labels, **host))


def at(minute: float, lasting: float = 1) -> Evidence:
    """A run that began so many minutes after noon."""
    began = NOON + timedelta(minutes=minute)
    return Evidence(started_at=began, finished_at=began + timedelta(minutes=lasting))
