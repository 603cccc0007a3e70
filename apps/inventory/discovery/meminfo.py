"""`/proc/meminfo`: `MemTotal:       24684096 kB`, where kB is 1024 bytes.

MemTotal is what the kernel manages: installed memory less what firmware and the kernel keep for themselves.
"""

import re
from dataclasses import dataclass

from apps.inventory.discovery.printed import UnreadableError

TOOL = "meminfo"
_TOTAL = re.compile(r"^MemTotal:\s*(\d{1,15}) kB\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Memory:
    total_bytes: int


def parse(printed: str) -> Memory:
    if not (found := _TOTAL.search(printed)):
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "a line 'MemTotal: … kB'", 1)
    return Memory(int(found[1]) * 1024)
