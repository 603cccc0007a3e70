"""`dmsetup table`: what each device-mapper device does with its sectors of 512 bytes.

vg-fast: 0 41943040 striped 2 128 8:16 2048 8:32 2048
vg-safe: 0 8388608 raid raid5_ls 3 128 region_size 1024 3 253:1 253:2 …
"""

import re
from dataclasses import dataclass

from apps.inventory.discovery.tool_values import UnreadableError

TOOL = "dmsetup"
MAX_LINES = 16_384
_LINE = re.compile(r"(\S{1,200}): \d{1,18} \d{1,18} ([a-z][\w-]{1,30})(?: (.*))?")
_LEVELS = {"raid0": "0", "raid1": "1", "raid4": "4", "raid10": "10"}


@dataclass(frozen=True)
class DmMapping:
    level: str = ""
    chunk_size: int | None = None


@dataclass(frozen=True)
class Mappings:
    """Device-mapper tables by device name; devices with several lines that differ are left out."""

    by_name: dict[str, DmMapping]


def discover(printed: str) -> Mappings:
    found: dict[str, set[DmMapping]] = {}
    lines = [line for line in printed.splitlines()[:MAX_LINES] if line.strip()]
    for line in lines:
        if match := _LINE.fullmatch(line[:4000].strip()):
            found.setdefault(match[1], set()).add(_mapping(match[2], (match[3] or "").split()[:8]))
    if lines and not found and not lines[0].startswith(("No devices", "$ ")):
        raise UnreadableError(TOOL, lines[0], "name: start length target …", 1)
    return Mappings({name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1})


def _mapping(target: str, words: list[str]) -> DmMapping:
    if target == "striped" and len(words) > 1:
        return DmMapping("0", _sectors(words[1]))
    if target == "raid" and len(words) > 2:
        kind = words[0]
        level = kind[4] if kind.startswith(("raid5", "raid6")) else _LEVELS.get(kind, "")
        return DmMapping(level, _sectors(words[2]) if level != "1" else None)
    return DmMapping("1" if target == "mirror" else "linear" if target == "linear" else "")


def _sectors(word: str) -> int | None:
    return int(word) * 512 or None if word.isascii() and word.isdigit() and len(word) < 12 else None
