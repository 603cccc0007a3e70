"""Tables behind a margin, and those whose rows are numbered: patches (`+| a | b |`), knitr's `## `, R's data frames, DokuWiki's `:::`."""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.tables.cells import is_value
from apps.parsers.tables.splitting import by_pipes

Line = tuple[str, int]  # and its number in the file

MARGIN = re.compile(r"^(?:\+\||##)", re.MULTILINE)
NUMBERED = re.compile(r"^(?:## ?)?[ ]{0,8}1 +\S", re.MULTILINE)
_ABOVE = ":::"  # of DokuWiki: the cell above goes on
_TYPE = re.compile(r"<[a-z]{3,5}>")  # of a tibble's columns
_MOST_COLUMNS = 100


def row_of(cells: Sequence[str]) -> str:
    return "".join(f"| {cell.replace('|', '/').strip()} " for cell in cells) + "|"


def of_margins(lines: Sequence[Line]) -> Iterator[Line]:
    """Two lines with `##` follow each other in what knitr prints; headings in Markdown do not."""
    for at, (line, number) in enumerate(lines):
        beside = (lines[at - 1][0] if at else "", lines[at + 1][0] if at + 1 < len(lines) else "")
        if line.startswith("+|"):
            yield line[1:], number
        elif line.startswith("##") and any(other.startswith("##") for other in beside):
            yield line[2:].removeprefix(" "), number
        else:
            yield line, number


def of_frames(lines: Sequence[Line]) -> Iterator[Line]:
    """R numbers the rows of a data frame from 1, and puts one blank between headings: what has as many words is a table."""
    at = 0
    while at < len(lines):
        names = _names(lines[at][0]) if _is_numbered(lines, at + 1) or _is_numbered(lines, at + 2) else []
        rows, behind = _numbered(lines, at + 1, len(names))
        if names and len(rows) > 1:
            yield row_of(names), lines[at][1]
            yield from rows
        else:
            yield lines[at]
            behind = at + 1
        at = behind


def _is_numbered(lines: Sequence[Line], at: int) -> bool:
    return at < len(lines) and lines[at][0].lstrip().startswith("1 ")


def _names(line: str) -> list[str]:
    words = line.split() if "|" not in line and len(line) < 1000 else []
    return words if 1 < len(words) <= _MOST_COLUMNS and not any(map(is_value, words)) else []


def _numbered(lines: Sequence[Line], at: int, width: int) -> tuple[list[Line], int]:
    """The rows 1, 2, 3… that have as many cells as there are headings, and the place behind them."""
    types = lines[at][0].split() if width and at < len(lines) else []
    at += len(types) == width > 0 and all(map(_TYPE.fullmatch, types))
    rows: list[Line] = []
    while width and at < len(lines):
        first, *cells = lines[at][0].split() or [""]
        if first != str(len(rows) + 1) or len(cells) != width:
            break
        rows.append((row_of(cells), lines[at][1]))
        at += 1
    return rows, at


def of_dokuwiki(lines: Sequence[Line]) -> Iterator[Line]:
    above: list[str] = []
    for line, number in lines:
        cells = by_pipes(line) if line.lstrip()[:1] in ("|", "^") else []
        if _ABOVE in cells:
            cells = [
                above[place] if cell == _ABOVE and place < len(above) else cell for place, cell in enumerate(cells)
            ]
            line = row_of(cells)
        above = cells
        yield line, number
