"""Where each device's lines lie in smartctl's text: behind a version line, a section, or without any head, as people copy a
part of it.

    /dev/sda
    === START OF INFORMATION SECTION ===

Source of the order: smartmontools' ataprint.cpp. What comes a second time, or stands before what was there already,
is of another device. The `/dev/sda` that loops of a shell print is the device's name.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from apps.parsers.inventory.printed import Block, is_prompt

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
_BEGINNINGS = ("smartctl", "===", "Model", "Device Model", "SMART", "ID#", "SCT")  # most lines have none of them
_ORDER = ["version", "information", "family", "model"]
_HEADLESS = {name for name, _ in _PARTS[2:]}
_ABOUT = re.compile(r"(?:Serial Number|Firmware Version|User Capacity|LU WWN Device Id):\s", re.IGNORECASE)
_LIKE = re.compile(
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
    return _LIKE.search(text) is not None


def part_of(line: str) -> str:
    """Which part of a report begins in the line, '' for none."""
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
    """One for each device. `is_known`: whether a line is smartctl's; `is_cut`: whether the next one goes on with it.

    A paragraph that begins with somebody's words is none of it, nor are those behind until one has a title; below a title stand rows.
    """
    first, last = -1, -1
    is_inside = is_titled = False
    seen: list[str] = []
    for index, line in enumerate(lines):
        if not line or line.isspace():
            continue
        part = part_of(line)
        named = _named(lines, index) if part else index
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


def _named(lines: Sequence[str], index: int) -> int:
    """The line above that names the device; `index` where there is none, or a list of several."""
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
    """Whether what has no head ends: behind a blank line stands something else."""
    return bool(seen) and seen[0] in _HEADLESS and not part and not lines[index - 1].strip()


def _is_whole(lines: Sequence[str], seen: Sequence[str]) -> bool:
    """Whether there is a device: a model alone, which anybody may name, is none."""
    if seen[0] in ("family", "model"):
        return any(map(_ABOUT.match, lines))
    return seen[0] not in _HEADLESS or len(lines) > (2 if DEVICE.match(lines[0]) else 1)
