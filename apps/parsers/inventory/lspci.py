"""lspci in every layout: one line per device, `-v` to `-vvv`, `-n`, `-nn`, `-k`, `-D`, `-mm`, `-mmv` (pciutils 2.x, 3.x).

    03:00.0 RAID bus controller [0104]: Broadcom / LSI MegaRAID SAS 2008 [1000:0073] (rev 03)

Source of the layouts: pciutils' lspci.c (show_terse, show_verbose, show_machine). Content: {"devices": [{"slot",
"class", "class_id", "name", "id", "rev", "details": {"Kernel driver in use": …, "LnkSta": …}}]}; in `-mm` and `-mmv`
the vendor and device are apart. Hex dumps (`-x`) are left out. Wrapped lines are put together: see `lspci_wrapped`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from apps.parsers.inventory import lspci_wrapped
from apps.parsers.inventory.printed import MARGIN, Block, Content, blanked, count, field, has_block, parse_blocks, put
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "lspci"
TITLE = "lspci"
_SLOT = r"(?:[0-9a-fA-F]{2,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
_DEVICE = re.compile(rf"({_SLOT}) (?:((?:[A-Z]|3D )[^:\"\n]{{2,80}}?)(?: \[([0-9a-f]{{4}})\])?|([0-9a-f]{{4}})): (.+)")
_MACHINE = re.compile(rf"({_SLOT}) (\"[^\n]+)")
_KEYED = re.compile(rf"(?:Slot|Device):\s*({_SLOT})\s*$")
_QUOTED = re.compile(r'"([^"]*)"|(-[rp])(\S*)')
_IDS = re.compile(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]")
_BARE_IDS = re.compile(r"([0-9a-f]{4}:[0-9a-f]{4})(?=\s|$)")
_END = re.compile(r" \((?:rev ([0-9a-f]{2})|prog-if ([0-9a-f]{2})(?: \[([^\])]{1,60})\])?[^)]*)\)")
_ID = re.compile(r" \[([0-9a-f]{4})\]$")
_HEX = re.compile(r"[0-9a-f]{2,3}: (?:[0-9a-f]{2} ){3}")
_KEYS = (
    "Class",
    "Vendor",
    "Device",
    "SVendor",
    "SDevice",
    "Rev",
    "ProgIf",
    "Driver",
    "Module",
    "NUMANode",
    "PhySlot",
    "IOMMUGroup",
    "DTNode",
)
_SURE = re.compile(
    rf"^{MARGIN}(?:{_SLOT} \"?(?:Class [0-9a-f]{{4}}|Unassigned class|(?:[A-Z]|3D )[\w ()/-]{{0,60}}"
    r"(?:bridge|[Cc]ontroller|device|[Ii]nterface|adapter|peripheral|memory|[Mm]odem|[Pp]rocessor|accelerators?|IOMMU|SMBus|PIC|System"
    rf"|counters|[Ss]tation|Channel|Band|Instrumentation|\(IEEE 1394\)))(?: \[[0-9a-f]{{4}}\])?(?::|\")"
    rf"|(?:Slot|Device):\s+{_SLOT}\s*$)"
    rf"|^{MARGIN}{_SLOT} [0-9a-f]{{4}}: [0-9a-f]{{4}}:[0-9a-f]{{4}}\b",
    re.MULTILINE,
)
_STORAGE = re.compile(r"RAID|SATA|SAS|SCSI|IDE|Non-Volatile|Fibre|storage", re.IGNORECASE)


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    return 1.0 if _SURE.search(text.by_lines) and has_block(text, _blocks) else 0.0


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "a device such as 00:1f.2 SATA controller: …")


def _starts(line: str) -> bool:
    return ":" in line and bool(_DEVICE.match(line) or _MACHINE.match(line) or _KEYED.match(line))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    widths = lspci_wrapped.widths(lines, _starts)
    index = 0
    while index < len(lines):
        if not (lines[index] and _starts(lines[index])):
            index += 1
            continue
        first = last = index
        has_details = False  # at the beginning of the line, as what a page is copied from shows them
        while index < len(lines):
            line = lines[index]
            is_new = not line.strip() or _starts(line)
            has_details = not is_new and (has_details or lspci_wrapped.is_detail(line))
            if not (is_new or has_details or _belongs(line) or lspci_wrapped.goes_on(lines, index, widths, _starts)):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _belongs(line: str) -> bool:
    return line[0] in "\t " or _is_key(line) or _is_noise(line)


def _is_key(line: str) -> bool:
    return line.split(":", 1)[0] in _KEYS


def _is_noise(line: str) -> bool:
    return line.startswith(("pcilib:", "lspci:")) or bool(_HEX.match(line))


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    devices: list[Content] = []
    for line in lspci_wrapped.joined(lines, lambda one: _starts(one) or _is_key(one) or _is_noise(one)):
        if _starts(line):
            devices.append(_device(line))
        elif not _is_noise(line):
            _detail(devices[-1], line)
    storage = [
        str(device.get("name") or device.get("device"))
        for device in devices
        if _STORAGE.search(str(device.get("class")))
    ]
    return f"{count(len(devices), 'PCI device')}" + (f", storage: {'; '.join(storage[:3])}" if storage else ""), {
        "devices": devices
    }


def _device(line: str) -> Content:
    if match := _KEYED.match(line):
        return {"slot": match[1]}
    if match := _MACHINE.match(line):
        return {"slot": match[1], **_machine(match[2])}
    match = _DEVICE.match(line)
    assert match  # `_starts` has seen it
    slot, kind, kind_id, bare, rest = match.groups()
    name = rest
    device: Content = {"slot": slot, "class": kind or "", "class_id": kind_id or bare or ""}
    ends = list(_END.finditer(rest))
    for end in ends:
        device |= {
            key: value for key, value in (("rev", end[1]), ("prog_if", end[2]), ("prog_if_name", end[3])) if value
        }
    name = rest[: ends[0].start()] if ends else rest
    ids = list((_BARE_IDS if bare else _IDS).finditer(name))
    if ids:
        device["id"] = ids[-1][1]
        name = name[: ids[-1].start()]
    return {**device, "name": name.strip()}


def _machine(rest: str) -> Content:
    """`"class" "vendor" "device" -r03 -p01 "svendor" "sdevice"`."""
    device: Content = {}
    keys = iter(("class", "vendor", "device", "svendor", "sdevice"))
    for quoted, option, value in _QUOTED.findall(rest):
        if option:
            device["rev" if option == "-r" else "prog_if"] = value
        elif key := next(keys, ""):
            device |= _with_id(key, quoted)
    return device


def _with_id(key: str, value: str) -> Content:
    match = _ID.search(value)
    return {key: value[: match.start()], f"{key}_id": match[1]} if match else {key: value}


def _detail(device: Content, line: str) -> None:
    found = field(line)
    if line[0] not in "\t " and _is_key(line):
        if found:
            for key, value in _with_id(found[0].lower(), found[1]).items():
                put(device, key, value)
        return
    details: dict[str, Any] = device.setdefault("details", {})
    if found and not found[0].startswith(("[", "<")) and len(found[0]) <= 40:
        put(details, *found)
    else:
        details.setdefault("lines", []).append(line.strip())
