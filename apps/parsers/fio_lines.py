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

_FIRST_LINES = re.compile(
    rb' : \{\n[ \t]*"min" : ([^\s,{}\[\]]+),\n[ \t]*"max" : ([^\s,{}\[\]]+),\n[ \t]*"mean" : ([^\s,{}\[\]]+),\n[ \t]*"stddev" : ([^\s,{}\[\]]+)'
)
_COLON = re.compile(rb"\s*:")
_USUAL = b" :"  # as fio itself prints it


class Place(msgspec.Struct, frozen=True, gc=False):
    line: int | None = None
    printed: str = ""  # the value's own characters


NOWHERE = Place()
_NEWLINE = 10
_LONGEST_LINES = 400  # of four numbers


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
        starts, position = list[int](), self.start
        while (found := self._key("jobname", (position, self.end))) is not None:
            starts.append(found)
            position = found + 1
        return list(pairwise([*starts, self.end]))

    def block(self, name: str, within: tuple[int, int], *, until: tuple[str, ...] = ()) -> tuple[int, int] | None:
        """From the key of an object to its end where it is printed in lines, else to the first of the keys in `until` behind it,
        or to the end of `within`.
        """
        position = self._key(name, within)
        if position is None:
            return None
        begin = position + len(name) + 2
        indent = self.data[self.data.rfind(b"\n", within[0], position) : position]
        if indent.isspace() and (end := self.data.find(indent + b"}", begin, within[1])) >= 0:
            return position, end
        ends = [found for key in until if (found := self._key(key, (begin, within[1]))) is not None]
        return position, min([*ends, within[1]])

    def value(self, name: str, within: tuple[int, int] | None) -> Place:
        if within is None or (position := self._key(name, within)) is None:
            return NOWHERE
        token = _TOKEN.match(self.data, position + len(name) + 2, within[1])
        printed = token[1].decode("utf-8", "replace") if token else ""
        return Place(self.line(position), printed[:40])

    def first_lines(self, name: str, within: tuple[int, int] | None) -> tuple[int, tuple[str, str, str, str]] | None:
        """Of an object that begins as fio prints it, with min, max, mean and stddev in a line each: the line of `min`, and the four
        values' own characters.
        """
        if within is None or (position := self._key(name, within)) is None:
            return None
        match = _FIRST_LINES.match(self.data, position + len(name) + 2, within[1])
        if match is None or match.end() - match.start() > _LONGEST_LINES:
            return None
        low, high, mean, spread = match.groups()
        line = self.line(position) + 1
        return line, (low.decode(), high.decode(), mean.decode(), spread.decode())

    def _key(self, name: str, within: tuple[int, int]) -> int | None:
        data, quoted, (position, end) = self.data, _quoted(name), within
        while (position := data.find(quoted, position, end)) >= 0:
            behind = position + len(quoted)
            if data.startswith(_USUAL, behind, end) or _COLON.match(data, behind, end):
                return position
            position = behind  # the same word as a value: "rw" : "read"
        return None


@lru_cache(1024)  # fio has some hundred keys
def _quoted(name: str) -> bytes:
    return b'"%s"' % name.encode()
