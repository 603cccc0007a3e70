"""Lines of numbers between commas as NumPy columns, fast: fio's logs have a million of them.

The bytes are neither decoded nor split where all lines are alike. A line that has not as many numbers as most is left
out and told.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from apps.parsers.narrow import Integers, Lines, Narrow
from apps.parsers.shape import Broken
from apps.parsers.source_text import shown

_KEPT = b"0123456789, \n"
_HEXADECIMAL = re.compile(rb"\b0[xX]([0-9a-fA-F]{1,8})\b")
_ROW = re.compile(rb" *\d{1,18}(?: *, *\d{1,18})* *\Z")
_LARGEST = 2**62
_MOST_TOLD = 20
_PIECE = 1 << 18
_FOUND_LONGEST = 120
_WIDE = 16  # columns; more are a histogram's
_MANY = 1000


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` are as narrow as their numbers allow, for a log of hours has ten millions of rows; those behind the first `kept`
    have only their extremes, but of a wide table they stand in `rest`, rows by columns. `lines`: the line of each row.
    """

    columns: tuple[Integers, ...]
    rest: Integers
    lines: Lines
    least: tuple[int, ...]  # of every column
    largest: tuple[int, ...]
    broken: tuple[Broken, ...] = ()

    @property
    def width(self) -> int:
        return len(self.least)

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True, slots=True)
class _Part:
    cells: NDArray[np.int64]  # rows by columns
    lines: NDArray[np.int64] | None = None  # where they do not simply follow each other
    broken: tuple[Broken, ...] = ()


def table(data: bytes, kept: int = _WIDE) -> Table:
    """Every line as a row. Blank lines are passed over. Memory beside the text and what is kept is that of a piece."""
    found = _Found(data.count(b"\n") + 1, kept)
    is_hexadecimal = b"x" in data[:4096] or b"X" in data[:4096]
    line = 1
    for piece in _pieces(data.removeprefix(b"\xef\xbb\xbf")):
        found.add(_part(_plain(piece, is_hexadecimal), line, found.width), line)
        line += piece.count(b"\n")
    return found.table()


class _Found:
    """What was read so far."""

    def __init__(self, most: int, kept: int) -> None:
        self.most, self.kept, self.width, self.rows = most, kept, 0, 0
        self.columns: list[Narrow] = []
        self.rest = Narrow(0, 0)
        self.lines = Lines()
        self.extremes: list[NDArray[np.int64]] = []
        self.broken: list[Broken] = []

    def add(self, part: _Part, line: int) -> None:
        cells = part.cells
        if not self.width and cells.shape[1]:
            self._begin(cells.shape[1])
        if len(cells) and cells.shape[1] == self.width:
            self.lines.add(range(line, line + len(cells)) if part.lines is None else part.lines)
            for place, column in enumerate(self.columns):
                column.put(self.rows, cells[:, place])
            if self.rest.width:
                self.rest.put(self.rows, cells[:, self.kept :])
            self.extremes += [cells.min(axis=0), cells.max(axis=0)]
            if len(self.extremes) > _MANY:
                self.extremes = self._extremes()
            self.rows += len(cells)
        self.broken += part.broken[: _MOST_TOLD - len(self.broken)]

    def _begin(self, width: int) -> None:
        self.width = width
        self.columns = [Narrow(self.most) for _ in range(min(width, self.kept))]
        if width > _WIDE:
            self.rest = Narrow(self.most, width - len(self.columns))

    def _extremes(self) -> list[NDArray[np.int64]]:
        return [np.min(self.extremes, axis=0), np.max(self.extremes, axis=0)]

    def table(self) -> Table:
        least, largest = (tuple(map(int, one)) for one in self._extremes()) if self.extremes else ((), ())
        return Table(
            tuple(one.numbers[: self.rows] for one in self.columns),
            self.rest.numbers[: self.rows],
            self.lines, least, largest, tuple(self.broken),
        )  # fmt: skip


def _pieces(data: bytes) -> Iterator[bytes]:
    """Whole lines, about `_PIECE` bytes at a time: a bad line slows down only its own piece."""
    start = 0
    while start < len(data) or not start:
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end or 1


def _part(piece: bytes, line: int, width: int) -> _Part:
    cells = _fast(piece)
    if cells is not None and cells.shape[1] == (width or cells.shape[1]):
        return _Part(cells)
    return _slow(piece, line, width)


def _plain(piece: bytes, is_hexadecimal: bool) -> bytes:
    """Priorities (`0x4004`) as decimal numbers, line feeds only."""
    if b"\r" in piece:
        piece = piece.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")
    if is_hexadecimal:
        piece = _HEXADECIMAL.sub(lambda match: b"%d" % int(match[1], 16), piece)
    return piece


def _fast(data: bytes) -> NDArray[np.int64] | None:
    """The whole text at once, where all its lines are alike; None where one is not."""
    if not data.endswith(b"\n"):
        data += b"\n"
    if data.translate(None, _KEPT) or data.count(b",") != data.count(b", ") or data.count(b" ") != data.count(b", "):
        return None
    numbers = data.split(b"\n", 1)[0].count(b",") + 1
    octets = np.frombuffer(data, dtype=np.uint8)
    ends, commas = np.flatnonzero(octets == 10), np.flatnonzero(octets == 44)
    if numbers < 2 or len(commas) != len(ends) * (numbers - 1) or not _is_even(ends, commas.reshape(len(ends), -1)):
        return None
    if len(ends) > 1 and int(np.diff(ends).min()) < 2 * numbers:
        return None  # too short to hold them
    if data.find(b", ,") >= 0 or data.find(b", \n") >= 0 or data.find(b"\n,") >= 0:
        return None
    cells = np.fromstring(data.translate(_BLANKS), dtype=np.int64, sep=" ")
    if len(cells) != len(ends) * numbers or int(cells.max()) > _LARGEST:
        return None
    return cells.reshape(len(ends), numbers)


_BLANKS = bytes(32 if octet == 44 else octet for octet in range(256))


def _is_even(ends: NDArray[np.int64], commas: NDArray[np.int64]) -> bool:
    """Whether every line has its own commas."""
    starts = np.concatenate(([-1], ends[:-1]))
    return bool(np.all(commas[:, 0] > starts) and np.all(commas[:, -1] < ends))


def _slow(data: bytes, first: int, width: int) -> _Part:
    """Line by line; as wide as most of them are, where that is not known."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), first) if line.strip()]
    widths = Counter(line.count(b",") + 1 for _, line in lines if _ROW.match(line))
    width = width or (widths.most_common(1)[0][0] if widths else 0)
    rows = [(number, line) for number, line in lines if line.count(b",") + 1 == width and _ROW.match(line)]
    kept = {number for number, _ in rows}
    expected = f"{width or 4} whole numbers between commas"
    broken = [
        Broken(
            "no line of this log",
            number,
            shown(line[:_FOUND_LONGEST]),
            expected,
        )
        for number, line in islice(((number, line) for number, line in lines if number not in kept), _MOST_TOLD)
    ]
    cells = np.array([list(map(int, line.split(b","))) for _, line in rows], dtype=np.int64)
    numbers = np.array([number for number, _ in rows], dtype=np.int64)
    return _Part(cells.reshape(len(rows), width), numbers, tuple(broken))


def first_rows(data: bytes, most: int) -> Sequence[bytes]:
    """The first lines that are not blank, for a look."""
    return [line.strip() for line in data[:65536].removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()][:most]
