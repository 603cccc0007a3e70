"""Which form the answer takes: the address's suffix or `?format=`, else `Accept` by weight. Nothing fits: 406."""

from collections.abc import Iterable, Sequence
from typing import Any

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class WeighedNegotiation(BaseContentNegotiation):
    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type in (kind, "*/*")), None)

    def select_renderer(  # type: ignore[override]
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        wanted = format_suffix or request.query_params.get("format")
        if wanted:
            for renderer in renderers:
                if renderer.format == wanted:
                    return renderer, str(renderer.media_type)
            formats = ", ".join(str(renderer.format) for renderer in renderers)
            raise NotAcceptable(_detail(f"format {wanted!r}", formats))
        return self._by_accept(request, renderers)

    def _by_accept(self, request: Request, renderers: Sequence[BaseRenderer]) -> tuple[BaseRenderer, str]:
        accept = request.headers.get("Accept") or "*/*"
        ranges = [_range(part) for part in accept.split(",") if part.strip()]
        weighed = [(_weight(renderer, ranges), -place, renderer) for place, renderer in enumerate(renderers)]
        (quality, _), _, renderer = max(weighed, key=lambda one: one[:2])
        if quality <= 0:
            raise NotAcceptable(_detail(f"Accept: {accept}", ", ".join(str(one.media_type) for one in renderers)))
        return renderer, str(renderer.media_type)


def _detail(found: str, expected: str) -> Any:
    return f"Found {found}, expected one of: {expected}."


def _range(part: str) -> tuple[str, float]:
    """`text/csv;q=0.9` → ("text/csv", 0.9). A weight that is no number is 0: it was not asked for."""
    kind, *parameters = [piece.strip().lower() for piece in part.split(";")]
    quality = next((value for name, _, value in (one.partition("=") for one in parameters) if name == "q"), "1")
    try:
        return kind, min(max(float(quality), 0.0), 1.0)
    except ValueError:
        return kind, 0.0


def _weight(renderer: BaseRenderer, ranges: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """(quality, how exactly it was named): the most exact range decides, as RFC 9110 says."""
    best = (-1, 0.0)
    for media_type in (str(renderer.media_type), *getattr(renderer, "also", ())):
        levels = {media_type: 2, f"{media_type.partition('/')[0]}/*": 1, "*/*": 0}
        best = max([best, *((levels[kind], quality) for kind, quality in ranges if kind in levels)])
    return best[1], best[0]
