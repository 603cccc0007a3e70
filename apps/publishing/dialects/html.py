"""HTML as a fragment, to be set into any page: headings, paragraphs, lists, tables and pictures, no style and no script."""

from html import escape as escape_html

from apps.lib.tables import Cell, Column, Document, Head, Section, Table
from apps.publishing.dialects.text import address, clean, head_attributes, spanning


def escape(cell: Cell) -> str:
    return escape_html(clean(cell)).replace("\n", "<br>")


def render(document: Document) -> str:
    parts = [f"<h1>{escape(document.title)}</h1>", *_paragraphs(document.paragraphs)]
    parts += [_section(section) for section in document.sections]
    footer = document.footer
    link = f'<a href="{escape_html(address(footer.address))}">{escape(footer.link)}</a>'
    parts.append(f"<p><small>{escape(footer.text)} {link}</small></p>")
    return "\n".join(parts) + "\n"


def _paragraphs(paragraphs: tuple[str, ...]) -> list[str]:
    return [f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs]


def _section(section: Section) -> str:
    parts = [f"<h{section.level}>{escape(section.heading)}</h{section.level}>", *_paragraphs(section.paragraphs)]
    if section.items:
        parts.append("<ul>\n" + "\n".join(f"<li>{escape(item)}</li>" for item in section.items) + "\n</ul>")
    if section.table:
        parts.append(_table(section.table))
    if section.picture:
        source = section.picture.file or escape_html(address(section.picture.address))
        words = escape(section.picture.words)
        parts.append(f'<p><img src="{source}" alt="{words}"></p>')
    return "\n".join(parts)


def _table(table: Table) -> str:
    caption = [f"<caption>{escape(table.caption)}</caption>"] if table.caption else []
    heads = [f"<tr>{''.join(map(_head, row))}</tr>" for row in table.headings]
    rows = [f"<tr>{''.join(_cell(*cell) for cell in row)}</tr>" for row in table.cells()]
    head = [f"<thead>{''.join(heads)}</thead>"] if heads else []
    return "\n".join(["<table>", *caption, *head, "<tbody>", *rows, "</tbody>", "</table>"])


def _head(head: Head) -> str:
    """A corner without words heads nothing."""
    return _tag("th", head_attributes(head), head.text) if head.text else _tag("td", spanning(head.span, head.down), "")


def _cell(column: Column, cell: Cell, span: int) -> str:
    if column.is_head and cell:
        return _tag("th", 'scope="row"', cell)
    return _tag("td", " ".join(filter(None, ['align="right"' * column.is_number, spanning(span)])), cell)


def _tag(name: str, attributes: str, cell: Cell) -> str:
    return f"<{' '.join(filter(None, [name, attributes]))}>{escape(cell)}</{name}>"
