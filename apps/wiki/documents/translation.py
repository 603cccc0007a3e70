"""A finished document with the study's own texts translated (`apps/studies/translations.py`)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from apps.core.tables import Cell, Document, Head, Section, Table

Say = Callable[[str], str]


def worded(document: Document, say: Say) -> Document:
    """Translate all that people read but the title, which a study has in both languages, and what a report printed."""
    return replace(
        document,
        paragraphs=tuple(map(say, document.paragraphs)),
        sections=tuple(_section(section, say) for section in document.sections),
    )


def texts_of(document: Document) -> list[str]:
    """Return each text that `worded` asks to translate once, in its order."""
    texts: dict[str, None] = {}

    def note(text: str) -> str:
        texts[text] = None
        return text

    worded(document, note)
    return list(texts)


def _section(section: Section, say: Say) -> Section:
    changed: dict[str, Any] = {
        "heading": say(section.heading),
        "items": tuple(map(say, section.items)),
        "paragraphs": tuple(map(say, section.paragraphs)),
    }
    if section.picture:
        changed["picture"] = replace(section.picture, words=say(section.picture.words))
    if section.table:
        changed["table"] = _table(section.table, say)
    return replace(section, **changed)


def _table(table: Table, say: Say) -> Table:
    if table.is_quoted:
        return replace(table, caption=say(table.caption))
    return replace(
        table,
        caption=say(table.caption),
        columns=tuple(replace(column, title=say(column.title)) for column in table.columns),
        heads=tuple(tuple(_head(head, say) for head in row) for row in table.heads),
        rows=tuple(tuple(_cell(cell, say) for cell in row) for row in table.rows),
    )


def _head(head: Head, say: Say) -> Head:
    return replace(head, text=say(head.text))


def _cell(cell: Cell, say: Say) -> Cell:
    return say(cell) if isinstance(cell, str) else cell
