"""Detection of what a table looks like, before anybody says what it means: headings, kinds of columns, marks, units.

`sniff` returns the largest table of a text, `find` all of them in their order. Both raise `ParseError` where there is
none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, pairwise

from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import blocks, cells, units
from apps.parsers.tables.grid import ALIGNED, SINGLE_BLANKS, CellRow, GridColumn, GridRows, TableGrid
from apps.parsers.tables.row_cells import AlignedSplitter, get_splitter

MOST_HEADER_ROWS = 3
_MOST_UNCLEAR = 20
_MOST_SHAPES = 20_000
_LONGEST_CELL = 250
_CACHE_KEY = "_tables"
_SIZE = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s?(?:[KMGTkmgt]i?[Bb]?|bytes|B)")
_SIZE_HEADING = re.compile(r"size|dimension|größe|taille|taglia|размер|record|reclen|\bbs\b|\bblock", re.IGNORECASE)
_HEADING_WORDS = re.compile(
    r"\b(?:(?:file|block|record|test|i/?o)?[ _]?sizes?|files?|config(?:uration)?s?|tests?|[kmg]b|hosts?|blocks?|threads?|records?"
    r"|operations?)\b(?! ?\d)",
    re.IGNORECASE,
)
_COUNT = re.compile(r"([0-9]{1,9})")
_CORNER_ROWS = 50
_LOOKED_THROUGH = 20_000


class DetectedTable:
    """A table whose grid is made on access: a text may have ten thousand tables of which none is needed."""

    def __init__(self, block: blocks.TableBlock) -> None:
        self.block = block

    @cached_property
    def grid(self) -> TableGrid:
        """Return its grid."""
        return _make_grid(self.block)

    def make_grid(self, count: int | None) -> TableGrid:
        """Return its grid as detected, or with as many rows of headings as a user said."""
        return self.grid if count is None else _make_grid(self.block, count)

    @cached_property
    def headings(self) -> list[str]:
        """Return the headings of its columns, without making the grid."""
        rows = _make_rows(self.block)
        titles = _count_titles(rows)
        return _join_headings(rows[titles : titles + _count_headings(rows[titles:])], self.block)


def find(text: SourceText, heading_rows: int | None = None) -> list[TableGrid]:
    """Return all tables of a text in their order.

    Raises:
        ParseError: if there is none.
    """
    return [table.make_grid(heading_rows) for table in find_all(text)]


def sniff(text: SourceText, heading_rows: int | None = None) -> TableGrid:
    """Return the largest table of a text.

    Raises:
        ParseError: if there is none.
    """
    return max(find_all(text), key=lambda table: table.block.weight).make_grid(heading_rows)


def find_all(text: SourceText) -> list[DetectedTable]:
    """Return all tables of a text, stored with it: a table that is read is also shown to the user who maps it."""
    tables: list[DetectedTable] | None = text.__dict__.get(_CACHE_KEY)
    if tables is None:
        tables = text.__dict__[_CACHE_KEY] = list(map(DetectedTable, _find_blocks(text)))
    return tables


def _find_blocks(text: SourceText) -> list[blocks.TableBlock]:
    text_blocks = blocks.find(text)
    if not text_blocks:
        first = next((line.strip() for line in text.lines if line.strip()), "nothing")
        raise ParseError("no table in the text", line=1, found=first, expected="rows of cells with numbers")
    return text_blocks


def _make_rows(block: blocks.TableBlock) -> GridRows:
    split = AlignedSplitter(block.records, block.width) if block.delimiter == ALIGNED else get_splitter(block.delimiter)
    return GridRows(block.records, block.numbers, split, block.width, block.delimiter != SINGLE_BLANKS)


def _make_grid(block: blocks.TableBlock, heading_rows: int | None = None) -> TableGrid:
    rows = _make_rows(block)
    titles = _count_titles(rows) if heading_rows is None else 0
    height = titles + _count_headings(rows[titles:]) if heading_rows is None else min(heading_rows, len(rows) - 1)
    headings = _join_headings(rows[titles:height], block)
    header = tuple(
        CellRow(row.line, tuple(block.records[titles + place].split()) if row.problem else row.cells)
        for place, row in enumerate(rows[titles:height])
    )
    seen = _TableEvidence([_ColumnEvidence() for _ in range(block.width)], headings)
    for form, count in rows[height:].forms():
        seen.add_shape(form, count)
    decimal = seen.marks.candidates()
    return TableGrid(
        delimiter=block.delimiter,
        columns=tuple(evidence.make_column(index, headings[index]) for index, evidence in enumerate(seen.columns)),
        header=header,
        rows=rows[height:],
        decimal=decimal,
        thousands=seen.marks.thousands_candidates(),
        unclear=_list_unclear(seen, rows[height:], is_open=len(decimal) != 1),
        caption="\n".join(filter(None, [block.caption, *(row.cells[0] for row in rows[:titles])])),
        is_unsure_of_headings=heading_rows is None and height == 0 and _may_be_headings(rows),
        confidence=block.values * (0.5 if block.delimiter == SINGLE_BLANKS else 1.0),
    )


def _list_unclear(evidence: "_TableEvidence", rows: GridRows, *, is_open: bool) -> tuple[tuple[int, str, str], ...]:
    """Return the first unclear numbers. All rows are searched only where the marks of the whole table are open."""
    if not evidence.marks.unclear:
        return ()
    return tuple(islice(evidence.unclear(rows if is_open else rows[:_LOOKED_THROUGH]), _MOST_UNCLEAR))


def _count_titles(rows: GridRows) -> int:
    """Return how many rows of a spreadsheet above the headings have only one cell of words, at their beginning."""
    count = 0
    for row, below in pairwise(rows[: MOST_HEADER_ROWS + 1]):
        if not _is_alone(row) or cells.is_value(row.cells[0]) or not below.cells[:1] or not below.cells[0]:
            break
        count += 1
    return count if len(rows) - count > 1 and not _is_alone(rows[count]) else 0


def _is_alone(row: CellRow) -> bool:
    return not row.problem and len(row.cells) > 2 and bool(row.cells[0]) and not any(row.cells[1:])


def _count_headings(rows: GridRows) -> int:
    """Return how many rows at the top are headings: those without a number, or one of sizes whose first cell is a typical heading."""
    height = 0
    for row in rows[:MOST_HEADER_ROWS]:
        if len(rows) - height < 2 or any(map(_is_measured, row.cells)) or (height and _is_below_headings(row)):
            break
        height += 1
    if height == 0 and len(rows) > 1 and (_is_heading(rows[0], rows[1]) or _has_blank_corner(rows)):
        return 1
    return height


def _is_measured(cell: str) -> bool:
    return bool(cell) and cells.is_value(cell) and cells.explain_missing(cell, cells.MISSING) == ""


def _is_below_headings(row: CellRow) -> bool:
    """Return whether a row without numbers is no heading: all its values are missing, or it is the title of the rows below."""
    filled = [cell for cell in row.cells[1:] if cell]
    return bool(row.cells[:1] and row.cells[0]) and all(
        cells.explain_missing(cell, cells.MISSING) and cell.lower() != "x" for cell in filled
    )


def _is_heading(first: CellRow, below: CellRow) -> bool:
    """Return whether a row with numbers, usually sizes, is one of headings: its first cell says so, and the row below differs."""
    word = first.cells[0] if first.cells else ""
    return not cells.is_value(word) and bool(_HEADING_WORDS.search(word)) and below.cells[:1] != (word,)


def _has_blank_corner(rows: GridRows) -> bool:
    """Return whether the first column has no heading, and a name or size in every other row."""
    first, *others = rows[:_CORNER_ROWS]
    whole = len(first.cells) > 2 and not first.problem and not first.cells[0] and all(first.cells[1:])
    return whole and all(row.cells[:1] and row.cells[0] for row in others)


def _may_be_headings(rows: GridRows) -> bool:
    """Return whether the first row may be headings such as `disks;1;2;4` over names: counts or sizes that increase."""
    first, *others = rows[:_CORNER_ROWS]
    rising = [int(match[1]) for cell in first.cells[1:] if (match := _COUNT.fullmatch(cell))]
    if first.problem or len(others) < 2 or len(rising) < 2 or len(rising) + 1 != len(first.cells):
        return False
    if not all(low < high for low, high in pairwise(rising)):
        return False
    return not any(row.problem or not row.cells[0] or cells.is_value(row.cells[0]) for row in (first, *others))


def _join_headings(header: GridRows, block: blocks.TableBlock) -> list[str]:
    """Return the words over each column; "" where the header does not show which words belong to which column."""
    headings = [""] * block.width
    if block.delimiter == SINGLE_BLANKS:
        return headings
    header_rows = [row.cells for row in header if not row.problem]
    for place, row in enumerate(header_rows):
        below = header_rows[place + 1] if place + 1 < len(header_rows) else ()
        headings = [f"{above} {cell}".strip() for above, cell in zip(headings, _spread_merged(row, below), strict=True)]
    return [cells.clean(heading)[:120] for heading in headings]


def _spread_merged(row: Sequence[str], below: Sequence[str]) -> Sequence[str]:
    """Return a row in which a heading merged over several columns is repeated in each that has a heading of its own below."""
    if not below or sum(map(bool, row[1:])) < 2:
        return row
    spread = list(row)
    for place in range(2, len(row)):
        if not row[place] and below[place] and spread[place - 1] and below[place - 1]:
            spread[place] = spread[place - 1]
    return spread


@dataclass
class _ColumnEvidence:
    """What the cells of a column show."""

    marks: cells.Marks = field(default_factory=cells.Marks)
    kinds: Counter[str] = field(default_factory=Counter)

    def make_column(self, index: int, heading: str) -> GridColumn:
        kind, confidence = self._detect_kind(heading)
        return GridColumn(
            index,
            heading,
            kind,
            self.marks.candidates(),
            self.marks.thousands_candidates(),
            units.find_unit(heading),
            confidence,
            self.marks,
        )

    def _detect_kind(self, heading: str) -> tuple[str, float]:
        filled = self.kinds.total()
        if not filled:
            return "empty", 1.0
        share = 1 - self.kinds["name"] / filled
        if share < 0.5:
            return "name", 1 - share
        kind = max(("pair", "size", "number"), key=lambda candidate: self.kinds[candidate])
        return ("size" if kind == "number" and _SIZE_HEADING.search(heading) else kind), share


@dataclass
class _TableEvidence:
    """What the cells show. Rows and cells of one shape (all digits but 0 alike) show the same, so each shape is examined once."""

    columns: list[_ColumnEvidence]
    headings: list[str]
    marks: cells.Marks = field(default_factory=cells.Marks)

    def add_shape(self, row: CellRow, count: int) -> None:
        """Add a shape that `count` rows have."""
        if row.problem:
            return
        for cell, column in zip(row.cells, self.columns, strict=True):
            if not cell:
                continue
            kind, marks = _classify_cell(cell[:_LONGEST_CELL])
            if not kind:
                continue
            column.kinds[kind] += count
            if marks.is_marked:
                column.marks.add(marks)
                self.marks.add(marks)

    def unclear(self, rows: GridRows) -> Iterator[tuple[int, str, str]]:
        """Yield the numbers that can mean one thing or another, as (line, heading, as printed)."""
        for row in rows:
            for index, cell in enumerate(() if row.problem else row.cells):
                if cell and _classify_cell(cells.get_shape(cell[:_LONGEST_CELL]))[1].unclear:
                    yield row.line, self.headings[index] or f"column {index + 1}", cell[:80]


@lru_cache(maxsize=_MOST_SHAPES)
def _classify_cell(shape: str) -> tuple[str, cells.Marks]:
    """Return the kind of a cell, "" for a missing value, and what it proves about marks."""
    marks = cells.Marks()
    if cells.explain_missing(shape, cells.MISSING):
        return "", marks
    if cells.HAS_DIGIT(shape) is None or not cells.is_value(shape):
        return "name", marks
    marks.add_cell(shape)
    if cells.is_pair(shape):
        return "pair", marks
    return ("size" if _SIZE.fullmatch(shape) else "number"), marks
