"""Tables behind a margin, and with numbered rows: patches (`+| a | b |`), knitr's `## `, R's data frames, DokuWiki's `:::`."""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.tables.cells import is_value
from apps.parsers.tables.row_cells import split_by_pipes

Line = tuple[str, int]  # a line and its number in the file

MARGIN = re.compile(r"^(?:\+\||##)", re.MULTILINE)
NUMBERED = re.compile(r"^(?:## ?)?[ ]{0,8}1 +\S", re.MULTILINE)
_ABOVE = ":::"  # DokuWiki's mark for a cell that continues the one above
_TYPE = re.compile(r"<[a-z]{3,5}>")  # the type of a tibble's column
_MOST_COLUMNS = 100


def join_row(cells: Sequence[str]) -> str:
    """Return cells as one line between `|`."""
    return "".join(f"| {cell.replace('|', '/').strip()} " for cell in cells) + "|"


def strip_margins(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines without margins. In knitr's output two lines with `##` follow each other, headings in Markdown do not."""
    for at, (line, number) in enumerate(lines):
        beside = (lines[at - 1][0] if at else "", lines[at + 1][0] if at + 1 < len(lines) else "")
        if line.startswith("+|"):
            yield line[1:], number
        elif line.startswith("##") and any(other.startswith("##") for other in beside):
            yield line[2:].removeprefix(" "), number
        else:
            yield line, number


def convert_frames(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines with R's data frames as rows between `|`.

    R numbers the rows from 1, and puts one blank between headings: if there are as many words as headings, it is a
    table.
    """
    at = 0
    while at < len(lines):
        names = _read_names(lines[at][0]) if _is_numbered(lines, at + 1) or _is_numbered(lines, at + 2) else []
        rows, behind = _read_numbered(lines, at + 1, len(names))
        if names and len(rows) > 1:
            yield join_row(names), lines[at][1]
            yield from rows
        else:
            yield lines[at]
            behind = at + 1
        at = behind


def _is_numbered(lines: Sequence[Line], at: int) -> bool:
    return at < len(lines) and lines[at][0].lstrip().startswith("1 ")


def _read_names(line: str) -> list[str]:
    words = line.split() if "|" not in line and len(line) < 1000 else []
    return words if 1 < len(words) <= _MOST_COLUMNS and not any(map(is_value, words)) else []


def _read_numbered(lines: Sequence[Line], at: int, width: int) -> tuple[list[Line], int]:
    """Return the rows 1, 2, 3 … that have as many cells as there are headings, and the index behind them."""
    types = lines[at][0].split() if width and at < len(lines) else []
    at += len(types) == width > 0 and all(map(_TYPE.fullmatch, types))
    rows: list[Line] = []
    while width and at < len(lines):
        first, *cells = lines[at][0].split() or [""]
        if first != str(len(rows) + 1) or len(cells) != width:
            break
        rows.append((join_row(cells), lines[at][1]))
        at += 1
    return rows, at


def fill_dokuwiki(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines with cells that DokuWiki continues filled from the row above."""
    above: list[str] = []
    for line, number in lines:
        cells = split_by_pipes(line) if line.lstrip()[:1] in ("|", "^") else []
        if _ABOVE in cells:
            cells = [
                above[place] if cell == _ABOVE and place < len(above) else cell for place, cell in enumerate(cells)
            ]
            line = join_row(cells)
        above = cells
        yield line, number
