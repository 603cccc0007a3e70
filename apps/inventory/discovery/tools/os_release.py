"""`/etc/os-release` (freedesktop.org): shell assignments that are read as text, never by a shell.

An example is `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"`.
"""

import re
from dataclasses import dataclass

from apps.inventory.discovery.tool_values import UnreadableError, text

TOOL = "os-release"
_ASSIGNMENT = re.compile(
    r"""^[^\S\n]*([A-Z][A-Z0-9_]{0,60})=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S*))[^\S\n]*$""", re.MULTILINE
)


@dataclass(frozen=True)
class OsRelease:
    """The operating system; `pretty_name` falls back to name and version, what is missing is ''."""

    pretty_name: str
    id: str = ""
    version_id: str = ""


def discover(printed: str) -> OsRelease:
    found = {
        key: text(re.sub(r"\\(.)", r"\1", double) or single or bare)
        for key, double, single, bare in _ASSIGNMENT.findall(printed[:65536])
    }
    pretty = found.get("PRETTY_NAME") or " ".join(filter(None, (found.get("NAME"), found.get("VERSION"))))
    if not pretty:
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "PRETTY_NAME= or NAME=", 1)
    return OsRelease(pretty[:200], found.get("ID", ""), found.get("VERSION_ID", ""))
