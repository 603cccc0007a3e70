"""Where in fio's report a value stands, so that a page can show the line: found by searching forward, never by parsing
again.

A key in quotes followed by a colon cannot stand inside a JSON string (quotes in there are escaped), so a plain search
is exact as long as it stays inside the job's part of the text.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise

import msgspec
import numpy as np

_TOKEN = re.compile(rb"\s*:\s*([^\s,{}\[\]]+)")

_COLON = re.compile(rb"\s*:")


class Place(msgspec.Struct, frozen=True, gc=False):
    line: int | None = None
    printed: str = ""  # the value's own characters


NOWHERE = Place()
_NEWLINE = 10


class Lines:
    """Line numbers for one document inside a text."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end
        self.first_line = data.count(b"\n", 0, start) + 1
        self.breaks: list[int] = np.flatnonzero(np.frombuffer(data, np.uint8, end - start, start) == _NEWLINE).tolist()

    def line(self, position: int) -> int:
        return self.first_line + bisect_right(self.breaks, position - self.start)

    def jobs(self) -> list[tuple[int, int]]:
        """Each job's part of the text, from one `jobname` to the next."""
        starts = [match.start() for match in re.finditer(rb'"jobname"\s*:', self.data[self.start : self.end])]
        return [
            (self.start + here, self.start + following)
            for here, following in pairwise([*starts, self.end - self.start])
        ]

    def block(self, name: str, within: tuple[int, int], *, until: tuple[str, ...] = ()) -> tuple[int, int] | None:
        """From the key of an object to the first of the keys in `until` behind it, or to the end of `within`."""
        position = self._key(name, within)
        if position is None:
            return None
        begin = position + len(name) + 2
        ends = [found for key in until if (found := self._key(key, (begin, within[1]))) is not None]
        return position, min([*ends, within[1]])

    def value(self, name: str, within: tuple[int, int] | None) -> Place:
        if within is None or (position := self._key(name, within)) is None:
            return NOWHERE
        token = _TOKEN.match(self.data, position + len(name) + 2, within[1])
        printed = token[1].decode("utf-8", "replace") if token else ""
        return Place(self.line(position), printed[:40])

    def _key(self, name: str, within: tuple[int, int]) -> int | None:
        quoted, (position, end) = _quoted(name), within
        while (position := self.data.find(quoted, position, end)) >= 0:
            if _COLON.match(self.data, position + len(quoted), end):
                return position
            position += len(quoted)  # the same word as a value: "rw" : "read"
        return None


@lru_cache(1024)  # fio has some hundred keys
def _quoted(name: str) -> bytes:
    return b'"%s"' % name.encode()
