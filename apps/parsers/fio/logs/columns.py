"""Lines of numbers between commas, read quickly into NumPy columns: fio's logs have millions of them.

The bytes are neither decoded nor split where all lines are alike. A line with another number of columns than most is
left out and reported.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from apps.parsers.core.compact_array import CompactArray, Integers, RowLines
from apps.parsers.core.models import Broken
from apps.parsers.core.source_text import decode_for_message

_ALLOWED = b"0123456789, \n"
_HEXADECIMAL = re.compile(rb"\b0[xX]([0-9a-fA-F]{1,8})\b")
_ROW = re.compile(rb" *\d{1,18}(?: *, *\d{1,18})* *\Z")
_LARGEST = 2**62
_MOST_BROKEN = 20
_PIECE = 1 << 18
_LONGEST_FOUND = 120
_WIDE = 16  # columns; more are a histogram's
_MANY = 1000


@dataclass(frozen=True, slots=True)
class LogTable:
    """The columns of a log.

    They are as narrow as their numbers allow, because a log of hours has ten million rows. Of those behind the first
    `stored` only the extremes are kept; in a wide table, which is a histogram, they stand in `rest`, rows by columns.
    `lines` has the line number of each row.
    """

    columns: tuple[Integers, ...]
    rest: Integers
    lines: RowLines
    least: tuple[int, ...]  # smallest value of every column, as `largest` is the largest
    largest: tuple[int, ...]
    broken: tuple[Broken, ...] = ()

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.least)

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True, slots=True)
class _LogPart:
    """The rows of one piece of the file."""

    cells: NDArray[np.int64]  # rows by columns
    lines: NDArray[np.int64] | None = None  # None where the lines follow each other
    broken: tuple[Broken, ...] = ()


def read_table(data: bytes, stored: int = _WIDE) -> LogTable:
    """Read every line as a row; blank lines are skipped.

    It uses the memory of one piece beside the text and the table. `stored` is the number of columns that are kept row
    by row.
    """
    builder = _TableBuilder(data.count(b"\n") + 1, stored)
    is_hexadecimal = b"x" in data[:4096] or b"X" in data[:4096]
    line = 1
    for piece in _iterate_pieces(data.removeprefix(b"\xef\xbb\xbf")):
        builder.add(_read_part(_normalise(piece, is_hexadecimal), line, builder.width), line)
        line += piece.count(b"\n")
    return builder.build()


class _TableBuilder:
    """What was read so far."""

    def __init__(self, most: int, stored: int) -> None:
        self.most, self.stored, self.width, self.rows = most, stored, 0, 0
        self.columns: list[CompactArray] = []
        self.rest = CompactArray(0, 0)
        self.lines = RowLines()
        self.extremes: list[NDArray[np.int64]] = []
        self.broken: list[Broken] = []

    def add(self, part: _LogPart, line: int) -> None:
        cells = part.cells
        if not self.width and cells.shape[1]:
            self._begin(cells.shape[1])
        if len(cells) and cells.shape[1] == self.width:
            self.lines.add(range(line, line + len(cells)) if part.lines is None else part.lines)
            for place, column in enumerate(self.columns):
                column.put(self.rows, cells[:, place])
            if self.rest.width:
                self.rest.put(self.rows, cells[:, self.stored :])
            self.extremes += [cells.min(axis=0), cells.max(axis=0)]
            if len(self.extremes) > _MANY:
                self.extremes = self._find_extremes()
            self.rows += len(cells)
        self.broken += part.broken[: _MOST_BROKEN - len(self.broken)]

    def _begin(self, width: int) -> None:
        self.width = width
        self.columns = [CompactArray(self.most) for _ in range(min(width, self.stored))]
        if width > _WIDE:
            self.rest = CompactArray(self.most, width - len(self.columns))

    def _find_extremes(self) -> list[NDArray[np.int64]]:
        return [np.min(self.extremes, axis=0), np.max(self.extremes, axis=0)]

    def build(self) -> LogTable:
        least, largest = (tuple(map(int, column)) for column in self._find_extremes()) if self.extremes else ((), ())
        return LogTable(
            tuple(column.numbers[: self.rows] for column in self.columns),
            self.rest.numbers[: self.rows],
            self.lines, least, largest, tuple(self.broken),
        )  # fmt: skip


def _iterate_pieces(data: bytes) -> Iterator[bytes]:
    """Yield whole lines, about `_PIECE` bytes at a time, so that a bad line slows down only its own piece."""
    start = 0
    while start < len(data) or not start:
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end or 1


def _read_part(piece: bytes, line: int, width: int) -> _LogPart:
    cells = _read_fast(piece)
    if cells is not None and cells.shape[1] == (width or cells.shape[1]):
        return _LogPart(cells)
    return _read_slow(piece, line, width)


def _normalise(piece: bytes, is_hexadecimal: bool) -> bytes:
    """Replace hexadecimal priorities (`0x4004`) by decimal numbers, and line ends by line feeds."""
    if b"\r" in piece:
        piece = piece.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")
    if is_hexadecimal:
        piece = _HEXADECIMAL.sub(lambda match: b"%d" % int(match[1], 16), piece)
    return piece


def _read_fast(data: bytes) -> NDArray[np.int64] | None:
    """Return the whole text as rows by columns where all its lines are alike; None where one is not."""
    if not data.endswith(b"\n"):
        data += b"\n"
    if data.translate(None, _ALLOWED) or data.count(b",") != data.count(b", ") or data.count(b" ") != data.count(b", "):
        return None
    numbers = data.split(b"\n", 1)[0].count(b",") + 1
    octets = np.frombuffer(data, dtype=np.uint8)
    ends, commas = np.flatnonzero(octets == 10), np.flatnonzero(octets == 44)
    if numbers < 2 or len(commas) != len(ends) * (numbers - 1) or not _is_even(ends, commas.reshape(len(ends), -1)):
        return None
    if len(ends) > 1 and int(np.diff(ends).min()) < 2 * numbers:
        return None  # a line is too short for so many numbers
    if data.find(b", ,") >= 0 or data.find(b", \n") >= 0 or data.find(b"\n,") >= 0:
        return None
    cells = np.fromstring(data.translate(_BLANKS), dtype=np.int64, sep=" ")
    if len(cells) != len(ends) * numbers or int(cells.max()) > _LARGEST:
        return None
    return cells.reshape(len(ends), numbers)


_BLANKS = bytes(32 if octet == 44 else octet for octet in range(256))


def _is_even(ends: NDArray[np.int64], commas: NDArray[np.int64]) -> bool:
    """Return whether every line has its own commas."""
    starts = np.concatenate(([-1], ends[:-1]))
    return bool(np.all(commas[:, 0] > starts) and np.all(commas[:, -1] < ends))


def _read_slow(data: bytes, first: int, width: int) -> _LogPart:
    """Read line by line; the number of columns is that of most lines, where it is not known."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), first) if line.strip()]
    widths = Counter(line.count(b",") + 1 for _, line in lines if _ROW.match(line))
    width = width or (widths.most_common(1)[0][0] if widths else 0)
    rows = [(number, line) for number, line in lines if line.count(b",") + 1 == width and _ROW.match(line)]
    valid = {number for number, _ in rows}
    expected = f"{width or 4} whole numbers between commas"
    broken = [
        Broken(
            "no line of this log",
            number,
            decode_for_message(line[:_LONGEST_FOUND]),
            expected,
        )
        for number, line in islice(((number, line) for number, line in lines if number not in valid), _MOST_BROKEN)
    ]
    cells = np.array([list(map(int, line.split(b","))) for _, line in rows], dtype=np.int64)
    numbers = np.array([number for number, _ in rows], dtype=np.int64)
    return _LogPart(cells.reshape(len(rows), width), numbers, tuple(broken))


def get_first_rows(data: bytes, most: int) -> Sequence[bytes]:
    """Return the first lines that are not blank."""
    return [line.strip() for line in data[:65536].removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()][:most]
