"""MediaWiki. Every character that could mean something there becomes a numeric entity (as MediaWiki's own
wfEscapeWikiText
does); entities are shown and never read as markup, also inside templates. `<nowiki>` is not used: text can close it.
"""

import re

from apps.lib.tables import Cell, Document, Section, Table
from apps.publishing.dialects.text import address, clean, one_line

# all but letters, digits, white space and this harmless punctuation; and what is markup only where it stands
_SPECIAL = re.compile(r"[\x21-\x7e](?<![A-Za-z0-9.,/()%-])|^[-+]|-(?=-)|(?<=\bISBN)\s|(?<=\bPMID)\s|(?<=\bRFC)\s")


def escape(cell: Cell) -> str:
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", clean(cell)).replace("\n", "<br />")


def render(document: Document) -> str:
    parts = [f"== {escape(one_line(document.title))} =="]
    parts += [escape(paragraph) for paragraph in document.paragraphs]
    parts += [_section(section) for section in document.sections]
    parts.append(
        f"<small>{escape(document.footer.text)} [{address(document.footer.address)} {escape(one_line(document.footer.link))}]</small>"
    )
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> str:
    marks = "=" * (section.level + 1)
    parts = [f"{marks} {escape(one_line(section.heading))} {marks}"]
    parts += [escape(paragraph) for paragraph in section.paragraphs]
    if section.items:
        parts.append("\n".join(f"* {escape(item)}" for item in section.items))
    if section.table:
        parts.append(_table(section.table))
    if section.picture:  # a link: pictures from other sites are switched off in most wikis
        parts.append(f"[{address(section.picture.address)} {escape(one_line(section.picture.words))}]")
    return "\n\n".join(parts)


def _table(table: Table) -> str:
    lines = ['{| class="wikitable"', *([f"|+ {escape(table.caption)}"] if table.caption else [])]
    lines += [f'! scope="col" | {escape(column.title)}' for column in table.columns]
    for row in table.rows:
        lines.append("|-")
        for column, cell in zip(table.columns, row, strict=True):
            style = 'style="text-align:right" | ' if column.is_number else ""
            lines.append(f"| {style}{escape(cell)}")
    return "\n".join([*lines, "|}"])
