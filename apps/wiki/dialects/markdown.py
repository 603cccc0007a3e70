"""Markdown as GitHub reads it.

Marks become entities or get a backslash. Links, mentions, issue numbers and emoji are made by GitHub from finished
text, where escapes are gone; an empty comment in their middle keeps them apart.
"""

import re
from collections.abc import Iterator

from apps.core.tables import Cell, Document, Section, Table
from apps.wiki.dialects.text import address, between, clean, one_line

_SPECIAL = re.compile(
    r"[@#]|:(?!\s|$)|\bwww(?=\.)|[\\`*_{}\[\]!~^]|[|<>&$\"]|(?<!\w)'|'(?![^\W\d_])|^[-+=]|^(?P<number>\d{1,9})(?P<point>[.)])(?=\s|$)"
)
_BREAK = "<!-- -->"


def _escaped(match: re.Match[str]) -> str:
    mark = match[0]
    if match["number"]:
        return f"{match['number']}\\{match['point']}"
    if mark in "@#:":
        return f"&#{ord(mark)};{_BREAK}"
    if mark == "www":
        return mark + _BREAK
    return f"&#{ord(mark)};" if mark in "|<>&$\"'=" else f"\\{mark}"


def escape(cell: Cell) -> str:
    return "<br>".join(_SPECIAL.sub(_escaped, line.strip()) for line in clean(cell).split("\n"))


def pieces(document: Document) -> Iterator[str]:
    yield from between("\n\n", _parts(document))
    yield "\n"


def _parts(document: Document) -> Iterator[Iterator[str] | list[str]]:
    yield [f"## {escape(one_line(document.title))}"]
    yield from ([escape(paragraph)] for paragraph in document.paragraphs)
    yield from (between("\n\n", _parts_of(section)) for section in document.sections)
    footer = document.footer
    yield [f"<sub>{escape(footer.text)} [{escape(one_line(footer.link))}](<{address(footer.address)}>)</sub>"]


def _parts_of(section: Section) -> Iterator[Iterator[str] | list[str]]:
    yield [f"{'#' * (section.level + 1)} {escape(one_line(section.heading))}"]
    yield from ([escape(paragraph)] for paragraph in section.paragraphs)
    if section.items:
        yield ["\n".join(f"- {escape(item)}" for item in section.items)]
    if section.table:
        yield between("\n", ([line] for line in _table(section.table)))
    if section.picture:
        source = section.picture.file or address(section.picture.address)
        yield [f"![{escape(one_line(section.picture.words))}](<{source}>)"]


def _table(table: Table) -> Iterator[str]:
    """Yield the lines of a table."""
    if table.caption:
        yield f"{escape(table.caption)}\n"
    yield "| " + " | ".join(escape(column.title) or " " for column in table.columns) + " |"
    yield "|" + "|".join(" ---: " if column.is_number else " --- " for column in table.columns) + "|"
    yield from ("| " + " | ".join(escape(cell) for cell in row) + " |" for row in table.each())
