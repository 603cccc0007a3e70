"""The forms of an answer. JSON takes plain data; the others take a `Document` and hand it to their dialect."""

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.renderers import BaseRenderer

from apps.publishing import dialects


class JSON(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return b"" if data is None else to_json(data)


def to_json(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z, default=str)


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
    """One JSON object a line; the view streams them."""

    media_type = "application/x-ndjson"
    format = "ndjson"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return b"".join(to_json(row) + b"\n" for row in data)


class Picture(BaseRenderer):
    """Drawn by `pictures.py`, which the view calls; what is no picture (an error) is JSON."""

    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return to_json(data)


class SVG(Picture):
    media_type = "image/svg+xml"
    format = "svg"


class PNG(Picture):
    media_type = "image/png"
    format = "png"


class ZIP(Picture):
    """Tables in one file; the view makes it."""

    media_type = "application/zip"
    format = "zip"


PICTURES = [SVG, PNG]
FILES = [JSON, CSV, ZIP]
DOCUMENT = [JSON, CSV, MediaWiki, DokuWiki, Markdown]
ROWS = [JSON, CSV, NDJSON]
