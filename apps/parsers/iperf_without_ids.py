"""iperf's lines that have lost the id in brackets before them, as wikis that read brackets as links leave them:

[  ] local 10.0.0.1 port 48990 connected with 10.0.0.2 port 5001
 0.0-10.0 sec  1.10 GBytes   941 Mbits/sec

Streams of one time cannot be told apart then, so the lines are given an id only where nothing speaks of a second one.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_LOST = r"^[ \t]{0,16}(?:\[[ \t]{0,6}\])?[ \t]{0,16}"
_REPORT = re.compile(
    _LOST + r"(?P<rest>(?P<start>\d{1,9}\.\d{1,6})- ?\d{1,9}\.\d{1,6} {1,6}sec {1,6}"
    r"\d[\d.]{0,20} [KMGTP]?Bytes {1,6}\d[\d.]{0,20} [KMGTP]?(?:bits|Bytes)/sec(?P<behind>.{0,200}))"
)
_LOCAL = re.compile(_LOST + r"(?P<rest>local \S{1,100} port \d{1,5} connected (?:with|to) )")
_TOLD = re.compile(_LOST + r"(?P<rest>(?:Sent \d{1,18} datagrams|Server Report:))")
_HEADING = re.compile(r"^[ \t]{0,16}(?:\[[ \t]{0,6}(?:ID)?\])?[ \t]{0,16}(?P<rest>Interval {1,12}Transfer {1,12}B)")
_HAS_ID = re.compile(
    r"\[ {0,6}(?:SUM|\*?\d{1,6}|FD\d{1,6})(?:-\d{1,6})?\](?:\[[TR]X-[CS]\])? {0,8}(?:\d{1,9}\.\d{1,6}-|local )"
)
_LONGEST = 1000
_WORDS = ("/sec", "connected", "Sent ", "Server Report:", "Interval")
_SEVERAL = (("local", "local"), ("from 0.0", "from 0.0"))  # directly below each other: of two streams


def may_lack_ids(text: str) -> bool:
    return "/sec" in text and " sec " in text and not _HAS_ID.search(text)


def with_ids(lines: Sequence[str], text: str) -> Sequence[str]:
    """The lines, iperf's with an id where none of the text has one; as they are where that would mix up streams."""
    if not may_lack_ids(text):
        return lines
    given = [_given(line) for line in lines]
    kinds = [kind or "words" for kind, line in given if kind or line.strip(" \t-")]
    if not any("0" in kind for kind in kinds) or any(pair in _SEVERAL for pair in pairwise(kinds)):
        return lines
    return [shown for _, shown in given]


def _given(line: str) -> tuple[str, str]:
    """What the line is, and how it reads with an id."""
    if len(line) > _LONGEST or not any(word in line for word in _WORDS):
        return "", line
    if match := _REPORT.match(line):
        is_whole = float(match["start"]) == 0 and not match["behind"].rstrip().endswith(("sender", "receiver"))
        return "from 0.0" if is_whole else "later than 0.0", f"[  0] {match['rest']}"
    for kind, pattern, id_ in (("local", _LOCAL, "[  0]"), ("told", _TOLD, "[  0]"), ("heading", _HEADING, "[ ID]")):
        if match := pattern.match(line):
            return kind, f"{id_} {line[match.start('rest') :]}"
    return "", line
