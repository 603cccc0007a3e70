"""Where in fio's report a value stands, so that a page can show the line: found by searching forward, never by parsing
again.

A key in quotes followed by a colon cannot stand inside a JSON string (quotes in there are escaped), so a plain search
is exact as long as it stays inside the job's part of the text.
"""

import re
from functools import lru_cache
from itertools import pairwise

import msgspec

_TOKEN = re.compile(rb"\s*:\s*([^\s,{}\[\]]+)")
_COLON = re.compile(rb"\s*:")
_USUAL = b" :"  # as fio itself prints it
_NUMBER = rb"(\d{1,19}(?:\.\d{1,19})?)"  # at most 40 characters
# fio's own list, and which of it are wanted: those of `fio_samples.PERCENTILES`
_SHARES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
_WANTED = (1, 50, 90, 95, 99, 99.9, 99.99)
_PERCENTILE_LINES = tuple(6 + _SHARES.index(share) for share in _WANTED)  # behind the line of `min`


def _rows(*keys: str, kept: bool = True) -> bytes:
    """Numbers as fio prints them, one in a line."""
    return rb",\n".join(rb'[ \t]*"%s" : ' % re.escape(key).encode() + (_NUMBER if kept else rb"[\d.]+") for key in keys)


_RATES = re.compile(
    rb" : \{\n" + _rows("io_bytes") + rb",\n" + _rows("io_kbytes", kept=False) + rb",\n" + _rows("bw_bytes") + rb",\n"
    + _rows("bw", kept=False) + rb",\n" + _rows("iops") + rb",\n"
)  # fmt: skip
_LATENCY = re.compile(
    rb" : \{\n" + _rows("min", "max", "mean", "stddev") + rb"(?:,\n" + _rows("N", kept=False)
    + rb',\n[ \t]*"percentile" : \{\n' + rb",\n".join(_rows(f"{one:.6f}", kept=one in _WANTED) for one in _SHARES)
    + rb"\n)?"
)  # fmt: skip


class Place(msgspec.Struct, frozen=True, gc=False):
    line: int | None = None
    printed: str = ""  # the value's own characters


class Rates(msgspec.Struct, frozen=True, gc=False):
    """The characters of `io_bytes`, `bw_bytes` and `iops`, and the line of each."""

    printed: list[str]
    lines: tuple[int, int, int]


class Moments(msgspec.Struct, frozen=True, gc=False):
    """The characters of `min`, `max`, `mean` and `stddev`, the first of which stands in `line`, each in one of its own; of the wanted
    percentiles, where fio's own list of them follows; and the line of each.
    """

    line: int
    printed: list[str]
    percentiles: list[str]
    percentile_lines: list[int]


NOWHERE = Place()


def same(place: Place, value: float | int | None) -> Place:
    """The place, if the characters there are the value: in a report with its keys in another order they may not be."""
    try:
        return place if value is not None and float(place.printed or "nan") == float(value) else NOWHERE
    except (ValueError, OverflowError):
        return NOWHERE


class LineCount:
    """Line numbers in a text, counted on from the place that was asked for before: the next one is never far from there."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._line, self._at = 1, 0

    def line(self, position: int) -> int:
        if position >= self._at:
            self._line += self.data.count(b"\n", self._at, position)
        else:
            self._line -= self.data.count(b"\n", position, self._at)
        self._at = position
        return self._line


class Lines:
    """Where the values of one document inside a text stand."""

    def __init__(self, count: LineCount, start: int, end: int) -> None:
        self.data, self.start, self.end = count.data, start, end
        self.line = count.line

    def jobs(self) -> list[tuple[int, int]]:
        """Each job's part of the text, from one `jobname` to the next."""
        return self.parts("jobname", (self.start, self.end))

    def parts(self, name: str, within: tuple[int, int]) -> list[tuple[int, int]]:
        """From each of these keys to the next one, and from the last to the end of `within`."""
        starts, (position, end) = list[int](), within
        while (found := self.position(name, (position, end))) is not None:
            starts.append(found)
            position = found + 1
        return list(pairwise([*starts, end]))

    def block(self, name: str, within: tuple[int, int], *, until: tuple[str, ...] = ()) -> tuple[int, int] | None:
        """From the key of an object to its end where it is printed in indented lines, else to the first of the keys in `until` behind it,
        or to the end of `within`.
        """
        position = self.position(name, within)
        if position is None:
            return None
        begin = position + len(name) + 2
        indent = self.data[self.data.rfind(b"\n", within[0], position) : position]
        if (
            indent.isspace()
            and self._is_deeper(begin, indent)
            and (end := self.data.find(indent + b"}", begin, within[1])) >= 0
        ):
            return position, end
        ends = [found for key in until if (found := self.position(key, (begin, within[1]))) is not None]
        return position, min([*ends, within[1]])

    def _is_deeper(self, begin: int, indent: bytes) -> bool:
        """Whether the next line begins further in: where mails and posts took that away, a brace may end anything."""
        row = self.data.find(b"\n", begin)
        return self.data.startswith(indent, row) and self.data[row + len(indent) : row + len(indent) + 1].isspace()

    def value(self, name: str, within: tuple[int, int] | None) -> Place:
        if within is None or (position := self.position(name, within)) is None:
            return NOWHERE
        token = _TOKEN.match(self.data, position + len(name) + 2, within[1])
        printed = token[1].decode("utf-8", "replace") if token else ""
        return Place(self.line(position), printed[:40])

    def rates(self, name: str, block: tuple[int, int]) -> Rates | None:
        """Of a direction that begins as fio prints it; None of any other. `block` is the direction's."""
        match = _RATES.match(self.data, block[0] + len(name) + 2, block[1])
        if match is None:
            return None
        line = self.line(block[0])
        return Rates([one.decode() for one in match.groups()], (line + 1, line + 3, line + 5))

    def moments(self, name: str, within: tuple[int, int]) -> Moments | None:
        """Of a latency that begins as fio prints it; None of any other."""
        if (position := self.position(name, within)) is None:
            return None
        match = _LATENCY.match(self.data, position + len(name) + 2, within[1])
        if match is None:
            return None
        line, (low, high, mean, spread, *shares) = self.line(position) + 1, match.groups()
        printed = [low.decode(), high.decode(), mean.decode(), spread.decode()]
        if shares[0] is None:
            return Moments(line, printed, [], [])
        return Moments(line, printed, [one.decode() for one in shares], [line + row for row in _PERCENTILE_LINES])

    def position(self, name: str, within: tuple[int, int]) -> int | None:
        """Where the key stands first."""
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
