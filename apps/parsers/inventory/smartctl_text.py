"""smartctl's text (5.x to 7.x): ATA, SCSI and NVMe, `-i`, `-H`, `-A`, `-a`, `-x`.

      9 Power_On_Hours          0x0032   098   098   000    Old_age   Always       -       1730

Source: smartmontools' ataprint.cpp, scsiprint.cpp, nvmeprint.cpp. Content: {"version", "information": {…}, "health",
"data": {…}, "attributes": [{"id", "name", "flag", "value", "worst", "thresh", "type", "updated", "when_failed",
"raw"}], "lines": what else stands between them}, and "device" where a loop printed it above. Keys as printed: `Device
Model` (ATA), `Vendor` and `Product` (SCSI), `Model Number` (NVMe). Numbers carry the thousands marks of the user's
locale and stay as printed. `-x` prints attributes without type and updated; `-l scterc` is in data, as {"Read",
"Write"}. A mail may have wrapped their lines, and parts of a report may come without its head. 5.x tells
of a SCSI drive without sections, its older ones with one line for the name: `Device: SEAGATE  ST3600002SS      Version: ER62`.
For `--scan` see `smartctl_scan`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from apps.parsers.inventory import smartctl_scan
from apps.parsers.inventory.printed import MARGIN, Block, Content, blanked, count, has_block, parse_blocks, put, typed
from apps.parsers.inventory.smartctl_blocks import (
    DEVICE,
    RECOVERY,
    SECTION,
    VERSION,
    device_blocks,
    may_be_headless,
    part_of,
)
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "smartctl text"
TITLE = "smartctl"
TOOL = "smartctl"
_LIKE = re.compile(
    rf"^{MARGIN}smartctl (?:version )?\d\.\d|=== START OF (?:INFORMATION|READ SMART DATA|SMART DATA) SECTION ===",
    re.MULTILINE,
)
_FIELD = re.compile(r"([A-Z][^:=|]{0,70}?)\s{0,40}(?::|\s=)\s{1,60}(\S.*)")
_LIMIT = re.compile(r"\s{0,20}(Read|Write):\s{1,20}(\S.*)")
_INSIDE = re.compile(r"  ([A-Za-z][\w \-<>=/]{1,90}?) = (\d{1,20}(?:\.\d{1,9})?)\s*$")
_OF_SCSI = re.compile(r"(?:Vendor|Device):\s{1,40}\S")  # the first line of a report without sections
_ONE_LINE = re.compile(r"Device:\s{1,20}(\S.{0,60}?)\s{1,40}Version:\s{0,20}(\S{0,20})\s*$")
_LAST_OF_SCSI = "Local Time is"  # of what it says of itself
_HEALTH = ("SMART overall-health self-assessment test result", "SMART Health Status")
_ATTRIBUTE = re.compile(
    r"\s{0,8}(\d{1,3}) ([A-Za-z][\w\-/]{1,60})\s+(0x[0-9a-f]{4})\s+(\d{1,3})\s+(\d{1,3})\s+(\d{1,3}|---)\s+(Pre-fail|Old_age)"
    r"\s+(Always|Offline)\s+(\S{1,20})\s+(\S.*)"
)
_BRIEF = re.compile(
    r"\s{0,8}(\d{1,3}) ([A-Za-z][\w\-/]{1,60})\s+([POSRCK-]{6,7})\s+(\d{1,3})\s+(\d{1,3})\s+(\d{1,3}|---)\s+(\S{1,20})\s+(\S.*)"
)
_CUT = re.compile(
    r"\s{0,8}\d{1,3} [A-Za-z][\w\-/]{1,60}\s+0x[0-9a-f]{4}\s+\d{1,3}\s+\d{1,3}\s+\S{1,3}"
    r"(?:\s+(?:Pre-fail|Old_age))?\s*(?:(?:Always|Offline)\s*(?:\S{1,20}\s*)?)?$"
)
_FRAME = re.compile(
    r"Copyright \(C\)|Home page is |ID# ATTRIBUTE_NAME\s|Vendor Specific SMART Attributes|SMART/Health Information \("
)
_KEYS = ("id", "name", "flag", "value", "worst", "thresh", "type", "updated", "when_failed", "raw")
_BRIEF_KEYS = ("id", "name", "flag", "value", "worst", "thresh", "when_failed", "raw")


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    found = _LIKE.search(text.by_lines)
    if not found and " device" in text.text and has_block(text, smartctl_scan.blocks):
        return 1.0
    if not found:
        return 0.7 if may_be_headless(text.text) and has_block(text, _blocks) else 0.0
    return 1.0 if "Copyright (C) 2002" in text.text or "=== START OF" in found[0] else 0.7


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, TOOL, _blocks, _read, "smartctl's version line, or === START OF INFORMATION SECTION ===")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    yield from device_blocks(lines, _is_known, _CUT.match)
    yield from smartctl_scan.blocks(lines)


def _is_known(line: str) -> bool:
    stripped = line.strip()
    return bool(
        SECTION.match(line)
        or _ATTRIBUTE.match(line)
        or _BRIEF.match(line)
        or _INSIDE.match(line)
        or (_FIELD.match(stripped) and len(stripped) < 120)
    )


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    if smartctl_scan.LINE.match(lines[0]):
        return smartctl_scan.read(lines)
    device = DEVICE.match(lines[0])
    lines = lines[1:] if device else lines
    version = next(filter(None, map(VERSION.match, lines[:3])), None)
    content: Content = {
        "version": version[1] if version else "",
        "information": {},
        "health": "",
        "data": {},
        "attributes": [],
        "lines": [],
    } | ({"device": device[1]} if device else {})
    here: dict[str, Any] = content["data"]
    limits: dict[str, Any] | None = None
    has_sections = any(map(SECTION.match, lines))
    for line in _unwrapped(line for line in lines if not VERSION.match(line)):
        if limits is not None and (match := _LIMIT.match(line)):
            limits[match[1]] = match[2].strip()
            continue
        limits = None
        if match := RECOVERY.match(line):
            limits = _recovery(content["data"], match[1])
        else:
            here = _line(content, here, line)
            if not has_sections and line.startswith(_LAST_OF_SCSI) and "Vendor" in content["information"]:
                here = content["data"]
    return _summary(content), content


def _recovery(data: dict[str, Any], behind: str) -> dict[str, Any]:
    """Where the limits of SCT error recovery control go; what else is said of it is told in their place."""
    limits: dict[str, Any] = {}
    data["SCT Error Recovery Control"] = behind.strip() if behind.startswith(" command") else limits
    return limits


def _line(content: Content, here: dict[str, Any], line: str) -> dict[str, Any]:
    """Where the fields of the next line go."""
    if match := SECTION.match(line):
        if line[match.end() :].strip():  # a page lost the ends of the lines, and nobody knows where a value ends
            raise ValueError("each field of smartctl on a line of its own")
        found: dict[str, Any] = content["information" if match[1] == "INFORMATION" else "data"]
        return found
    if not content["data"] and (part_of(line) in ("family", "model") or _OF_SCSI.match(line)):
        here = content["information"]
    if match := _ONE_LINE.match(line):
        here |= _named(match[1], match[2])
    elif match := _ATTRIBUTE.match(line):
        content["attributes"].append(_attribute(_KEYS, match.groups()))
    elif match := _BRIEF.match(line):
        content["attributes"].append(_attribute(_BRIEF_KEYS, match.groups()))
    elif match := _INSIDE.match(line) or _FIELD.match(line):
        _take(content, here, match[1].strip(), match[2].strip())
    elif line.strip() and not _FRAME.match(line):
        content["lines"].append(line.strip())
    return here


def _unwrapped(lines: Iterable[str]) -> Iterator[str]:
    held = ""
    for line in lines:
        whole = f"{held.rstrip()} {line.lstrip()}" if held else line.rstrip()
        if _CUT.match(whole) and len(whole) < 200:
            held = whole
            continue
        held = ""
        yield whole.rstrip()
    if held:
        yield held


def _named(name: str, revision: str) -> Content:
    """Of 8 and 16 characters: a vendor of 8 has but one blank behind it, and so may parts of a model."""
    cut = 8 if name[8:9] == " " else len(name.split(" ")[0])
    told = {"Vendor": name[:cut].strip(), "Product": name[cut:].strip(), "Revision": revision}
    return {key: value for key, value in told.items() if value}


def _take(content: Content, here: dict[str, Any], key: str, value: str) -> None:
    if key in _HEALTH:
        content["health"] = value
    elif key != "Copyright (C) 2002":
        put(here, key, typed(key, value))


def _attribute(keys: Sequence[str], values: Sequence[str]) -> Content:
    return {
        key: int(value) if key in ("id", "value", "worst", "thresh") and value.isdigit() else value.strip()
        for key, value in zip(keys, values, strict=True)
    }


def _summary(content: Content) -> str:
    about = content["information"]
    model = (
        about.get("Device Model")
        or about.get("Model Number")
        or " ".join(str(about[key]) for key in ("Vendor", "Product") if about.get(key))
    )
    serial = about.get("Serial Number") or about.get("Serial number")
    size = about.get("User Capacity") or about.get("Namespace 1 Size/Capacity") or ""
    named = f"{model} ({serial})" if serial else str(model)
    health = f"health {content['health']}" if content["health"] else ""
    return ", ".join(part for part in (named.strip(), str(size), health) if part) or _of_a_part(content)


def _of_a_part(content: Content) -> str:
    """What is there, where the drive is not named."""
    limits = content["data"].get("SCT Error Recovery Control")
    if content["attributes"]:
        told = count(len(content["attributes"]), "attribute")
    elif limits:
        told = ", ".join(f"{key} {value}" for key, value in limits.items()) if isinstance(limits, dict) else limits
        told = f"SCT error recovery control {told}"
    else:
        told = count(len(content["data"]), "value") if content["data"] else "no data"
    name = content.get("device") or f"smartctl {content['version']}".strip()
    return f"{name}: {told}"
