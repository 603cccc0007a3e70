"""lsblk's rows on a narrow terminal: a cell that is too long for its column ends the line, and what is behind it stands below, at
its own column's place; nothing at all where the rest is empty.

NAME FSTYPE FSVER LABEL UUID                                 MOUNTPOINTS
nvme0n1

├─nvme0n1p1
│    vfat   FAT32 EFI_SYSPART
│                       51B3-05FD                            /boot/efi

Source: libsmartcols' print.c.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

BESIDE = "\t │|"  # a branch of the tree goes on beside it
_NAME_ALONE = re.compile(r"[^\w/]{0,200}[\w/]\S{0,200}\s*$")
_NEXT = re.compile(
    r"(?:[│|] ){0,20}(?:[├└]─|[|`]-)\S|(?:nvme|sd|vd|xvd|hd|md|dm-|loop|sr|zram|bcache|mmcblk|nbd)\w{1,20}(?:\s{2}|\s*$)"
)
_WIDEST = 24  # a name column of a table that was folded is no wider


def is_folded(header: str, line: str) -> bool:
    """Whether the line has cells, but nothing in the name's column."""
    width = _width(header)
    if not 0 < width <= _WIDEST or line[:width].strip(BESIDE) or not line.strip(BESIDE):
        return False
    first = len(line) - len(line.lstrip(BESIDE))
    return any(begin == first for begin, _ in _headings(header))


def is_empty_rest(header: str, line: str) -> bool:
    """Whether nothing is behind a long name but the tree that goes on."""
    return not line.strip(BESIDE) and 0 < _width(header) <= _WIDEST


def is_inside(lines: Sequence[str], first: int, place: int) -> bool:
    """Whether a blank line is the empty rest of a long name; `first`: the heading."""
    if not first + 1 < place < len(lines) - 1:
        return False
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    header, before, line, following = (lines[at].removeprefix(margin) for at in (first, place - 1, place, place + 1))
    return is_empty_rest(header, line) and _is_long(header, before) and _NEXT.match(following) is not None


def unfolded(lines: Sequence[str]) -> list[str]:
    """With columns that are wide enough for all cells; as they are where no row is folded."""
    header = lines[0]
    if not any(
        is_folded(header, lines[place]) and _is_long(header, lines[place - 1]) for place in range(2, len(lines))
    ):
        return list(lines)
    headings = _headings(header)
    rows = [header.split()]
    for line in lines[1:]:
        if not line.strip(BESIDE):
            continue
        cells = _cells(line, headings)
        if is_folded(header, line):
            cells[0] = ""
            first = next(place for place, cell in enumerate(cells) if cell)
            if not any(rows[-1][first:]):
                rows[-1][first:] = cells[first:]
                continue
        rows.append(cells)
    widths = [max(map(len, column)) + 1 for column in zip(*rows, strict=True)]
    return ["".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cells(line: str, headings: Sequence[tuple[int, int]]) -> list[str]:
    """One for each column; one that leaves no room for the next has the rest of the line. Numbers end where their heading does."""
    edges = [0]
    for (_, before), (begin, end) in pairwise(headings):
        first = begin
        if begin < len(line) and line[begin - 1] != " ":
            first = line.rfind(" ", 0, begin) + 1
            if first <= before or line[begin:].split(" ", 1)[0] != line[begin:end]:
                break
        edges.append(first)
    cells = [line[begin:end].strip() for begin, end in pairwise([*edges, None])]
    cells[0] = line[: edges[1]].rstrip() if edges[1:] else line.rstrip()
    return cells + [""] * (len(headings) - len(cells))


def _is_long(header: str, line: str) -> bool:
    return len(line.rstrip()) >= _width(header) and _NAME_ALONE.match(line) is not None


@lru_cache(maxsize=8)  # asked of every line
def _headings(header: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in re.finditer(r"\S+", header))


def _width(header: str) -> int:
    """Of the name's column with the blank behind it; 0 where it is the only one."""
    headings = _headings(header)
    return headings[1][0] if len(headings) > 1 else 0
