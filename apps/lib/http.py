"""Small certainties about HTTP answers: entity tags, and files that a browser keeps and never shows."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import AnyStr

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.http import http_date, parse_etags, parse_http_date_safe, quote_etag

LUMP = 1 << 16  # bytes or characters of a stream that go out at once
VARY = ("Accept", "Authorization", "Cookie")


def entity_tag(content: bytes, *kind: str, weak: bool = False) -> str:
    """A tag of what is said, and in which form. Weak where two answers may differ in when they were made."""
    digest = hashlib.sha256(b"\0".join([content, *(word.encode() for word in kind)])).hexdigest()[:40]
    return f'W/"{digest}"' if weak else quote_etag(digest)


def has_it_already(request: HttpRequest, tag: str, modified: int) -> bool:
    """If-None-Match, compared weakly, and only without one If-Modified-Since, as RFC 9110 says. `modified`: seconds since the epoch."""
    if "If-None-Match" not in request.headers:
        since = parse_http_date_safe(request.headers.get("If-Modified-Since", ""))
        return since is not None and modified <= since
    known = parse_etags(request.headers["If-None-Match"])
    return known == ["*"] or tag.removeprefix("W/") in [one.removeprefix("W/") for one in known]


def cached_privately(response: HttpResponseBase, tag: str, modified: int) -> None:
    """May be kept by who asked, and must be asked about again each time: that costs a 304."""
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Last-Modified"] = http_date(modified)
    patch_vary_headers(response, VARY)


def not_modified(tag: str, modified: int) -> HttpResponse:
    response = HttpResponse(status=304)
    del response.headers["Content-Type"]
    cached_privately(response, tag, modified)
    return response


def begun(pieces: Iterable[AnyStr]) -> Iterator[AnyStr]:
    """The same in fewer pieces, for each is a write of its own. The first is made at once: what goes wrong until there is an error, and
    no torn answer.
    """
    lumps = _lumps(pieces)
    return chain([first for first in [next(lumps, None)] if first], lumps)


def _lumps(pieces: Iterable[AnyStr]) -> Iterator[AnyStr]:
    waiting: list[AnyStr] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= LUMP:
            yield piece[:0].join(waiting)
            waiting, size = [], 0
    if waiting:
        yield waiting[0][:0].join(waiting)


def attachment(pieces: Iterable[bytes], name: str, size: int | None = None) -> StreamingHttpResponse:
    """Bytes of unknown origin: to be saved under a harmless name, never shown or run."""
    response = StreamingHttpResponse(pieces, content_type="application/octet-stream")
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip(".")[:120] or "artefact"
    response.headers["Content-Disposition"] = f'attachment; filename="{safe}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    if size is not None:
        response.headers["Content-Length"] = str(size)
    return response
