"""HTML as a fragment, to be set into any page: headings, paragraphs, lists, tables and pictures, no style and no script."""

from html import escape as escape_html

from apps.lib.tables import Cell, Column, Document, Section, Table
from apps.publishing.dialects.text import address, clean


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
        source, words = escape_html(address(section.picture.address)), escape(section.picture.words)
        parts.append(f'<p><img src="{source}" alt="{words}"></p>')
    return "\n".join(parts)


def _table(table: Table) -> str:
    caption = [f"<caption>{escape(table.caption)}</caption>"] if table.caption else []
    heads = "".join(map(_head, table.columns))
    rows = [f"<tr>{''.join(map(_cell, table.columns, row))}</tr>" for row in table.rows]
    body = "\n".join([*caption, f"<thead><tr>{heads}</tr></thead>", "<tbody>", *rows, "</tbody>"])
    return f"<table>\n{body}\n</table>"


def _head(column: Column) -> str:
    """A corner without words heads nothing."""
    return f'<th scope="col">{escape(column.title)}</th>' if column.title else "<td></td>"


def _cell(column: Column, cell: Cell) -> str:
    return f'<td align="right">{escape(cell)}</td>' if column.is_number else f"<td>{escape(cell)}</td>"
