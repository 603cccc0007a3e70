"""Drawings of a host with this site's addresses: a box of one part links to its page, a box of many opens them."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.template.loader import render_to_string
from django.urls import reverse

from apps.dashboard.tree import page_of
from apps.inventory.drawing.boxes import Box
from apps.inventory.drawing.storage import graph_of
from apps.inventory.drawing.svg import Drawing, drawing_of

Thing = dict[str, Any]


def drawing(topology: Thing, opened: Sequence[str] = ()) -> Drawing:
    """Return the drawing of a topology for a page; `opened` are keys of boxes to draw part by part, as in `?open=`."""
    title = f"Drawing of {topology['name']}: what hangs on what, from left to right"
    return drawing_of(graph_of(topology), title, _addresses(topology["id"], opened), opened)


def as_file(topology: Thing, root: str) -> bytes:
    """Return the drawing as a file for wikis, whose boxes link to their pages under `root`."""
    title = f"{topology['name']}: storage and network"
    made = drawing_of(graph_of(topology), title, lambda box: _page(box, root))
    return render_to_string("inventory/drawing-file.svg", {"drawing": made}).encode()


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
