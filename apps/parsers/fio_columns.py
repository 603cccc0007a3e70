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

from apps.parsers.shape import Broken
from apps.parsers.source_text import shown

Integers = NDArray[np.int64]
_KEPT = b"0123456789, \n"
_HEXADECIMAL = re.compile(rb"0[xX]([0-9a-fA-F]{1,8})\b")
_ROW = re.compile(rb" *\d{1,18}(?: *, *\d{1,18})* *\Z")
_LARGEST = 2**62
_MOST_TOLD = 20
_PIECE = 1 << 18
_FOUND_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` by columns, the line of each row where they are not simply 1, 2, 3…, and what was no row."""

    cells: Integers
    lines: Integers
    broken: tuple[Broken, ...] = ()


def table(data: bytes) -> Table:
    """Every line as a row. Blank lines are passed over. Memory beside the text and its numbers is that of a piece."""
    data = _plain(data)
    cells = np.empty((0, 0), dtype=np.int64)
    lines = np.empty(data.count(b"\n") + 1, dtype=np.int64)
    broken: list[Broken] = []
    width, line, rows = 0, 1, 0
    for piece in _pieces(data):
        part = _part(piece, line, width)
        if not width:
            width = part.cells.shape[1]
            cells = np.empty((len(lines), width), dtype=np.int64)
        if part.cells.shape[1] == width:
            here = slice(rows, rows + len(part.cells))
            cells[here], lines[here] = part.cells, part.lines
            rows = here.stop
        broken += part.broken[: _MOST_TOLD - len(broken)]
        line += piece.count(b"\n")
    return Table(cells[:rows], lines[:rows], tuple(broken))


def _pieces(data: bytes) -> Iterator[bytes]:
    """Whole lines, about `_PIECE` bytes at a time: a bad line slows down only its own piece."""
    start = 0
    while start < len(data) or not start:
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end or 1


def _part(piece: bytes, line: int, width: int) -> Table:
    cells = _fast(piece)
    if cells is not None and cells.shape[1] == (width or cells.shape[1]):
        return Table(cells, np.arange(line, line + len(cells)))
    return _slow(piece, line, width)


def _plain(data: bytes) -> bytes:
    """Priorities (`0x4004`) as decimal numbers, line feeds only."""
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")
    if b"x" in data[:4096] or b"X" in data[:4096]:
        data = _HEXADECIMAL.sub(lambda match: b"%d" % int(match[1], 16), data)
    return data


def _fast(data: bytes) -> Integers | None:
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


def _is_even(ends: Integers, commas: Integers) -> bool:
    """Whether every line has its own commas."""
    starts = np.concatenate(([-1], ends[:-1]))
    return bool(np.all(commas[:, 0] > starts) and np.all(commas[:, -1] < ends))


def _slow(data: bytes, first: int, width: int) -> Table:
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
    return Table(cells.reshape(len(rows), width), numbers, tuple(broken))


def first_rows(data: bytes, most: int) -> Sequence[bytes]:
    """The first lines that are not blank, for a look."""
    return [line.strip() for line in data[:65536].removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()][:most]
