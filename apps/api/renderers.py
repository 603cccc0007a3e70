"""The formats of an answer. JSON takes plain data; the others take a `Document` and write it in their dialect."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from apps.core.strict_json import to_json
from apps.wiki import dialects


class JSON(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: object, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return b"" if data is None else to_json(data)


class DialectRenderer(BaseRenderer):
    """A document in one dialect; what is no document (an error) is JSON."""

    charset = "utf-8"
    also: tuple[str, ...] = ()

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return dialects.render(str(self.format), data).encode()


class CSV(DialectRenderer):
    media_type = "text/csv"
    format = "csv"


class MediaWiki(DialectRenderer):
    media_type = "text/x-mediawiki"
    also = ("text/x-wiki",)
    format = "mediawiki"


class DokuWiki(DialectRenderer):
    media_type = "text/x-dokuwiki"
    format = "dokuwiki"


class Markdown(DialectRenderer):
    media_type = "text/markdown"
    format = "markdown"


class HTML(DialectRenderer):
    """A fragment, for pages that are made elsewhere."""

    media_type = "text/html"
    format = "html"


class NDJSON(BaseRenderer):
    """One JSON object a line; the view streams the lines."""

    media_type = "application/x-ndjson"
    format = "ndjson"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return b"".join(to_json(row) + b"\n" for row in data)


class PictureRenderer(BaseRenderer):
    """Drawn by `pictures.py`, which the view calls; what is no picture (an error) is JSON."""

    charset = None

    def render(
        self, data: object, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return to_json(data)


class SVG(PictureRenderer):
    media_type = "image/svg+xml"
    format = "svg"


class PNG(PictureRenderer):
    media_type = "image/png"
    format = "png"


class ZIP(PictureRenderer):
    """Tables in one file; the view makes it."""

    media_type = "application/zip"
    format = "zip"


PICTURES = [SVG, PNG]
FILES = [JSON, CSV, ZIP]
DOCUMENT = [JSON, CSV, MediaWiki, DokuWiki, Markdown]
ROWS = [JSON, CSV, NDJSON]


class WeighedNegotiation(BaseContentNegotiation):
    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type in (kind, "*/*")), None)

    def select_renderer(  # type: ignore[override]
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        if request.method == "OPTIONS":  # OPTIONS is answered in JSON, whatever formats the resource has
            return JSON(), JSON.media_type
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
    """Parse one part of an `Accept` header: `text/csv;q=0.9` → ("text/csv", 0.9).

    A weight that is no number is 0, so that the type counts as not accepted.
    """
    kind, *parameters = [piece.strip().lower() for piece in part.split(";")]
    quality = next((value for name, _, value in (one.partition("=") for one in parameters) if name == "q"), "1")
    try:
        return kind, min(max(float(quality), 0.0), 1.0)
    except ValueError:
        return kind, 0.0


def _weight(renderer: BaseRenderer, ranges: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """Return (quality, how exactly the header names it) of a renderer's media type.

    The most exact range decides, as RFC 9110 says: 2 for the type itself, 1 for `text/*`, 0 for `*/*`, -1 for none.
    """
    best = (-1, 0.0)
    for media_type in (str(renderer.media_type), *getattr(renderer, "also", ())):
        levels = {media_type: 2, f"{media_type.partition('/')[0]}/*": 1, "*/*": 0}
        best = max([best, *((levels[kind], quality) for kind, quality in ranges if kind in levels)])
    return best[1], best[0]
