"""A table of means: CSV, TSV, columns aligned by blanks, Markdown and wiki tables, spreadsheets pasted as text.

    file size MB;sata 3ware;scsi zero channel
    100;177456,5;166733,9

No tool prints it and nothing in it says what it means: a person maps its columns (`mapping.ColumnMapping`), once for
each kind of table (`make_signature`). `parse` reads it alone only where its headings state everything: operation, unit
with base, sizes.

    grid = sniff(text); mapping = guess(grid); list_questions(grid, mapping); read(grid, mapping)    # the last returns a ParsedFile

Units are those that the mapping names; whether `MB/s` is 1000 or 1024 is never decided automatically. Cells may be
ranges (`2.0 – 2.6`: two bounds), `~ 300` (approximate), `> 32768` (lower bound), pairs (`270 / 20`), `N.A.` or `+++++`.
"""

import re

from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import blocks, detection
from apps.parsers.tables.cells import Marks
from apps.parsers.tables.detection import find, sniff
from apps.parsers.tables.grid import SINGLE_BLANKS, CellRow, GridColumn, TableGrid
from apps.parsers.tables.guess import get_marks, guess, list_questions, names_operation
from apps.parsers.tables.mapping import HEADING_ROWS, ColumnMapping, ColumnRole, make_signature
from apps.parsers.tables.reader import read

__all__ = [
    "HEADING_ROWS",
    "NAME",
    "TITLE",
    "CellRow",
    "ColumnMapping",
    "ColumnRole",
    "GridColumn",
    "Marks",
    "TableGrid",
    "find",
    "get_marks",
    "guess",
    "list_questions",
    "looks_like",
    "make_signature",
    "parse",
    "read",
    "sniff",
]  # fmt: skip

NAME = "table"
TITLE = "a table of means"
_MOST_SURE = 0.4
_WORD = re.compile(r"[^\W\d_]{2}")
_JUDGED_LINES = 2000
_MOST_TABLES = 3000  # tables of one text, because each takes time
_MOST_BROKEN = 200  # broken tables or places, after which tables that can not be read alone are skipped


def looks_like(text: SourceText) -> float:
    """Return at most 0.4, so that any tool's parser that recognises the text wins. Long texts are judged by their beginning."""
    head = text if len(text.lines) <= _JUDGED_LINES else SourceText("\n".join(text.lines[:_JUDGED_LINES]), text.name)
    text_blocks = blocks.find(head)
    return _MOST_SURE * max(
        (block.values * (block.delimiter != SINGLE_BLANKS or 0.5) for block in text_blocks), default=0.0
    )


def parse(text: SourceText) -> ParsedFile:
    """Parse the tables whose headings state everything.

    Raises:
        ParseError: if there is none; it lists what must be stated.
    """
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    count = 0
    for table in detection.find_all(text):
        if len(broken) >= _MOST_BROKEN and not _may_name_operation(table):
            continue  # its operation would have to be stated by the user
        if count >= _MOST_TABLES:
            broken.insert(min(1, len(broken)), _make_too_many(table.block.numbers[0]))
            break
        count += 1
        try:
            parsed = _read_alone(table.grid)
        except ParseError as error:
            broken.append(error.broken)
            continue
        runs += parsed.runs
        broken += parsed.broken
        warnings += parsed.warnings
    if not runs:
        first = broken[0]
        raise ParseError(first.message, line=first.line, found=first.found, expected=first.expected)
    return ParsedFile(tuple(runs), tuple(warnings), tuple(broken))


def _may_name_operation(table: detection.DetectedTable) -> bool:
    has_words = _WORD.search("\n".join(table.block.records[: detection.MOST_HEADER_ROWS]))
    return has_words is not None and any(map(names_operation, table.headings))


def _make_too_many(line: int) -> Broken:
    message = "no table is read from here on, as so many stand before it"
    return Broken(message, line, f"more than {_MOST_TABLES:,} tables", "fewer in one file; upload the rest in parts")


def _read_alone(grid: TableGrid) -> ParsedFile:
    mapping = guess(grid)
    if grid.delimiter == SINGLE_BLANKS:
        message = "needs a mapping: single blanks do not show which words belong to which column"
        raise ParseError(message, line=grid.first_line, found=grid.excerpt, expected="a mapping of its columns")
    if mapping.headings or any("configuration" in role.fixed for role in mapping.columns.values()):
        headings = ", ".join(
            grid.columns[index].heading or str(index + 1)
            for index, role in mapping.columns.items()
            if role.word == "value"
        )
        message = f"needs a mapping: what are the columns {headings[:150]}?"
        raise ParseError(message, line=grid.first_line, found=grid.excerpt, expected="a mapping of its columns")
    return read(grid, mapping)
