"""What a table is, before anybody says what it means: headings, kinds of columns, marks, units.

`sniff` gives the largest table of a text, `find` all of them in their order. Raises `ParseError` where there is none.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from apps.parsers.shape import ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.tables import blocks, cells, units
from apps.parsers.tables.grid import ALIGNED, SINGLE_BLANKS, Column, Grid, Row, Rows
from apps.parsers.tables.splitting import Aligned, splitter

_MOST_HEADER_ROWS = 3
_MOST_UNCLEAR = 20
_MOST_SHAPES = 20_000
_LONGEST_CELL = 250
_DIGITS = str.maketrans("12345678", "99999999")
_SIZE = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s?(?:[KMGTkmgt]i?[Bb]?|bytes|B)")
_SIZE_HEADING = re.compile(r"size|dimension|größe|taille|taglia|размер|record|reclen|\bbs\b|\bblock", re.IGNORECASE)
_HEADING_WORDS = re.compile(r"size|file|config|test|\b[kmg]b\b|host|block|thread|record|operation", re.IGNORECASE)


def find(text: SourceText) -> list[Grid]:
    return [_grid(block) for block in _found(text)]


def sniff(text: SourceText) -> Grid:
    return _grid(max(_found(text), key=lambda block: block.weight))


def _found(text: SourceText) -> list[blocks.Block]:
    found = blocks.find(text)
    if not found:
        first = next((line.strip() for line in text.lines if line.strip()), "nothing")
        raise ParseError("no table in the text", line=1, found=first, expected="rows of cells with numbers")
    return found


def _grid(block: blocks.Block) -> Grid:
    split = Aligned(block.records, block.width) if block.delimiter == ALIGNED else splitter(block.delimiter)
    rows = Rows(block.records, block.numbers, split, block.width, block.delimiter != SINGLE_BLANKS)
    height = _header_height(rows)
    headings = _headings(rows[:height], block)
    header = tuple(
        Row(row.line, tuple(block.records[place].split()) if row.problem else row.cells)
        for place, row in enumerate(rows[:height])
    )
    seen = _Seen([_Column() for _ in range(block.width)], headings)
    for row in rows[height:]:
        seen.look_at(row)
    decimal = seen.marks.candidates()
    return Grid(
        delimiter=block.delimiter,
        columns=tuple(one.column(index, headings[index]) for index, one in enumerate(seen.columns)),
        header=header,
        rows=rows[height:],
        decimal=decimal,
        thousands=seen.marks.thousands_candidates(),
        unclear=tuple(seen.unclear) if len(decimal) != 1 else (),
        caption=block.caption,
        confidence=block.values * (0.5 if block.delimiter == SINGLE_BLANKS else 1.0),
    )


def _header_height(rows: Rows) -> int:
    """Rows at the top without a number; or one of numbers (sizes) whose first cell says that headings stand here."""
    height = 0
    for row in rows[:_MOST_HEADER_ROWS]:
        if len(rows) - height < 2 or any(
            cell and cells.is_value(cell) and cells.missing(cell, cells.MISSING) == "" for cell in row.cells
        ):
            break
        height += 1
    if height == 0 and len(rows) > 1 and _is_heading(rows[0], rows[1]):
        return 1
    return height


def _is_heading(first: Row, below: Row) -> bool:
    """Whether a row with numbers is one of headings, sizes mostly: its first cell says so, and what stands below differs."""
    word = first.cells[0] if first.cells else ""
    return not cells.is_value(word) and bool(_HEADING_WORDS.search(word)) and below.cells[:1] != (word,)


def _headings(header: Rows, block: blocks.Block) -> list[str]:
    """The words over each column; none where the header does not show which words belong to which column."""
    headings = [""] * block.width
    for row in header:
        if row.problem or block.delimiter == SINGLE_BLANKS:
            continue
        headings = [f"{above} {cell}".strip() for above, cell in zip(headings, row.cells, strict=True)]
    return [cells.clean(heading)[:120] for heading in headings]


@dataclass
class _Column:
    marks: cells.Marks = field(default_factory=cells.Marks)
    kinds: Counter[str] = field(default_factory=Counter)

    def column(self, index: int, heading: str) -> Column:
        kind, confidence = self._kind(heading)
        return Column(
            index,
            heading,
            kind,
            self.marks.candidates(),
            self.marks.thousands_candidates(),
            units.found_in(heading),
            confidence,
        )

    def _kind(self, heading: str) -> tuple[str, float]:
        filled = self.kinds.total()
        if not filled:
            return "empty", 1.0
        share = 1 - self.kinds["name"] / filled
        if share < 0.5:
            return "name", 1 - share
        kind = max(("pair", "size", "number"), key=lambda one: self.kinds[one])
        return ("size" if kind == "number" and _SIZE_HEADING.search(heading) else kind), share


@dataclass
class _Seen:
    """What the cells show. Cells of one shape (all digits but 0 alike) show the same, so a shape is looked at once."""

    columns: list[_Column]
    headings: list[str]
    marks: cells.Marks = field(default_factory=cells.Marks)
    unclear: list[tuple[int, str, str]] = field(default_factory=list)
    shapes: dict[str, tuple[str, cells.Marks]] = field(default_factory=dict)

    def look_at(self, row: Row) -> None:
        if row.problem:
            return
        for index, (cell, column) in enumerate(zip(row.cells, self.columns, strict=True)):
            if not cell:
                continue
            kind, marks = self._shown_by(cell[:_LONGEST_CELL].translate(_DIGITS))
            if not kind:
                continue
            column.kinds[kind] += 1
            if marks.is_marked:
                column.marks.add(marks)
                self.marks.add(marks)
                if marks.unclear and len(self.unclear) < _MOST_UNCLEAR:
                    self.unclear.append((row.line, self.headings[index] or f"column {index + 1}", cell[:80]))

    def _shown_by(self, shape: str) -> tuple[str, cells.Marks]:
        known = self.shapes.get(shape)
        if known is None:
            known = _shown_by(shape)
            if len(self.shapes) < _MOST_SHAPES:
                self.shapes[shape] = known
        return known


def _shown_by(shape: str) -> tuple[str, cells.Marks]:
    """The kind of a cell, '' for a missing value, and what it proves about marks."""
    marks = cells.Marks()
    if cells.missing(shape, cells.MISSING):
        return "", marks
    if not cells.is_value(shape):
        return "name", marks
    marks.look_at(shape)
    if cells.halves(cells.clean(shape)) != [""]:
        return "pair", marks
    return ("size" if _SIZE.fullmatch(shape) else "number"), marks
