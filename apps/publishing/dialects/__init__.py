"""The wiki dialects and CSV: one encoder per format, applied last, to every text, so that text is never anything
else.
"""

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


def render(name: str, document: Document) -> str:
    text: str = DIALECTS[name].render(document)
    return text
