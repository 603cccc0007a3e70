"""`/proc/mdstat`: software RAID by md. What it means is in `md_arrays`, which the discovery of hosts reads too.

    md0 : active raid5 sdd1[3] sdc1[2](F) sdb1[0]

Content: {"personalities": […], "arrays": [{"name", "level", "state", "members": [{"device", "number", "state"}], …}]},
sizes in bytes. A text may hold several of them, with prose between.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from apps.parsers.inventory import md_arrays
from apps.parsers.inventory.md_arrays import MdArray
from apps.parsers.inventory.printed import Block, Content, count, parse_blocks
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "mdstat"
TITLE = "/proc/mdstat"
_BEGIN = re.compile(r"Personalities ?:")
_LIKE = re.compile(r"^[>#\s]{0,8}Personalities ?:", re.MULTILINE)
_ARRAY = re.compile(r"\s{0,8}md\w{1,60}\s?: (?:active|inactive|broken) [^\n]*\[\d")
_INSIDE = re.compile(r"\s+\S|md\S{0,60}\s*:\s|\[raid|\[linear|finish=|\d+k chunk|speed=")


def looks_like(text: SourceText) -> float:
    if _LIKE.search(text.text):
        return 1.0
    return 0.8 if ": active " in text.text and any(map(_ARRAY.match, text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    return parse_blocks(text, NAME, _blocks, _read, "Personalities : …")


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """From `Personalities`, or the first array, to `unused devices`, or what is none of it."""
    index = 0
    while index < len(lines):
        if not (_BEGIN.match(lines[index]) or _ARRAY.match(lines[index])):
            index += 1
            continue
        first, last = index, index
        index += 1
        while index < len(lines) and not _BEGIN.match(lines[index]):
            line = lines[index]
            if line.startswith("unused devices"):
                last, index = index, index + 1
                break
            if line.strip() and not _INSIDE.match(line):
                break
            last = index if line.strip() else last
            index += 1
        yield first, last + 1


def _read(lines: Sequence[str]) -> tuple[str, Content]:
    found = md_arrays.read(lines)
    if found is None:
        raise ValueError("an array such as md0 : active raid1 sda1[0] sdb1[1]")
    arrays = [{**asdict(array), "state": array.state} for array in found.arrays]
    summary = "; ".join(map(_summary, found.arrays[:4])) or "no arrays"
    more = f"; {len(arrays) - 4} more" if len(arrays) > 4 else ""
    return summary + more, {"personalities": list(found.personalities), "arrays": arrays}


def _summary(array: MdArray) -> str:
    chunk = f", chunk {array.chunk_size // 1024}K" if array.chunk_size else ""
    return f"{array.name}: {array.level or 'no level'} of {count(len(array.members), 'device')}, {array.state}{chunk}"
