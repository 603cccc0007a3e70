"""HTML as a fragment, to be set into any page: headings, paragraphs, lists, tables and pictures, no style and no script."""

from collections.abc import Iterator
from html import escape as escape_html

from apps.core.tables import Cell, Column, Document, Head, Section, Table
from apps.wiki.dialects.text import address, between, clean, head_attributes, spanning


def escape(cell: Cell) -> str:
    return escape_html(clean(cell)).replace("\n", "<br>")


def pieces(document: Document) -> Iterator[str]:
    yield from between("\n", ([line] for line in _lines(document)))
    yield "\n"


def _lines(document: Document) -> Iterator[str]:
    yield f"<h1>{escape(document.title)}</h1>"
    yield from _paragraphs(document.paragraphs)
    for section in document.sections:
        yield from _section(section)
    footer = document.footer
    link = f'<a href="{escape_html(address(footer.address))}">{escape(footer.link)}</a>'
    yield f"<p><small>{escape(footer.text)} {link}</small></p>"


def _paragraphs(paragraphs: tuple[str, ...]) -> list[str]:
    return [f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs]


def _section(section: Section) -> Iterator[str]:
    yield f"<h{section.level}>{escape(section.heading)}</h{section.level}>"
    yield from _paragraphs(section.paragraphs)
    if section.items:
        yield from ("<ul>", *(f"<li>{escape(item)}</li>" for item in section.items), "</ul>")
    if section.table:
        yield from _table(section.table)
    if section.picture:
        source = section.picture.file or escape_html(address(section.picture.address))
        words = escape(section.picture.words)
        yield f'<p><img src="{source}" alt="{words}"></p>'


def _table(table: Table) -> Iterator[str]:
    yield "<table>"
    if table.caption:
        yield f"<caption>{escape(table.caption)}</caption>"
    if heads := [f"<tr>{''.join(map(_head, row))}</tr>" for row in table.headings]:
        yield f"<thead>{''.join(heads)}</thead>"
    yield "<tbody>"
    yield from (f"<tr>{''.join(_cell(*cell) for cell in row)}</tr>" for row in table.cells())
    yield from ("</tbody>", "</table>")


def _head(head: Head) -> str:
    """Return a header cell; a corner without text heads nothing."""
    return _tag("th", head_attributes(head), head.text) if head.text else _tag("td", spanning(head.span, head.down), "")


def _cell(column: Column, cell: Cell, span: int) -> str:
    if column.is_head and cell:
        return _tag("th", 'scope="row"', cell)
    return _tag("td", " ".join(filter(None, ['align="right"' * column.is_number, spanning(span)])), cell)


def _tag(name: str, attributes: str, cell: Cell) -> str:
    return f"<{' '.join(filter(None, [name, attributes]))}>{escape(cell)}</{name}>"
