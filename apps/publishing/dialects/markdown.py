"""Markdown as GitHub reads it. Marks become entities or get a backslash. Links, mentions, issue numbers and emoji are
made
by GitHub from finished text, where escapes are gone; an empty comment in their middle keeps them apart.
"""

import re

from apps.lib.tables import Cell, Document, Section, Table
from apps.publishing.dialects.text import address, clean, one_line

_SPECIAL = re.compile(
    r"[@#]|:(?!\s|$)|\bwww(?=\.)|[\\`*_{}\[\]!~^]|[|<>&$\"]|(?<!\w)'|'(?![^\W\d_])|^[-+=]|^(?P<number>\d{1,9})(?P<point>[.)])(?=\s|$)"
)
_BREAK = "<!-- -->"


def _escaped(found: re.Match[str]) -> str:
    mark = found[0]
    if found["number"]:
        return f"{found['number']}\\{found['point']}"
    if mark in "@#:":
        return f"&#{ord(mark)};{_BREAK}"
    if mark == "www":
        return mark + _BREAK
    return f"&#{ord(mark)};" if mark in "|<>&$\"'=" else f"\\{mark}"


def escape(cell: Cell) -> str:
    return "<br>".join(_SPECIAL.sub(_escaped, line.strip()) for line in clean(cell).split("\n"))


def render(document: Document) -> str:
    parts = [f"## {escape(one_line(document.title))}", *(escape(paragraph) for paragraph in document.paragraphs)]
    parts += [_section(section) for section in document.sections]
    parts.append(
        f"<sub>{escape(document.footer.text)} [{escape(one_line(document.footer.link))}](<{address(document.footer.address)}>)</sub>"
    )
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> str:
    parts = [f"{'#' * (section.level + 1)} {escape(one_line(section.heading))}"]
    parts += [escape(paragraph) for paragraph in section.paragraphs]
    if section.items:
        parts.append("\n".join(f"- {escape(item)}" for item in section.items))
    if section.table:
        parts.append(_table(section.table))
    if section.picture:
        source = section.picture.file or address(section.picture.address)
        parts.append(f"![{escape(one_line(section.picture.words))}](<{source}>)")
    return "\n\n".join(parts)


def _table(table: Table) -> str:
    lines = [f"{escape(table.caption)}\n"] if table.caption else []
    lines.append("| " + " | ".join(escape(column.title) or " " for column in table.columns) + " |")
    lines.append("|" + "|".join(" ---: " if column.is_number else " --- " for column in table.columns) + "|")
    lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)
