"""Whose each line is where several clients with titles (-T) wrote into one terminal at the same time, as tests of fast links do:

s1:  [  5]   0.00-1.00   sec  1.62 GBytes  13.9 Gbits/sec    0   1.31 MBytes
s2:  [  5]   0.00-1.00   sec  1.55 GBytes  13.3 Gbits/sec    0   1.22 MBytes

iperf 3 puts the title, a colon and two blanks before every line (iperf_api.c, `iperf_printf`).
"""

import re

from apps.parsers.source_text import SourceText

_TITLED = re.compile(
    r"^(?:.{0,120}?[#$>] )?(?P<title>[^\s\[:<>](?:[^:\[<>\n]{0,60}?[^\s:\[<>])?):  "
    r"(?:\[ {0,4}(?:ID|SUM|\d{1,6})\]|Connecting to host |Accepted connection from |Starting Test: )",
    re.MULTILINE,
)
_MOST_TITLES = 200


def by_title(text: SourceText) -> list[tuple[str, SourceText]]:
    """(title, its lines, with their numbers); [("", text)] where no line has one."""
    if ":  [" not in text.text:
        return [("", text)]
    titles = {match["title"] for line in text.lines if ":  " in line and (match := _TITLED.match(line[:400]))}
    if not titles or len(titles) > _MOST_TITLES:
        return [("", text)]
    parts = text.parts([_title_of(line, titles) for line in text.lines], {"", *titles})
    return [(title, part) for title, part in parts if any(line.strip() for line in part.lines)]


def _title_of(line: str, titles: set[str]) -> tuple[str, int]:
    """The line's title, and where the line begins behind it."""
    if match := _TITLED.match(line[:400]):
        return match["title"], match.end("title") + 3
    title = line.partition(":")[0]
    is_titled = title in titles and line.startswith((":  ", ": "), len(title))
    return (title, len(title) + 3) if is_titled or (title in titles and line.rstrip() == f"{title}:") else ("", 0)
