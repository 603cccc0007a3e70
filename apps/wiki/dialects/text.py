"""Text helpers that all dialects use before they escape."""

import re
from collections.abc import Iterable, Iterator

from apps.core.tables import Cell, Head
from apps.core.units import machine

PICTURE_WIDTH = 720  # pixels, of a page's text
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(cell: Cell) -> str:
    """Return a cell as text with one kind of line end and neither tabs nor control characters.

    Wikis use control characters internally.
    """
    text = cell if isinstance(cell, str) else machine(cell)
    return _CONTROLS.sub("\ufffd", _LINE_ENDS.sub("\n", text).replace("\t", " ")).strip()


def one_line(text: str) -> str:
    return " ".join(text.split())


def between(mark: str, parts: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the pieces of every part, with `mark` between two parts."""
    for number, part in enumerate(parts):
        if number:
            yield mark
        yield from part


def spanning(columns: int, rows: int = 1) -> str:
    """Return `colspan="2" rowspan="3"` for HTML and MediaWiki; an empty text for a cell that covers no other."""
    spans = (("colspan", columns), ("rowspan", rows))
    return " ".join(f'{name}="{number}"' for name, number in spans if number > 1)


def head_attributes(head: Head) -> str:
    scope = "colgroup" if head.span > 1 else "col"
    return " ".join(filter(None, [f'scope="{scope}"', spanning(head.span, head.down)]))


def address(url: str) -> str:
    """Encode an address so that no wiki reads a part of it as markup.

    All but letters, digits and ./:?=&%- is encoded, and every `#` but the one before the fragment.
    """
    page, mark, place = url.partition("#")
    return f"{_encoded(page)}{mark}{_encoded(place)}"


def _encoded(url: str) -> str:
    return re.sub(
        r"[^A-Za-z0-9./:?=&%_-]|(?<!:)//|--|__",
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()),
        url,
    )
