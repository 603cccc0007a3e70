"""MegaCli: `-PDList`, `-LDInfo`, `-LDPDInfo`, `-CfgDsply`, `-AdpAllInfo`, `-AdpBbuCmd`, `-EncInfo`, `-AdpGetPciInfo` (4.x to 8.x).

    Enclosure Device ID: 32

Source: MegaCli's User Guide. Content, one per adapter: {"adapter": 0, "fields": {…}, "virtual_drives": […],
"physical_drives": […]}; a drive listed under a virtual one carries its number as `Virtual Drive`, and `-AdpAllInfo` has
"sections": {"Settings": {…}} too: of names that stand in several of them, "fields" has the first. `-EncInfo` has
"enclosures": [{fields}]. `-ShowSummary` is `megacli_summary`'s. Blanks before the colon vary, `Slot Number` counts from 0, sizes
are binary (`465.761 GB [0x3a386030 Sectors]`).
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory import megacli_summary
from apps.parsers.inventory.printed import (
    MARGIN,
    Block,
    Content,
    blanked,
    count,
    field,
    is_prompt,
    parse_blocks,
    put,
    typed,
)
from apps.parsers.shape import ParsedFile, ParseError
from apps.parsers.source_text import SourceText

NAME = "megacli"
TITLE = "MegaCli"
_LIKE = re.compile(
    rf"^{MARGIN}(?:Adapter:? #?\d+(?: -- Virtual (?:Drive|Disk) Information:?)?\s*$|Enclosure Device ID: ?(?:\d|N/A)"
    r"|(?:CacheCade )?Virtual (?:Drive|Disk): \d+ \(Target Id: \d|BBU status for Adapter: \d"
    r"|Number of enclosures on adapter \d|PCI information for Controller \d)",
    re.MULTILINE,
)
_KNOWN = (
    "Enclosure Device ID",
    "Firmware state",
    "RAID Level",
    "Virtual Drive: ",
    "Virtual Disk: ",
    "BBU status for Adapter",
    "Product Name",
    "Slot Number",
    "Number of enclosures on adapter",
    "PCI information for Controller",
)
_ADAPTER = re.compile(
    r"(?:Adapter:? #?(\d{1,3})(?: -- .*)?|BBU status for Adapter: (\d{1,3})"
    r"|\s{0,8}Number of enclosures on adapter (\d{1,3}) -- \d{1,3}|PCI information for Controller (\d{1,3}))\s*$"
)
_ENCLOSURE = re.compile(r"\s{0,8}Enclosure \d{1,3}:\s*$")
_VIRTUAL = re.compile(r"(?:CacheCade )?Virtual (?:Drive|Disk) ?: ?(\d{1,5})(?: \((.*)\))?\s*$")
_PD = re.compile(r"PD: \d{1,4} Information|Physical Disk: \d{1,4}\s*$|(?:Physical|Virtual) Disk Information:\s*$")
_GROUP = re.compile(r"DISK GROUPS?: \d{1,4}\s*$")
_IN_HEXADECIMAL = "PCI Info"
_PHYSICAL = re.compile(r"Enclosure Device ID ?:")
_RULE = re.compile(r"\s*[=-]{3,}\s*$")
_UNDER_TITLE = re.compile(r"\s{8,40}=+\s*$")
_PORT = re.compile(r"(\d{1,3})\s{1,20}([0-9a-f]{16})\s*$")
_FIELD = re.compile(
    r"\s*(?:[A-Z]|is[A-Z])[^:=\n]{0,80}[:=]|\s*[=-]{3,}\s*$|PD: \d+ Information|Exit Code"
    r"|\s*[A-Z][\w ./]{2,60}\s*$|\d{1,3}\s{1,20}[0-9a-f]{16}\s*$"
)
_WRAPPED = re.compile(r"\s{0,8}(?:0x[0-9a-fA-F]{1,16}|\[0x[0-9a-fA-F]{1,16} Sectors\]|Sectors\])\s*$")  # by a mail


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if megacli_summary.is_there(text):
        return 1.0
    if not any(word in text.text for word in _KNOWN) or not _LIKE.search(text.by_lines):
        return 0.0
    return 1.0 if "Enclosure Device ID:" in text.text or "Target Id:" in text.text else 0.8


def parse(text: SourceText) -> ParsedFile:
    if not megacli_summary.is_there(text):
        return _listed(text)
    summaries = megacli_summary.parse_summaries(text)
    try:
        listed = _listed(text)
    except ParseError:
        return summaries
    inventory = sorted((*listed.inventory, *summaries.inventory), key=lambda one: one.line or 0)
    return ParsedFile(inventory=tuple(inventory), broken=(*listed.broken, *summaries.broken))


def _listed(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "Adapter #0, and drives below it")


def _begins(line: str) -> bool:
    return bool(_ADAPTER.match(line) or _VIRTUAL.match(line) or _PHYSICAL.match(line))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """An adapter's lines; a list that was cut before its adapter begins with its first drive."""
    index = 0
    while index < len(lines):
        if not _begins(lines[index]):
            index += 1
            continue
        first = last = index
        index += 1
        while index < len(lines) and not _ADAPTER.match(lines[index]) and not is_prompt(lines[index]):
            line = lines[index]
            if line.strip() and not (_FIELD.match(line) or _WRAPPED.match(line)):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _unwrapped(lines: Sequence[str]) -> list[str]:
    found = list(lines[:1])
    for line in lines[1:]:
        if _WRAPPED.match(line):
            found[-1] = f"{found[-1].rstrip()} {line.strip()}"
        else:
            found.append(line)
    return found


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    lines = _unwrapped(lines)
    head = _ADAPTER.match(lines[0])
    content: Content = {
        "adapter": int(next(filter(None, head.groups()))) if head else None,
        "fields": {},
        "virtual_drives": [],
        "physical_drives": [],
    }
    title = _IN_HEXADECIMAL if head and head[4] else ""
    here: Content = content.setdefault("sections", {}).setdefault(title, {}) if title else content["fields"]
    virtual = None
    for index, line in enumerate(lines[1:] if head else lines, start=1 if head else 0):
        if index + 1 < len(lines) and _UNDER_TITLE.match(lines[index + 1]) and line.strip():
            title = line.strip().removesuffix(":")
            here = content.setdefault("sections", {}).setdefault(title, {})
            continue
        if _GROUP.match(line):
            here, virtual = content["fields"], None
        if match := _VIRTUAL.match(line):
            virtual = int(match[1])
            here = {"Virtual Drive": virtual, **_target(match[2] or "")}
            content["virtual_drives"].append(here)
            continue
        if _ENCLOSURE.match(line):
            here = {}
            content.setdefault("enclosures", []).append(here)
            continue
        if _PHYSICAL.match(line):
            here = {} if virtual is None else {"Virtual Drive": virtual}
            content["physical_drives"].append(here)
        if (found := _field(line)) and not _PD.match(line):
            value = found[1] if title == _IN_HEXADECIMAL else typed(*found)
            put(here, found[0], value)
            if title:
                content["fields"].setdefault(found[0], value)
    if not any(content.get(key) for key in ("fields", "virtual_drives", "physical_drives", "enclosures")):
        raise ValueError("fields of the adapter or its drives")
    return _summary(content), content


def _field(line: str) -> tuple[str, str] | None:
    """`Battery State: Optimal`, `Max Error = 2 %`, and the ports' addresses as a table of two columns lists them."""
    if match := _PORT.match(line):
        return f"Port {match[1]}", match[2]
    return None if _RULE.match(line) else field(line) if ":" in line else field(line, "=")


def _target(text: str) -> Content:
    found = field(text)
    return {found[0]: typed(*found)} if found else {}


def _summary(content: Content) -> str:
    virtual, physical = content["virtual_drives"], content["physical_drives"]
    states = sorted({str(one["State"]) for one in virtual if one.get("State")})
    parts = [str(content["fields"].get("Product Name", ""))]
    parts += [count(len(virtual), "virtual drive") + (f" ({', '.join(states)})" if states else "")] if virtual else []
    parts += [count(len(physical), "physical drive")] if physical else []
    parts += [count(len(content["enclosures"]), "enclosure")] if content.get("enclosures") else []
    name = f"adapter {content['adapter']}" if content["adapter"] is not None else "adapter"
    return f"{name}: " + (", ".join(filter(None, parts)) or count(len(content["fields"]), "field"))
