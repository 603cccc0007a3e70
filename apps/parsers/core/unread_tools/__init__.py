"""The registry of tools whose outputs are not read, so that a file of theirs is told by the tool's name.

    unread = detect_unread_tool(SourceText(data, name))
    unread.tool.name, unread.tool.instead     # "zpool status", what can be brought in its place

An entry is an `UnreadTool` in the list of its module:

- `system.py`: what a host was doing or how it is set up (vmstat, top, sysctl);
- `storage.py`: what a machine is made of (zpool status, fdisk -l);
- `benchmarks.py`: results of other benchmarks.

A tool that is read by now loses its entry. The outputs are looked for only where no format recognised the text, and they keep
it from being taken for a table of results.
"""

from typing import NamedTuple

from apps.parsers.core.source_text import SourceText
from apps.parsers.core.unread_tools import benchmarks, storage, system
from apps.parsers.core.unread_tools.tool import UnreadTool

TOOLS: tuple[UnreadTool, ...] = (*benchmarks.TOOLS, *storage.TOOLS, *system.TOOLS)
_LINES = 40  # a log's own words, a date or a prompt may stand before
_LONGEST = 2000  # characters of a line that are looked at


class UnreadOutput(NamedTuple):
    """A tool that was recognised, and the line (from 1, and as printed) that shows it."""

    tool: UnreadTool
    line: int
    printed: str


def detect_unread_tool(text: SourceText) -> UnreadOutput | None:
    """Return which tool's output that is not read the text begins with; None where it is none."""
    lines = [line[:_LONGEST] for line in text.lines[:_LINES]]
    first_lines = "\n".join(lines)
    for index, line in enumerate(lines):
        for tool in TOOLS:
            if tool.matches(line, first_lines):
                return UnreadOutput(tool, text.number(index), line.strip())
    return None
