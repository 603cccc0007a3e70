"""A table of means: CSV, TSV, columns aligned by blanks, markdown and wiki tables, spreadsheets pasted as text.

    file size MB;sata 3ware;scsi zero channel
    100;177456,5;166733,9

No tool prints it and nothing in it says what it means: a person maps its columns (`mapping.Mapping`), once per kind of
table (`signature`). `parse` reads it alone only where its headings say everything: operation, unit with base, sizes.

    grid = sniff(text); mapping = guess(grid); questions(grid, mapping); read(grid, mapping) → ParsedFile

Units: those that the mapping names; `MB/s` is never taken for 1000 or 1024 by itself. Oddities: cells with ranges
(`2.0 – 2.6`: two bounds), `~ 300` (approximate), `> 32768` (lower bound), pairs (`270 / 20`), `N.A.`, `+++++`.
"""

import re

from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.tables import blocks, sniffing
from apps.parsers.tables.cells import Marks
from apps.parsers.tables.grid import SINGLE_BLANKS, Column, Grid, Row
from apps.parsers.tables.guessing import guess, marks_of, names_operation, questions
from apps.parsers.tables.mapping import HEADING_ROWS, Mapping, Role, signature
from apps.parsers.tables.reading import read
from apps.parsers.tables.sniffing import find, sniff

__all__ = [
    "HEADING_ROWS", "NAME", "TITLE", "Column", "Grid", "Mapping", "Marks", "Role", "Row", "find", "guess", "looks_like", "marks_of", "parse",
    "questions", "read", "signature", "sniff",
]  # fmt: skip

NAME = "table"
TITLE = "a table of means"
_MOST_SURE = 0.4
_WORD = re.compile(r"[^\W\d_]{2}")
_JUDGED_LINES = 2000
_MOST_TABLES = 3000  # of one text; nobody has printed so many, and each takes time by itself
_MOST_BROKEN = 200  # tables or places in them; then nobody looks any more at those that cannot be read alone


def looks_like(text: SourceText) -> float:
    """At most 0.4: whichever tool's parser knows the text is right about it. Long texts are judged by their beginning."""
    head = text if len(text.lines) <= _JUDGED_LINES else SourceText("\n".join(text.lines[:_JUDGED_LINES]), text.name)
    found = blocks.find(head)
    return _MOST_SURE * max((block.values * (block.delimiter != SINGLE_BLANKS or 0.5) for block in found), default=0.0)


def parse(text: SourceText) -> ParsedFile:
    """The tables whose headings say everything. Raises `ParseError` that lists what must be said when there is none."""
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    warnings: list[str] = []
    looked_at = 0
    for one in sniffing.found(text):
        if len(broken) >= _MOST_BROKEN and not _names_operation(one):
            continue  # it would be asked what its values are of
        if looked_at >= _MOST_TABLES:
            broken.insert(min(1, len(broken)), _too_many(one.block.numbers[0]))
            break
        looked_at += 1
        try:
            found = _read_alone(one.grid)
        except ParseError as error:
            broken.append(error.broken)
            continue
        runs += found.runs
        broken += found.broken
        warnings += found.warnings
    if not runs:
        first = broken[0]
        raise ParseError(first.message, line=first.line, found=first.found, expected=first.expected)
    return ParsedFile(tuple(runs), tuple(warnings), tuple(broken))


def _names_operation(one: sniffing.Found) -> bool:
    has_words = _WORD.search("\n".join(one.block.records[: sniffing.MOST_HEADER_ROWS]))
    return has_words is not None and any(map(names_operation, one.headings))


def _too_many(line: int) -> Broken:
    message = "no table is read from here on, as so many stand before it"
    return Broken(message, line, f"more than {_MOST_TABLES:,} tables", "fewer in one file; upload the rest in parts")


def _read_alone(grid: Grid) -> ParsedFile:
    mapping = guess(grid)
    if grid.delimiter == SINGLE_BLANKS:
        message = "needs a mapping: single blanks do not show which words belong to which column"
        raise ParseError(message, line=grid.first_line, found=grid.shown, expected="a mapping of its columns")
    if mapping.headings or any("configuration" in role.fixed for role in mapping.columns.values()):
        headings = ", ".join(
            grid.columns[index].heading or str(index + 1)
            for index, role in mapping.columns.items()
            if role.word == "value"
        )
        message = f"needs a mapping: what are the columns {headings[:150]}?"
        raise ParseError(message, line=grid.first_line, found=grid.shown, expected="a mapping of its columns")
    return read(grid, mapping)
