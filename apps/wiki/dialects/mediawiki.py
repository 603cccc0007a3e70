"""MediaWiki.

Every character that could mean something where it stands becomes a numeric entity (as MediaWiki's own wfEscapeWikiText
does); entities are shown and never read as markup, also inside templates. `<nowiki>` is not used: text can close it.
What is harmless where it stands stays as it is, because people edit the page afterwards.
"""

import re
from collections.abc import Iterator

from apps.core.tables import Cell, Column, Document, Head, Picture, Section, Table
from apps.wiki.dialects.text import PICTURE_WIDTH, address, between, clean, head_attributes, one_line, spanning

# harmless are letters, digits, white space and some punctuation; a colon or semicolon before a space; a lone apostrophe
_HARMLESS = r"[A-Za-z0-9.,/()%-]|(?<!^)[:;](?=\s)|(?<=\w)'(?=[^\W\d_])"
_SPECIAL = re.compile(rf"(?!{_HARMLESS})[\x21-\x7e]|^[-+]|-(?=-)|(?<=\bISBN)\s|(?<=\bPMID)\s|(?<=\bRFC)\s")


def escape(cell: Cell) -> str:
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", clean(cell)).replace("\n", "<br />")


def pieces(document: Document) -> Iterator[str]:
    yield from between("\n\n", _parts(document))
    yield "\n"


def _parts(document: Document) -> Iterator[Iterator[str] | list[str]]:
    yield [f"== {escape(one_line(document.title))} =="]
    yield from ([escape(paragraph)] for paragraph in document.paragraphs)
    yield from (between("\n\n", _parts_of(section)) for section in document.sections)
    footer = document.footer
    yield [f"<small>{escape(footer.text)} [{address(footer.address)} {escape(one_line(footer.link))}]</small>"]


def _parts_of(section: Section) -> Iterator[Iterator[str] | list[str]]:
    marks = "=" * (section.level + 1)
    yield [f"{marks} {escape(one_line(section.heading))} {marks}"]
    yield from ([escape(paragraph)] for paragraph in section.paragraphs)
    if section.items:
        yield ["\n".join(f"* {escape(item)}" for item in section.items)]
    if section.table:
        yield _table(section.table)
    if section.picture:
        yield [_picture(section.picture)]


def _picture(picture: Picture) -> str:
    """Return a picture, or a link where it is no file of the wiki: most wikis disable pictures from other sites."""
    words = escape(one_line(picture.words))
    if picture.file:
        return f"[[File:{picture.file}|thumb|none|{PICTURE_WIDTH}px|alt={words}|{words}]]"
    return f"[{address(picture.address)} {words} (PNG)]"


def _table(table: Table) -> Iterator[str]:
    yield '{| class="wikitable"\n'
    if table.caption:
        yield f"|+ {escape(table.caption)}\n"
    yield from between("\n|-\n", ([row] for row in _rows(table)))
    yield "\n|}"


def _rows(table: Table) -> Iterator[str]:
    yield from ("\n".join(map(_head, heads)) for heads in table.headings)
    yield from ("\n".join(_cell(*cell) for cell in row) for row in table.cells())


def _head(head: Head) -> str:
    """Return a header cell; a corner without text heads nothing."""
    return _line(*(("!", head_attributes(head)) if head.text else ("|", spanning(head.span, head.down))), head.text)


def _cell(column: Column, cell: Cell, span: int) -> str:
    if column.is_head and cell:
        return _line("!", 'scope="row"', cell)
    return _line("|", " ".join(filter(None, ['style="text-align:right"' * column.is_number, spanning(span)])), cell)


def _line(mark: str, attributes: str, cell: Cell) -> str:
    return " ".join(filter(None, [mark, attributes and f"{attributes} |", escape(cell)]))
