"""What a cp command line copies, and how large that is as the text around it says."""

import re
from bisect import bisect_left
from collections.abc import Sequence

LISTED = re.compile(
    r"\s*(?:\d{1,20}\s{1,20}){0,2}-[rwxsStTlL-]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+(\d{1,18})\s+\S.*\s(\S+)\s*$"
)
_DD = re.compile(r"\bdd\s")
_WRITTEN = re.compile(r"\sof=(\S+)")
_BYTES = re.compile(r"(\d{1,18}) bytes ")
_NEAR = 40
_LONGEST = 1000


def paths(command: str) -> tuple[list[str], str]:
    """What was copied, and where to."""
    words = re.split(r"\bcp\s+", command, maxsplit=1)[-1]
    words = re.split(r"[;&|)]|\s#", words, maxsplit=1)[0]
    named = [word.strip("\"'") for word in words.split() if not word.startswith("-")]
    return (named[:-1], named[-1]) if len(named) > 1 else ([], "")


def said_sizes(lines: Sequence[str]) -> list[tuple[int, str, int]]:
    """(index of the line, name of the file, its bytes) wherever a listing or a dd says so."""
    found = []
    for index, line in enumerate(lines):
        if ("-r" in line or line.lstrip()[:1] == "-") and (listed := LISTED.match(line[:_LONGEST])):
            found.append((index, _name(listed[2]), int(listed[1])))
        elif "of=" in line and _DD.search(line := line[:_LONGEST]) and (written := _WRITTEN.search(line)):
            sizes = [int(match[1]) for each in lines[index + 1 : index + 4] if (match := _BYTES.match(each))]
            found += [(index, _name(written[1]), size) for size in sizes[:1]]
    return found


def size_of(source: str, said: Sequence[tuple[int, str, int]], first: int, last: int) -> int | None:
    """The size of the copied file where the text near the copy says exactly one; `said` by `said_sizes`."""
    name = _name(source)
    if not name or any(letter in name for letter in "*?[$"):
        return None
    start, end = bisect_left(said, (first - _NEAR,)), bisect_left(said, (last + _NEAR,))
    found = {size for _, of, size in said[start:end] if of == name}
    return found.pop() if len(found) == 1 else None


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]
