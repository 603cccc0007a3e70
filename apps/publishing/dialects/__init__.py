"""The wiki dialects and CSV: one encoder per format, applied last, to every text, so that text is never anything
else.
"""

from collections.abc import Iterator
from types import ModuleType

from apps.lib.tables import Document
from apps.publishing.dialects import csv, dokuwiki, html, markdown, mediawiki

DIALECTS: dict[str, ModuleType] = {
    "csv": csv,
    "mediawiki": mediawiki,
    "dokuwiki": dokuwiki,
    "markdown": markdown,
    "html": html,
}


def pieces(name: str, document: Document) -> Iterator[str]:
    """The text bit by bit; of a `LongTable` one row at a time."""
    found: Iterator[str] = DIALECTS[name].pieces(document)
    return found


def render(name: str, document: Document) -> str:
    return "".join(pieces(name, document))
