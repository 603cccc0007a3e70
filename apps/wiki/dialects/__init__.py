"""Registry of the wiki dialects and CSV; each escapes every text when it writes it."""

from collections.abc import Iterator
from types import ModuleType

from apps.core.tables import Document
from apps.wiki.dialects import csv, dokuwiki, html, markdown, mediawiki

DIALECTS: dict[str, ModuleType] = {
    "csv": csv,
    "mediawiki": mediawiki,
    "dokuwiki": dokuwiki,
    "markdown": markdown,
    "html": html,
}


def pieces(name: str, document: Document) -> Iterator[str]:
    """Yield a document's text in pieces; of a `LongTable` one row at a time."""
    result: Iterator[str] = DIALECTS[name].pieces(document)
    return result


def render(name: str, document: Document) -> str:
    return "".join(pieces(name, document))
