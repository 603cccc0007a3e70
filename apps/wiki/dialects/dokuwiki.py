"""DokuWiki.

It knows no entities, so text stands between `%%` marks, where nothing is read; percent signs that would end that stand
in `<nowiki>`. Plain words and numbers need neither.
"""

import re
from collections.abc import Iterator

from apps.core.tables import Cell, Column, Document, Picture, Section, Table, placed
from apps.wiki.dialects.text import PICTURE_WIDTH, address, between, clean, one_line

# words that begin large at most, and numbers: no camel case, smiley (FIXME), link, entity (1x1) or mark can be in them
_PLAIN = re.compile(r"(?:[A-Z]?[a-z]+|[−±≥≤~]?\d{1,3}(?:[.\u202f]\d+)*)(?:[ \u00a0](?:[a-z]+|\d+(?:\.\d+)?))*")
_PERCENTS = re.compile(r"(^%+|%{2,}|%+$)")


def escape(cell: Cell) -> str:
    return r"\\ ".join(_line(line.strip()) for line in clean(cell).split("\n"))


def _line(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_marked(part) for part in _PERCENTS.split(text) if part)


def _marked(part: str) -> str:
    """Mark a text; white space at its ends stays outside, because not every parser accepts it inside."""
    if _PERCENTS.fullmatch(part):
        return f"<nowiki>{part}</nowiki>"
    inner = part.strip()
    return part.replace(inner, f"%%{inner}%%", 1) if inner else part


def _link_words(text: str) -> str:
    """Return a link's text without characters that could end it; DokuWiki has no way to escape them."""
    return re.sub(r"[^\w .,-]", "", text)


def _heading(level: int, text: str) -> str:
    """Return a heading; its text needs no escaping, because DokuWiki reads no mark within a heading."""
    marks = "=" * (7 - level)
    return f"{marks} {one_line(clean(text))} {marks}"


def pieces(document: Document) -> Iterator[str]:
    yield from between("\n\n", _parts(document))
    yield "\n"


def _parts(document: Document) -> Iterator[Iterator[str] | list[str]]:
    yield [_heading(1, document.title)]
    yield from ([escape(paragraph)] for paragraph in document.paragraphs)
    yield from (between("\n\n", _parts_of(section)) for section in document.sections)
    footer = document.footer
    yield [f"{escape(footer.text)} [[{address(footer.address)}|{_link_words(footer.link)}]]"]


def _parts_of(section: Section) -> Iterator[Iterator[str] | list[str]]:
    yield [_heading(section.level, section.heading)]
    yield from ([escape(paragraph)] for paragraph in section.paragraphs)
    if section.items:
        yield ["\n".join(f"  * {escape(item)}" for item in section.items)]
    if section.table:
        yield between("\n", ([line] for line in _table(section.table)))
    if section.picture:
        yield [_picture(section.picture)]


def _picture(picture: Picture) -> str:
    if picture.file:
        return f"{{{{{picture.file}?{PICTURE_WIDTH}|{_link_words(picture.words)}}}}}"
    return f"{escape(picture.words)} [[{address(picture.address)}|PNG]]"


def _table(table: Table) -> Iterator[str]:
    """Yield the lines of a table."""
    if table.caption:
        yield f"{escape(table.caption)}\n"
    yield from _heads(table)
    yield from ("".join(_cell(*cell) for cell in row) + "|" for row in table.cells())


def _heads(table: Table) -> list[str]:
    """Return the header rows; a bare mark makes the cell before it wider, and `:::` the cell above it longer."""
    rows = [["^"] * len(table.columns) for _ in table.headings]
    for row, column, head in placed(table.headings):
        for below, line in enumerate(rows[row : row + head.down]):
            line[column] = f"^ {':::' if below else escape(head.text)} "
    return [f"{''.join(row)}^" for row in rows]


def _cell(column: Column, cell: Cell, span: int) -> str:
    """Return a cell; two spaces before a text align it right, and marks without text between them make it wider."""
    mark = "^" if column.is_head and cell else "|"
    return f"{mark}{' ' * (1 + column.is_number)}{escape(cell)} {'|' * (span - 1)}"
