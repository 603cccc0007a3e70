"""Search for the place of a value in fio's report, so that a page can show the line: forward, without parsing again.

A key in quotes followed by a colon can not stand inside a JSON string (quotes in there are escaped), so a plain search
is exact as long as it stays inside the job's part of the text.
"""

import re
from functools import lru_cache
from itertools import pairwise

import msgspec

_TOKEN = re.compile(rb"\s*:\s*([^\s,{}\[\]]+)")
_COLON = re.compile(rb"\s*:")
_USUAL = b" :"  # fio's own layout
_NUMBER = rb"(\d{1,19}(?:\.\d{1,19})?)"  # at most 40 characters
# fio's default percentiles, and those that are read, which are those of `samples.PERCENTILES`
_SHARES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
_WANTED = (1, 50, 90, 95, 99, 99.9, 99.99)
_PERCENTILE_LINES = tuple(6 + _SHARES.index(share) for share in _WANTED)  # behind the line of `min`


def _make_pattern(*keys: str, is_captured: bool = True) -> bytes:
    """Return a pattern of numbers as fio prints them, one in a line."""
    return rb",\n".join(
        rb'[ \t]*"%s" : ' % re.escape(key).encode() + (_NUMBER if is_captured else rb"[\d.]+") for key in keys
    )


_RATES = re.compile(
    rb" : \{\n" + _make_pattern("io_bytes") + rb",\n" + _make_pattern("io_kbytes", is_captured=False) + rb",\n" + _make_pattern("bw_bytes") + rb",\n"
    + _make_pattern("bw", is_captured=False) + rb",\n" + _make_pattern("iops") + rb",\n"
)  # fmt: skip
_LATENCY = re.compile(
    rb" : \{\n" + _make_pattern("min", "max", "mean", "stddev") + rb"(?:,\n" + _make_pattern("N", is_captured=False)
    + rb',\n[ \t]*"percentile" : \{\n' + rb",\n".join(_make_pattern(f"{share:.6f}", is_captured=share in _WANTED) for share in _SHARES)
    + rb"\n)?"
)  # fmt: skip


class FioPlace(msgspec.Struct, frozen=True, gc=False):
    """The line of a value, and its characters."""

    line: int | None = None
    printed: str = ""


class PrintedRates(msgspec.Struct, frozen=True, gc=False):
    """The characters of `io_bytes`, `bw_bytes` and `iops`, and the line of each."""

    printed: list[str]
    lines: tuple[int, int, int]


class PrintedMoments(msgspec.Struct, frozen=True, gc=False):
    """The characters of `min`, `max`, `mean` and `stddev`, which follow each other from `line` on.

    Where fio's default percentiles follow, also the characters and the lines of those that are read.
    """

    line: int
    printed: list[str]
    percentiles: list[str]
    percentile_lines: list[int]


NOWHERE = FioPlace()


def match_place(place: FioPlace, value: float | int | None) -> FioPlace:
    """Return the place if the characters there are the value, else NOWHERE: keys in another order may lead to other characters."""
    try:
        return place if value is not None and float(place.printed or "nan") == float(value) else NOWHERE
    except (ValueError, OverflowError):
        return NOWHERE


class LineCounter:
    """Line numbers in a text, counted on from the last offset, as the next one is never far away."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._line, self._at = 1, 0

    def line(self, position: int) -> int:
        """Return the line number, from 1, at an offset."""
        if position >= self._at:
            self._line += self.data.count(b"\n", self._at, position)
        else:
            self._line -= self.data.count(b"\n", position, self._at)
        self._at = position
        return self._line


class FioLines:
    """The places of the values of one document inside a text."""

    def __init__(self, count: LineCounter, start: int, end: int) -> None:
        self.data, self.start, self.end = count.data, start, end
        self.line = count.line

    def jobs(self) -> list[tuple[int, int]]:
        """Return each job's part of the text, from one `jobname` to the next."""
        return self.parts("jobname", (self.start, self.end))

    def parts(self, name: str, within: tuple[int, int]) -> list[tuple[int, int]]:
        """Return the parts from each of these keys to the next one, and from the last to the end of `within`."""
        starts, (position, end) = list[int](), within
        while (offset := self.position(name, (position, end))) is not None:
            starts.append(offset)
            position = offset + 1
        return list(pairwise([*starts, end]))

    def block(self, name: str, within: tuple[int, int], *, until: tuple[str, ...] = ()) -> tuple[int, int] | None:
        """Return the part of an object.

        It begins at its key and ends with it if it is printed in indented lines, else at the first of the keys in
        `until`, or at the end of `within`.
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
        ends = [offset for key in until if (offset := self.position(key, (begin, within[1]))) is not None]
        return position, min([*ends, within[1]])

    def _is_deeper(self, begin: int, indent: bytes) -> bool:
        """Return whether the next line is indented further: where mails and posts removed that, a brace may end anything."""
        row = self.data.find(b"\n", begin)
        return self.data.startswith(indent, row) and self.data[row + len(indent) : row + len(indent) + 1].isspace()

    def value(self, name: str, within: tuple[int, int] | None) -> FioPlace:
        """Return the place of the value of a key, NOWHERE where it is missing."""
        if within is None or (position := self.position(name, within)) is None:
            return NOWHERE
        token = _TOKEN.match(self.data, position + len(name) + 2, within[1])
        printed = token[1].decode("utf-8", "replace") if token else ""
        return FioPlace(self.line(position), printed[:40])

    def rates(self, name: str, block: tuple[int, int]) -> PrintedRates | None:
        """Return the rates of a direction that begins as fio prints it, None for any other. `block` is the direction's part."""
        match = _RATES.match(self.data, block[0] + len(name) + 2, block[1])
        if match is None:
            return None
        line = self.line(block[0])
        return PrintedRates([digits.decode() for digits in match.groups()], (line + 1, line + 3, line + 5))

    def moments(self, name: str, within: tuple[int, int]) -> PrintedMoments | None:
        """Return the moments of a latency that begins as fio prints it, None for any other."""
        if (position := self.position(name, within)) is None:
            return None
        match = _LATENCY.match(self.data, position + len(name) + 2, within[1])
        if match is None:
            return None
        line, (low, high, mean, spread, *shares) = self.line(position) + 1, match.groups()
        printed = [low.decode(), high.decode(), mean.decode(), spread.decode()]
        if shares[0] is None:
            return PrintedMoments(line, printed, [], [])
        return PrintedMoments(
            line, printed, [digits.decode() for digits in shares], [line + row for row in _PERCENTILE_LINES]
        )

    def position(self, name: str, within: tuple[int, int]) -> int | None:
        """Return the first offset of the key, None where it is missing."""
        data, quoted, (position, end) = self.data, _quote(name), within
        while (position := data.find(quoted, position, end)) >= 0:
            behind = position + len(quoted)
            if data.startswith(_USUAL, behind, end) or _COLON.match(data, behind, end):
                return position
            position = behind  # the same word as a value: "rw" : "read"
        return None


@lru_cache(1024)  # fio has some hundred keys
def _quote(name: str) -> bytes:
    return b'"%s"' % name.encode()
