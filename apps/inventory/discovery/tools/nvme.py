"""`nvme list -o json`: NVMe drives. Version 1 lists namespaces (`DevicePath`), version 2 nests subsystems and controllers.

Namespaces that several paths may lead to (the kernel's own multipath) stand beside a subsystem's controllers, others inside them.
"""

import re
from typing import Any

from apps.inventory.discovery.tool_text import rows, told
from apps.inventory.discovery.tool_values import UnreadableError, json_object, whole
from apps.inventory.discovery.tools.smartctl.drives import MAX_DRIVES, SmartDrive, SmartDrives

TOOL = "nvme"


def discover(printed: str) -> SmartDrives:
    found = json_object(TOOL, printed)
    if not isinstance(found.get("Devices"), list):
        raise UnreadableError(TOOL, f"the keys {sorted(found)[:5]}", "Devices with a list")
    drives = [drive for one in rows(found["Devices"]) for drive in _drives(one)]
    return SmartDrives(tuple(drives[:MAX_DRIVES]))


def _drives(one: dict[str, Any]) -> list[SmartDrive]:
    nested = [
        (inner, rows(inner.get("Namespaces"), 512) or rows(part.get("Namespaces"), 512))
        for part in rows(one.get("Subsystems"), 512)
        for inner in rows(part.get("Controllers"), 512)
    ]
    return [_drive(inner, spaces) for inner, spaces in nested or [(one, rows(one.get("Namespaces"), 512))]]


def _drive(one: dict[str, Any], spaces: list[dict[str, Any]]) -> SmartDrive:
    spaces = spaces or [one]
    path = told(one.get("DevicePath"), 60).removeprefix("/dev/") or told(spaces[0].get("NameSpace"), 60)
    sizes = [whole(space.get("PhysicalSize")) or 0 for space in spaces]
    return SmartDrive(
        device=path if re.fullmatch(r"nvme\d+n\d+", path) else "", model=told(one.get("ModelNumber")),
        serial=told(one.get("SerialNumber"), 80), firmware=told(one.get("Firmware"), 60), interface="NVMe", is_solid_state=True,
        capacity_bytes=whole(sum(sizes)) or None, logical_block_bytes=whole(spaces[0].get("SectorSize")),
    )  # fmt: skip
