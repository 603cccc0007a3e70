"""`/proc/mdstat`: software RAID by md. What it means is in `md_arrays`, which the discovery of hosts reads too.

    md0 : active raid5 sdd1[3] sdc1[2](F) sdb1[0]

Content: {"personalities": […], "arrays": [{"name", "level", "state", "members": [{"device", "number", "state"}], …}]},
sizes in bytes. A text may hold several of them, with prose between.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from apps.parsers.inventory import md_arrays
from apps.parsers.inventory.md_arrays import MdArray
from apps.parsers.inventory.printed import Block, Content, blanked, count, parse_blocks
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "mdstat"
TITLE = "/proc/mdstat"
_BEGIN = re.compile(r"(\s{0,40})Personalities ?:")
_LIKE = re.compile(r"^[>#\s]{0,40}Personalities ?:", re.MULTILINE)
_ARRAY = re.compile(r"(\s{0,40})(md\w{1,60})\s?: (?:active|inactive|broken) [^\n]*\[\d")
_INSIDE = re.compile(
    r"\s+\S|read_ahead \d|Event: \d|md\S{0,60}\s*:\s|finish=|\d+[kK] chunk|speed=|blocks super|algorithm \d"
    r"|\d{1,15} blocks\b|bitmap:|\[[=>.]{2,40}\]|(?:resync|recovery|check|repair|reshape)\s?="  # what lost its blanks
    r"|(?:\d{1,2} |(?:near|far|offset)-copies ?)?\[\d+/\d+\]|(?:near|far|offset)-copies\s*$"  # what a mail wrapped
    r"|\[[U_]{1,200}\]|\[(?:raid|linear)|(?:\[\w{1,20}\]\s*)++$"
)
_MEMBER = re.compile(r"[\w!/-]\[\d{1,6}\]")


def looks_like(text: SourceText) -> float:
    text = blanked(text)
    if _LIKE.search(text.by_lines):
        return 1.0
    return 0.8 if "active " in text.text and any(map(_ARRAY.match, text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    found = parse_blocks(text, NAME, _blocks, _read, "Personalities : …")
    warnings = [
        f"mdstat from line {one.line} on, its {told.removeprefix('mdstat, ')}"
        for one in found.inventory
        for told in one.content.pop("warnings")
    ]
    return replace(found, warnings=(*found.warnings, *warnings))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """From `Personalities`, or the first array, to `unused devices`, an array that was told already, or what is none of it."""
    index = 0
    while index < len(lines):
        begun = _BEGIN.match(lines[index]) or _ARRAY.match(lines[index])
        end = _end(lines, index, begun[1]) if begun else 0
        if end:
            yield index, end
        index = max(end, index + 1)


def _end(lines: Sequence[str], first: int, margin: str) -> int:
    """`margin`: what a page put before every line."""
    names: set[str] = set()
    last = first
    for index in range(first, len(lines)):
        if not lines[index] or lines[index].isspace():
            continue
        line = lines[index].removeprefix(margin)
        array = _ARRAY.match(lines[index])
        if index > first and (_BEGIN.match(lines[index]) or (array and array[2] in names)):
            break
        if line.startswith("unused devices"):
            return index + 1
        is_more = _MEMBER.search(line) and _MEMBER.search(lines[index - 1])  # what is no member there is warned of
        if index > first and not (is_more or _INSIDE.match(line)):
            break
        names.update([array[2]] if array else [])
        last = index
    return last + 1


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    found = md_arrays.read(lines)
    if found is None:
        raise ValueError("an array such as md0 : active raid1 sda1[0] sdb1[1]")
    arrays = [
        {**vars(array), "members": tuple(dict(vars(one)) for one in array.members), "state": array.state}
        for array in found.arrays
    ]
    summary = "; ".join(map(_summary, found.arrays[:4])) or "no arrays"
    more = f"; {len(arrays) - 4} more" if len(arrays) > 4 else ""
    content = {"personalities": list(found.personalities), "arrays": arrays, "warnings": list(found.warnings)}
    return summary + more, content


def _summary(array: MdArray) -> str:
    chunk = f", chunk {array.chunk_size // 1024}K" if array.chunk_size else ""
    devices = array.raid_devices or len(array.members)  # one that is missing is not listed, a spare is none of them
    spares = sum(one.state == "spare" for one in array.members) if array.raid_devices else 0
    more = f" and {count(spares, 'spare')}" if spares else ""
    return f"{array.name}: {array.level or 'no level'} of {count(devices, 'device')}{more}, {array.state}{chunk}"
