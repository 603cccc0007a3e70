"""`/proc/meminfo`: `MemTotal:       24684096 kB`, where kB is 1024 bytes.

MemTotal is what the kernel manages: installed memory less what firmware and the kernel keep for themselves.
"""

import re
from dataclasses import dataclass

from apps.inventory.discovery.tool_values import UnreadableError

TOOL = "meminfo"
_TOTAL = re.compile(r"^MemTotal:\s*(\d{1,15}) kB\s*$", re.MULTILINE)


@dataclass(frozen=True)
class MemInfo:
    total_bytes: int


def discover(printed: str) -> MemInfo:
    if not (found := _TOTAL.search(printed)):
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "a line 'MemTotal: … kB'", 1)
    return MemInfo(int(found[1]) * 1024)
