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

smartctl `--scan` and `--scan-open`: a line for each device that may be asked.

/dev/bus/0 -d megaraid,8 # /dev/bus/0 [megaraid_disk_08], SCSI device

Source: smartmontools' smartctl.cpp (scan_devices); behind a `#` stands one that could not be opened. Content as in its JSON:
{"devices": [{"name", "type", "info_name", "protocol"}]}, and "open_error".

Where each device's lines lie in smartctl's text: behind a version line, a section, or without any head, as people copy a
part of it.

    /dev/sda
    === START OF INFORMATION SECTION ===

Source of the order: smartmontools' ataprint.cpp. What comes a second time, or stands before what was there already,
is of another device. The `/dev/sda` that loops of a shell print is the device's name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from apps.inventory.discovery.tool_output import (
    MARGIN,
    Block,
    Content,
    blanked,
    count,
    has_block,
    is_prompt,
    parse_blocks,
    put,
    typed,
)
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText

LINE = re.compile(
    r"(?:# )?(/dev/\S{1,200}) -d (\S{1,60}) # (/dev/[^,\n]{1,200}), ([A-Za-z+]{1,20}) device(?: open failed: (\S.{0,300}))?\s*$"
)
_SCAN_KEYS = ("name", "type", "info_name", "protocol", "open_error")


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    first = None
    for index, line in enumerate([*lines, ""]):
        is_line = LINE.match(line) is not None
        if is_line and first is None:
            first = index
        elif not is_line and first is not None:
            yield first, index
            first = None


def read(lines: Sequence[str]) -> tuple[str, Content]:
    devices = [
        {key: value for key, value in zip(_SCAN_KEYS, match.groups(), strict=True) if value}
        for match in filter(None, map(LINE.match, lines))
    ]
    named = ", ".join(dict.fromkeys(device["name"] for device in devices[:8]))
    return f"{count(len(devices), 'device')}: {named}", {"devices": devices}


VERSION = re.compile(r"smartctl (?:version )?(\d\.[\w.\-]{1,30})")
SECTION = re.compile(r"=== START OF ([A-Z /]{1,60}?) SECTION ===")
DEVICE = re.compile(r"(/dev/[\w/.-]{1,60}):?\s{0,20}$")
RECOVERY = re.compile(r"SCT Error Recovery Control( command not supported|:| set to:)\s{0,20}$")
_PARTS = (  # of the first four, each one stands before all others
    ("version", VERSION),
    ("information", re.compile(r"=== START OF INFORMATION SECTION ===")),
    ("family", re.compile(r"Model Family:\s")),
    ("model", re.compile(r"(?:Device Model|Model Number):\s")),
    ("structure", re.compile(r"SMART Attributes Data Structure revision number:")),
    ("attributes", re.compile(r"ID# ATTRIBUTE_NAME\s")),
    ("log", re.compile(r"SMART/Health Information \(NVMe Log 0x02")),
    ("recovery", RECOVERY),
)
_BEGINNINGS = ("smartctl", "===", "Model", "Device Model", "SMART", "ID#", "SCT")  # rules out most lines fast
_ORDER = ["version", "information", "family", "model"]
_HEADLESS = {name for name, _ in _PARTS[2:]}
_ABOUT = re.compile(r"(?:Serial Number|Firmware Version|User Capacity|LU WWN Device Id):\s", re.IGNORECASE)
_LIKE_PART = re.compile(
    r"^[>#\s]{0,40}(?:(?:Device Model|Model Family):\s|ID# ATTRIBUTE_NAME\s|SMART/Health Information \(NVMe Log 0x02"
    r"|SCT Error Recovery Control(?::| set to:))",
    re.MULTILINE,
)


_TITLE = re.compile(  # of a paragraph, or of columns; what else begins with a letter and is no field is somebody's words
    r"SMART[ /](?:[A-Z]|over|supp)|SCT [A-Z]|# ?\d+  |LifeTime\(|General (?:SMART|Purpose)|Vendor (?:Specific|\()|ID(?:#| )|GP/S |Index +Esti"
    r"|Num +(?:Test|ErrCount)|Page +Offset|Address +Access|SPAN |St Op|Id Fmt|CR |Supported (?:Power|LBA)|Selective |If Selective"
    r"|Error (?:\d|counter|Information)|Errors? Corrected|Commands leading|After (?:command|scanning)|Background scan|Protocol Specific"
    r"|Self-test |Device (?:Statistics|Error|does)|Pending Defects|SATA Phy|Seagate FARM|Warning[!:]|No (?:[Ee]rrors|[Ss]elf-test)|Read SMART"
    r"|Manufactured in|Short INQUIRY|Standard Inquiry|Long \(|A mandatory|The above|Copyright|Log Sense|relative target|Elements in"
    r"|Invalid Field|Terminate command|Smartctl open"
)
_BEHIND = re.compile(r"--\S|[A-Z][a-z]+-[A-Z][A-Za-z-]{0,40}: ")  # the next part of a mail
_WORDS = re.compile(r"[^\W\d_]|[\"'(]|--")


def may_be_headless(text: str) -> bool:
    return _LIKE_PART.search(text) is not None


def part_of(line: str) -> str:
    """Return the name of the report part that begins in this line; '' for none."""
    if not line.startswith(_BEGINNINGS):
        return ""
    for name, pattern in _PARTS:
        if pattern.match(line):
            return name
    section = SECTION.match(line)
    return section[1] if section else ""


def device_blocks(
    lines: Sequence[str], is_known: Callable[[str], bool], is_cut: Callable[[str], object]
) -> Iterator[Block]:
    """Yield the block of lines for each device.

    `is_known` tells whether a line is smartctl's, `is_cut` whether the next line continues it. A paragraph that begins
    with prose is left out, and so are those after it until one has a title; rows may follow below a title.
    """
    first, last = -1, -1
    is_inside = is_titled = False
    seen: list[str] = []
    for index, line in enumerate(lines):
        if not line or line.isspace():
            continue
        part = part_of(line)
        named = _device_line(lines, index) if part else index
        begins = bool(part) and (first < 0 or named < index or _is_of_another(part, seen))
        if first >= 0 and (begins or is_prompt(line) or DEVICE.match(line) or _is_over(lines, index, part, seen)):
            if _is_whole(lines[first : last + 1], seen):
                yield first, last + 1
            first = -1
        has_title = bool(part or _TITLE.match(line))
        is_field = not has_title and first >= 0 and is_known(line)
        is_behind = _BEHIND.match(line) is not None
        has_words = is_behind or (not (has_title or is_field) and _WORDS.match(line) is not None)
        is_first = is_behind or not lines[index - 1].strip()
        is_inside = has_title or (is_inside and not (has_words and is_first))
        is_titled = has_title or (is_titled and not (has_words or is_first))
        if begins:
            first, last, seen = named, index, [part]
        elif first >= 0 and (is_titled or (is_inside and (is_field or is_cut(lines[index - 1])))):
            last = index
            seen += [part] if part and part not in seen else []
    if first >= 0 and _is_whole(lines[first : last + 1], seen):
        yield first, last + 1


def _device_line(lines: Sequence[str], index: int) -> int:
    """Return the index of the line above that names the device; `index` if there is none, or a list of several."""
    above = [place for place in range(max(0, index - 3), index) if lines[place].strip()][-2:]
    if not above or not DEVICE.match(lines[above[-1]]):
        return index
    return index if len(above) > 1 and DEVICE.match(lines[above[0]]) else above[-1]


def _is_of_another(part: str, seen: Sequence[str]) -> bool:
    if part == "version" or (part in seen and (part != "recovery" or seen[0] in _HEADLESS)):
        return True
    return _rank(part) < max(map(_rank, seen))


def _rank(part: str) -> int:
    return _ORDER.index(part) if part in _ORDER else len(_ORDER)


def _is_over(lines: Sequence[str], index: int, part: str, seen: Sequence[str]) -> bool:
    """Return whether a block without a head ends: something else stands behind a blank line."""
    return bool(seen) and seen[0] in _HEADLESS and not part and not lines[index - 1].strip()


def _is_whole(lines: Sequence[str], seen: Sequence[str]) -> bool:
    """Return whether the block describes a device; a model alone, which any text may name, does not."""
    if seen[0] in ("family", "model"):
        return any(map(_ABOUT.match, lines))
    return seen[0] not in _HEADLESS or len(lines) > (2 if DEVICE.match(lines[0]) else 1)


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
_LAST_OF_SCSI = "Local Time is"  # the last field of the drive's description
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
    if not found and " device" in text.text and has_block(text, blocks):
        return 1.0
    if not found:
        return 0.7 if may_be_headless(text.text) and has_block(text, _blocks) else 0.0
    return 1.0 if "Copyright (C) 2002" in text.text or "=== START OF" in found[0] else 0.7


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, TOOL, _blocks, _read, "smartctl's version line, or === START OF INFORMATION SECTION ===")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    yield from device_blocks(lines, _is_known, _CUT.match)
    yield from blocks(lines)


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
    if LINE.match(lines[0]):
        return read(lines)
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
    """Return where the limits of SCT error recovery control go; any other message is stored in their place."""
    limits: dict[str, Any] = {}
    data["SCT Error Recovery Control"] = behind.strip() if behind.startswith(" command") else limits
    return limits


def _line(content: Content, here: dict[str, Any], line: str) -> dict[str, Any]:
    """Read a line and return the dictionary for the fields of the next line."""
    if match := SECTION.match(line):
        if line[match.end() :].strip():  # a page joined the lines: value ends are lost
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
    """Split a SCSI name into a vendor of 8 and a product of 16 characters, with the revision.

    A vendor of 8 characters has but one blank behind it, and so may parts of a model.
    """
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
    """Summarise an output in which the drive is not named."""
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
