"""What a table is, before anybody says what it means: headings, kinds of columns, marks, units.

`sniff` gives the largest table of a text, `find` all of them in their order. Raises `ParseError` where there is none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, pairwise

from apps.parsers.shape import ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.tables import blocks, cells, units
from apps.parsers.tables.grid import ALIGNED, SINGLE_BLANKS, Column, Grid, Row, Rows
from apps.parsers.tables.splitting import Aligned, splitter

MOST_HEADER_ROWS = 3
_MOST_UNCLEAR = 20
_MOST_SHAPES = 20_000
_LONGEST_CELL = 250
_KEPT = "_tables"
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


class Found:
    """A table, looked at when somebody asks for its grid: a text may have ten thousands of which nobody needs any."""

    def __init__(self, block: blocks.Block) -> None:
        self.block = block

    @cached_property
    def grid(self) -> Grid:
        return _grid(self.block)

    def with_headings(self, count: int | None) -> Grid:
        """As it looks, or with as many rows of headings as somebody said."""
        return self.grid if count is None else _grid(self.block, count)

    @cached_property
    def headings(self) -> list[str]:
        """As those of the grid's columns."""
        rows = _rows(self.block)
        titles = _titles(rows)
        return _headings(rows[titles : titles + _header_height(rows[titles:])], self.block)


def find(text: SourceText, heading_rows: int | None = None) -> list[Grid]:
    return [one.with_headings(heading_rows) for one in found(text)]


def sniff(text: SourceText, heading_rows: int | None = None) -> Grid:
    return max(found(text), key=lambda one: one.block.weight).with_headings(heading_rows)


def found(text: SourceText) -> list[Found]:
    """Kept with the text: who reads a table also shows it to whoever will say what it means."""
    kept: list[Found] | None = text.__dict__.get(_KEPT)
    if kept is None:
        kept = text.__dict__[_KEPT] = list(map(Found, _blocks(text)))
    return kept


def _blocks(text: SourceText) -> list[blocks.Block]:
    found = blocks.find(text)
    if not found:
        first = next((line.strip() for line in text.lines if line.strip()), "nothing")
        raise ParseError("no table in the text", line=1, found=first, expected="rows of cells with numbers")
    return found


def _rows(block: blocks.Block) -> Rows:
    split = Aligned(block.records, block.width) if block.delimiter == ALIGNED else splitter(block.delimiter)
    return Rows(block.records, block.numbers, split, block.width, block.delimiter != SINGLE_BLANKS)


def _grid(block: blocks.Block, said: int | None = None) -> Grid:
    rows = _rows(block)
    titles = _titles(rows) if said is None else 0
    height = titles + _header_height(rows[titles:]) if said is None else min(said, len(rows) - 1)
    headings = _headings(rows[titles:height], block)
    header = tuple(
        Row(row.line, tuple(block.records[titles + place].split()) if row.problem else row.cells)
        for place, row in enumerate(rows[titles:height])
    )
    seen = _Seen([_Column() for _ in range(block.width)], headings)
    for form, count in rows[height:].forms():
        seen.look_at(form, count)
    decimal = seen.marks.candidates()
    return Grid(
        delimiter=block.delimiter,
        columns=tuple(one.column(index, headings[index]) for index, one in enumerate(seen.columns)),
        header=header,
        rows=rows[height:],
        decimal=decimal,
        thousands=seen.marks.thousands_candidates(),
        unclear=_unclear(seen, rows[height:], is_open=len(decimal) != 1),
        caption="\n".join(filter(None, [block.caption, *(row.cells[0] for row in rows[:titles])])),
        is_unsure_of_headings=said is None and height == 0 and _may_be_headings(rows),
        confidence=block.values * (0.5 if block.delimiter == SINGLE_BLANKS else 1.0),
    )


def _unclear(seen: "_Seen", rows: Rows, *, is_open: bool) -> tuple[tuple[int, str, str], ...]:
    """All rows are looked through only where the whole table is open: a single column may be so in one that is not."""
    if not seen.marks.unclear:
        return ()
    return tuple(islice(seen.unclear(rows if is_open else rows[:_LOOKED_THROUGH]), _MOST_UNCLEAR))


def _titles(rows: Rows) -> int:
    """Rows of a spreadsheet above the headings that have a cell of words at their beginning and nothing else."""
    count = 0
    for row, below in pairwise(rows[: MOST_HEADER_ROWS + 1]):
        if not _is_alone(row) or cells.is_value(row.cells[0]) or not below.cells[:1] or not below.cells[0]:
            break
        count += 1
    return count if len(rows) - count > 1 and not _is_alone(rows[count]) else 0


def _is_alone(row: Row) -> bool:
    return not row.problem and len(row.cells) > 2 and bool(row.cells[0]) and not any(row.cells[1:])


def _header_height(rows: Rows) -> int:
    """Rows at the top without a number; or one of numbers (sizes) whose first cell says that headings stand here."""
    height = 0
    for row in rows[:MOST_HEADER_ROWS]:
        if len(rows) - height < 2 or any(map(_is_measured, row.cells)) or (height and _is_below_headings(row)):
            break
        height += 1
    if height == 0 and len(rows) > 1 and (_is_heading(rows[0], rows[1]) or _has_blank_corner(rows)):
        return 1
    return height


def _is_measured(cell: str) -> bool:
    return bool(cell) and cells.is_value(cell) and cells.missing(cell, cells.MISSING) == ""


def _is_below_headings(row: Row) -> bool:
    """A row without numbers that is none of headings: all its values are missing, or it is the title of those below it."""
    said = [cell for cell in row.cells[1:] if cell]
    return bool(row.cells[:1] and row.cells[0]) and all(
        cells.missing(cell, cells.MISSING) and cell.lower() != "x" for cell in said
    )


def _is_heading(first: Row, below: Row) -> bool:
    """Whether a row with numbers is one of headings, sizes mostly: its first cell says so, and what stands below differs."""
    word = first.cells[0] if first.cells else ""
    return not cells.is_value(word) and bool(_HEADING_WORDS.search(word)) and below.cells[:1] != (word,)


def _has_blank_corner(rows: Rows) -> bool:
    """Nothing stands at the head of the first column, and a name or size before every other row."""
    first, *others = rows[:_CORNER_ROWS]
    whole = len(first.cells) > 2 and not first.problem and not first.cells[0] and all(first.cells[1:])
    return whole and all(row.cells[:1] and row.cells[0] for row in others)


def _may_be_headings(rows: Rows) -> bool:
    """`disks;1;2;4` over names: counts or sizes that rise."""
    first, *others = rows[:_CORNER_ROWS]
    rising = [int(match[1]) for cell in first.cells[1:] if (match := _COUNT.fullmatch(cell))]
    if first.problem or len(others) < 2 or len(rising) < 2 or len(rising) + 1 != len(first.cells):
        return False
    if not all(low < high for low, high in pairwise(rising)):
        return False
    return not any(row.problem or not row.cells[0] or cells.is_value(row.cells[0]) for row in (first, *others))


def _headings(header: Rows, block: blocks.Block) -> list[str]:
    """The words over each column; none where the header does not show which words belong to which column."""
    headings = [""] * block.width
    if block.delimiter == SINGLE_BLANKS:
        return headings
    told = [row.cells for row in header if not row.problem]
    for place, row in enumerate(told):
        below = told[place + 1] if place + 1 < len(told) else ()
        headings = [f"{above} {cell}".strip() for above, cell in zip(headings, _spread(row, below), strict=True)]
    return [cells.clean(heading)[:120] for heading in headings]


def _spread(row: Sequence[str], below: Sequence[str]) -> Sequence[str]:
    """A heading that was merged over several columns leaves blanks behind it: it stands over each that has a heading of its own below."""
    if not below or sum(map(bool, row[1:])) < 2:
        return row
    spread = list(row)
    for place in range(2, len(row)):
        if not row[place] and below[place] and spread[place - 1] and below[place - 1]:
            spread[place] = spread[place - 1]
    return spread


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
            self.marks,
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
    """What the cells show. Rows and cells of one shape (all digits but 0 alike) show the same, so a shape is looked at once."""

    columns: list[_Column]
    headings: list[str]
    marks: cells.Marks = field(default_factory=cells.Marks)

    def look_at(self, row: Row, count: int) -> None:
        """`row` is a shape, and `count` rows have it."""
        if row.problem:
            return
        for cell, column in zip(row.cells, self.columns, strict=True):
            if not cell:
                continue
            kind, marks = _shown_by(cell[:_LONGEST_CELL])
            if not kind:
                continue
            column.kinds[kind] += count
            if marks.is_marked:
                column.marks.add(marks)
                self.marks.add(marks)

    def unclear(self, rows: Rows) -> Iterator[tuple[int, str, str]]:
        """The numbers that can be one thing or another: (line, heading, as printed)."""
        for row in rows:
            for index, cell in enumerate(() if row.problem else row.cells):
                if cell and _shown_by(cells.shape(cell[:_LONGEST_CELL]))[1].unclear:
                    yield row.line, self.headings[index] or f"column {index + 1}", cell[:80]


@lru_cache(maxsize=_MOST_SHAPES)
def _shown_by(shape: str) -> tuple[str, cells.Marks]:
    """The kind of a cell, '' for a missing value, and what it proves about marks."""
    marks = cells.Marks()
    if cells.missing(shape, cells.MISSING):
        return "", marks
    if cells.HAS_DIGIT(shape) is None or not cells.is_value(shape):
        return "name", marks
    marks.look_at(shape)
    if cells.is_pair(shape):
        return "pair", marks
    return ("size" if _SIZE.fullmatch(shape) else "number"), marks
