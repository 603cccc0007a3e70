"""`uname -srvm`: name, release, version with blanks, machine.

An example is `Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64`.
"""

from dataclasses import dataclass

from apps.inventory.discovery.tool_values import UnreadableError, text

TOOL = "uname"


@dataclass(frozen=True)
class Uname:
    system: str
    release: str
    version: str
    machine: str


def discover(printed: str) -> Uname:
    words = text(printed, 400).split()
    if len(words) < 3:
        raise UnreadableError(TOOL, printed, "system, release, version and machine", 1)
    return Uname(words[0][:60], words[1][:120], " ".join(words[2:-1])[:200], words[-1][:60])
