"""A host's drawing with the addresses of this site: a box of one part leads to its page, a box of many opens them."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from apps.dashboard.addresses import page_of
from apps.inventory.drawing.boxes import Box
from apps.inventory.drawing.storage import graph_of
from apps.inventory.drawing.svg import drawing_file, drawing_of

Thing = dict[str, Any]


def drawing(topology: Thing, opened: Sequence[str] = ()) -> SafeString:
    """For a page. `opened`: keys of boxes to be shown part by part, as they stand in `?open=`."""
    title = f"Drawing of {topology['name']}: what hangs on what, from left to right"
    made = drawing_of(graph_of(topology), title, _addresses(topology["id"], opened), opened)
    return mark_safe(made)  # noqa: S308 (svg.py escapes every word that it writes)


def as_file(topology: Thing, root: str) -> bytes:
    """For wikis: boxes of one part link to their pages under `root` (`https://spindle.example.org`)."""
    return drawing_file(graph_of(topology), f"{topology['name']}: storage and network", lambda box: _page(box, root))


def _addresses(host: int, opened: Sequence[str]) -> Callable[[Box], str]:
    base = reverse("host-drawing", args=[host])

    def address(box: Box) -> str:
        if box.count == 1:
            return _page(box)
        return f"{base}?{urlencode([('open', key) for key in [*opened, box.key]])}"

    return address


def _page(box: Box, root: str = "") -> str:
    page = box.parts[0].page
    return f"{root}{page_of(*page)}" if page and box.count == 1 else ""
