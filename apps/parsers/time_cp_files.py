"""What a cp command line copies, and how large that is as the text around it says."""

import re
from collections.abc import Sequence

_LISTED = re.compile(r"\s*-[rwxsStTlL-]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+(\d{1,18})\s+\S.*\s(\S+)\s*$")
_DD = re.compile(r"\bdd\s")
_WRITTEN = re.compile(r"\sof=(\S+)")
_BYTES = re.compile(r"(\d{1,18}) bytes ")
_NEAR = 40
_LONGEST = 1000


def paths(command: str) -> tuple[list[str], str]:
    """What was copied, and where to."""
    words = re.split(r"\bcp\s+", command, maxsplit=1)[-1]
    words = re.split(r"[;&|)]", words, maxsplit=1)[0]
    named = [word.strip("\"'") for word in words.split() if not word.startswith("-")]
    return (named[:-1], named[-1]) if len(named) > 1 else ([], "")


def size_of(source: str, lines: Sequence[str], first: int, last: int) -> int | None:
    """The size of the copied file where the text near the copy says exactly one."""
    name = source.rsplit("/", 1)[-1]
    if not name or any(letter in name for letter in "*?[$"):
        return None
    start, end = max(0, first - _NEAR), min(len(lines), last + _NEAR)
    found = set()
    for index in range(start, end):
        line = lines[index][:_LONGEST]
        if name not in line:
            continue
        if (listed := _LISTED.match(line)) and listed[2].rsplit("/", 1)[-1] == name:
            found.add(int(listed[1]))
        elif _DD.search(line) and (written := _WRITTEN.search(line)) and written[1].rsplit("/", 1)[-1] == name:
            sizes = [int(match[1]) for each in lines[index + 1 : index + 4] if (match := _BYTES.match(each))]
            found.update(sizes[:1])
    return found.pop() if len(found) == 1 else None
