"""HTTP responses shared by all apps: entity tags, streams, downloads, problem details (RFC 9457), the limit on uploads."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import chain
from typing import Any, AnyStr

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.http import http_date, parse_etags, parse_http_date_safe, quote_etag

from apps.core.units import size

LUMP = 1 << 16  # bytes or characters of a stream that go out at once
VARY = ("Accept", "Authorization", "Cookie")


def entity_tag(content: bytes, *kind: str, weak: bool = False) -> str:
    """Return an ETag for content and form; weak where two answers may differ in when they were made."""
    digest = hashlib.sha256(b"\0".join([content, *(word.encode() for word in kind)])).hexdigest()[:40]
    return f'W/"{digest}"' if weak else quote_etag(digest)


def has_it_already(request: HttpRequest, tag: str, modified: int) -> bool:
    """Return whether the client's copy is current, by If-None-Match, or without it If-Modified-Since (RFC 9110).

    Args:
        modified: Seconds since 1970.
    """
    if "If-None-Match" not in request.headers:
        since = parse_http_date_safe(request.headers.get("If-Modified-Since", ""))
        return since is not None and modified <= since
    known = parse_etags(request.headers["If-None-Match"])
    return known == ["*"] or tag.removeprefix("W/") in [etag.removeprefix("W/") for etag in known]


def cached_privately(response: HttpResponseBase, tag: str, modified: int) -> None:
    """Let the client store the response and ask about it each time, which costs a 304."""
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
    """Return the pieces joined into larger ones, the first made at once so that an error before it is no torn response."""
    lumps = gather(pieces)
    return chain([first for first in [next(lumps, None)] if first], lumps)


def gather(pieces: Iterable[AnyStr]) -> Iterator[AnyStr]:
    """Yield the same bytes or characters in pieces of 64 KiB and more."""
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
    """Return bytes of unknown origin as a download with a harmless name, never shown or run."""
    response = StreamingHttpResponse(pieces, content_type="application/octet-stream")
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip(".")[:120] or "artefact"
    response.headers["Content-Disposition"] = f'attachment; filename="{safe}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    if size is not None:
        response.headers["Content-Length"] = str(size)
    return response


PROBLEM_ADDRESSES = ("/api/", "/agent/")  # what scripts and agents ask; everything else is read by people


def wants_problem(request: HttpRequest) -> bool:
    """Return whether errors at this address are problem details; people get pages."""
    return request.path.startswith(PROBLEM_ADDRESSES)


def problem_body(status: int, detail: str, **more: Any) -> dict[str, object]:
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> JsonResponse:
    body = problem_body(status, detail, **more)
    return JsonResponse(body, status=status, content_type="application/problem+json", headers=headers)


def upload_too_large(request: HttpRequest) -> str:
    """Return a sentence if the announced length exceeds the limit, else an empty string.

    Call it before reading the body.
    """
    announced = int(request.META.get("CONTENT_LENGTH") or 0)
    if announced <= settings.MAX_UPLOAD:
        return ""
    return f"Found {size(announced)} in one request, expected at most {size(settings.MAX_UPLOAD)}; send it in parts."
