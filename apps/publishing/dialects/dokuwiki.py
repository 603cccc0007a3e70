"""DokuWiki. It knows no entities, so text stands between `%%` marks, where nothing is read; a run of percent signs,
which
would end that, stands in `<nowiki>`. Plain words and numbers need neither.
"""

import re

from apps.lib.tables import Cell, Document, Section, Table
from apps.publishing.dialects.text import address, clean

# words that begin large at most, and numbers: no camel case, smiley (FIXME), link, entity (1x1) or mark can be in them
_PLAIN = re.compile(r"(?:[A-Z]?[a-z]+|[−±≥≤~]?\d{1,3}(?:[.\u202f]\d+)*)(?:[ \u00a0](?:[a-z]+|\d+(?:\.\d+)?))*")


def escape(cell: Cell) -> str:
    return r"\\ ".join(_line(line.strip()) for line in clean(cell).split("\n"))


def _line(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_marked(part) for part in re.split("(%+)", text) if part)


def _marked(part: str) -> str:
    """White space at the ends stays outside: not every reader takes marks that stand beside it from within."""
    if part.startswith("%"):
        return f"<nowiki>{part}</nowiki>"
    inner = part.strip()
    return part.replace(inner, f"%%{inner}%%", 1) if inner else part


def _link_words(text: str) -> str:
    """A link's own text is shown as it stands, so there is nothing to escape it with: what could end it is left out."""
    return re.sub(r"[^\w .,-]", "", text)


def render(document: Document) -> str:
    # headings show text as it stands, marks included, so the title is a line in bold
    parts = [f"**{escape(document.title)}**", *(escape(paragraph) for paragraph in document.paragraphs)]
    parts += [_section(section) for section in document.sections]
    parts.append(
        f"{escape(document.footer.text)} [[{address(document.footer.address)}|{_link_words(document.footer.link)}]]"
    )
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> str:
    parts = [f"**{escape(section.heading)}**"]
    parts += [escape(paragraph) for paragraph in section.paragraphs]
    if section.items:
        parts.append("\n".join(f"  * {escape(item)}" for item in section.items))
    if section.table:
        parts.append(_table(section.table))
    if section.picture:
        parts.append(f"{escape(section.picture.words)} [[{address(section.picture.address)}|PNG]]")
    return "\n\n".join(parts)


def _table(table: Table) -> str:
    lines = [f"{escape(table.caption)}\n"] if table.caption else []
    lines.append("^ " + " ^ ".join(escape(column.title) for column in table.columns) + " ^")
    for row in table.rows:
        cells = (
            f"  {escape(cell)} " if column.is_number else f" {escape(cell)} "
            for column, cell in zip(table.columns, row, strict=True)
        )
        lines.append("|" + "|".join(cells) + "|")
    return "\n".join(lines)
