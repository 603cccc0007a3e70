"""`nvme list`: NVMe drives, as JSON (`-o json`) or as a table.

Version 1 of the JSON lists namespaces (`DevicePath`), version 2 nests subsystems and controllers. Namespaces that several paths may
lead to (the kernel's own multipath) stand beside a subsystem's controllers, others inside them.

Node             SN          Model            Namespace Usage                      Format           FW Rev
---------------- ----------- ---------------- --------- -------------------------- ---------------- --------
/dev/nvme0n1     S000        MODEL 500GB      1          46.43  GB / 500.11  GB    512   B +  0 B   1B2Q

Source: nvme-cli's nvme-print-stdout.c and nvme-print-json.c. The dashes are as wide as the columns (Node, Generic from 2.0 on, SN …).
The table's sizes are rounded and count in 1000, those of the JSON are bytes. Content of a table: {"Devices": […]} with the names of
the JSON.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from apps.inventory.discovery.tool_output import (
    MARGIN,
    Block,
    Content,
    blanked,
    count,
    inventory,
    is_prompt,
    json_values,
    parse_blocks,
)
from apps.inventory.discovery.tool_output import whole as whole_file
from apps.inventory.discovery.tool_text import contents, rows, size_of, told
from apps.inventory.discovery.tool_values import UnreadableError, json_object, whole
from apps.inventory.discovery.tools.smartctl.drives import MAX_DRIVES, SmartDrive, SmartDrives
from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory
from apps.parsers.core.source_text import SourceText

NAME = "nvme"
TITLE = "nvme list"
TOOL = "nvme"
_JSON = re.compile(r'"Devices"\s*:\s*\[')
_NVME = re.compile(r'"(?:DevicePath|SubsystemNQN|NameSpace)"\s*:')
_HEADING = re.compile(rf"{MARGIN}Node\s+(?:Generic\s+)?SN\s+Model\s+Namespace\s")
_LIKE = re.compile(rf"^{_HEADING.pattern}", re.MULTILINE)
_DASHES = re.compile(r"\s*-{4,}(?: +-{4,}){4,}\s*$")
_USED = re.compile(r"/\s*(\d[\d.]{0,12}) +([kMGTP]?B)")
_FORMAT = re.compile(r"\s*(\d[\d.]{0,6}) +(K?i?B) \+")


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if _JSON.search(text.text) and _NVME.search(text.text) and '"SerialNumber"' in text.text:
        return 1.0
    return 1.0 if _LIKE.search(text.by_lines) and any(_tables(text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    broken: list[Broken] = []
    found: list[ParsedInventory] = []
    for block, value in json_values(text, broken) if '"Devices"' in text.text else ():
        if isinstance(value, dict) and isinstance(value.get("Devices"), list):
            found.append(inventory(text, TOOL, block, _summary(value), value))
    if found or broken:
        return whole_file(text, TOOL, found, broken, "a list of Devices")
    return parse_blocks(text, TOOL, _tables, _read_table, "Node, SN, Model …")


def _tables(lines: Sequence[str]) -> Iterator[Block]:
    for index, line in enumerate(lines[:-2]):
        if _HEADING.match(line) and _DASHES.match(lines[index + 1]):
            end = index + 2
            while end < len(lines) and lines[end].lstrip().startswith("/dev/") and not is_prompt(lines[end].lstrip()):
                end += 1
            if end > index + 2:
                yield index, end


def _read_table(lines: Sequence[str]) -> tuple[str, Content]:
    """Read the cells under the dashes, which are as wide as their columns.

    Raises:
        ValueError: if no row names a drive.
    """
    begins = [match.start() for match in re.finditer(r"(?<!-)-", lines[1])]
    edges = list(pairwise([*begins, None]))
    headings = [lines[0][first:end].strip() for first, end in edges]
    devices = []
    for line in lines[2:]:
        cells = {heading: line[first:end].strip() for heading, (first, end) in zip(headings, edges, strict=True)}
        used, form = _USED.search(cells.get("Usage", "")), _FORMAT.match(cells.get("Format", ""))
        devices.append({
            "DevicePath": cells.get("Node"), "SerialNumber": cells.get("SN"), "ModelNumber": cells.get("Model"),
            "Firmware": cells.get("FW Rev"), "PhysicalSize": size_of(f"{used[1]} {used[2]}", 1000) if used else None,
            "SectorSize": size_of(f"{form[1]} {form[2]}") if form else None,
        })  # fmt: skip
    if not any(device["SerialNumber"] for device in devices):
        raise ValueError("rows under the dashes")
    content = {"Devices": devices}
    return _summary(content), content


def _summary(content: Content) -> str:
    drives = [drive for one in rows(content.get("Devices")) for drive in _drives(one)]
    shown = ", ".join(f"{drive.device} {drive.model}".strip() for drive in drives[:4])
    more = f", {len(drives) - 4} more" if len(drives) > 4 else ""
    return count(len(drives), "NVMe drive") + (f": {shown}{more}" if shown else "")


def discover(printed: str) -> SmartDrives:
    """Parse the output of `nvme list`, JSON or a table.

    Raises:
        UnreadableError: for text that is neither.
    """
    if _LIKE.search(printed):
        lists = [rows(content.get("Devices")) for content in contents(TOOL, printed, (parse,))]
        return _by_drive([drive for devices in lists for one in devices for drive in _drives(one)])
    found = json_object(TOOL, printed)
    if not isinstance(found.get("Devices"), list):
        raise UnreadableError(TOOL, f"the keys {sorted(found)[:5]}", "Devices with a list")
    return _by_drive([drive for one in rows(found["Devices"]) for drive in _drives(one)])


def _by_drive(drives: list[SmartDrive]) -> SmartDrives:
    """Return the drives with their namespaces together, of which each has a row: their sizes add up."""
    found: dict[tuple[str, str], SmartDrive] = {}
    for number, drive in enumerate(drives[:MAX_DRIVES]):
        controller = drive.device.rpartition("n")[0]
        key = (controller, drive.serial) if controller and drive.serial else ("", str(number))
        known = found.get(key)
        sizes = [one.capacity_bytes for one in (known, drive) if one and one.capacity_bytes]
        found[key] = replace(known or drive, capacity_bytes=whole(sum(sizes)) if sizes else None)
    return SmartDrives(tuple(found.values()))


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
