"""Answers that a script can ask for again: the same content has the same entity tag, and costs a 304 only."""

import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from rest_framework.request import Request

from apps.api.renderers import JSON
from apps.core.http import begun, cached_privately, entity_tag, has_it_already, not_modified
from apps.core.strict_json import to_json
from apps.core.tables import Document
from apps.labs.isolation import visible_labs
from apps.wiki import dialects

Sent = TypeVar("Sent", bound=HttpResponseBase)


def publish(
    request: Request,
    data: object,
    document: Callable[[], Document],
    permalink: str,
    beside: object = None,
) -> HttpResponse:
    """Answer with `data` as JSON, or with `document()` in the format that was asked for; 304 where nothing has changed.

    `beside`: what the document shows that is not in `data`. The entity tag is a hash of the data, the format and the
    program's version. A document's footer also says when it was made, which the tag does not cover, so documents have
    weak tags.
    """
    renderer: Any = request.accepted_renderer
    content = to_json(data)
    tag = _tag(renderer, content + to_json(beside))
    modified = dated(request, tag)
    if has_it_already(request._request, tag, modified):
        return not_modified(tag, modified)
    body = content if isinstance(renderer, JSON) else renderer.render(document())
    return _sent(HttpResponse(body, content_type=_kind(renderer)), tag, modified, permalink)


def no_document() -> Document:
    """Raise an error: stands for the document of a resource that has no other format than JSON."""
    raise AssertionError("data alone")  # where only JSON can have been asked for


def stream(request: Request, mark: object, document: Callable[[], Document], permalink: str) -> HttpResponseBase:
    """Stream `document()` in the format that was asked for, in constant memory however long its tables are.

    `mark`: plain data that change whenever the content does. The entity tag is made of it, for the content itself is
    not known before it is sent.
    """
    renderer: Any = request.accepted_renderer
    tag = _tag(renderer, to_json(mark))
    modified = dated(request, tag)
    if has_it_already(request._request, tag, modified):
        return not_modified(tag, modified)
    pieces = begun(dialects.pieces(renderer.format, document()))
    return _sent(StreamingHttpResponse(pieces, content_type=_kind(renderer)), tag, modified, permalink)


def _tag(renderer: Any, content: bytes) -> str:
    return entity_tag(content, renderer.format, settings.VERSION, weak=renderer.format not in ("json", "csv"))


def _kind(renderer: Any) -> str:
    return f"{renderer.media_type}; charset={renderer.charset}" if renderer.charset else str(renderer.media_type)


def _sent(response: Sent, tag: str, modified: int, permalink: str) -> Sent:
    response.headers["Link"] = f'<{permalink}>; rel="canonical"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    cached_privately(response, tag, modified)
    return response


KEPT_S = 30 * 86_400


def dated(request: Request, tag: str) -> int:
    """Return when the content with this tag was first sent to this address, in seconds since the epoch.

    Another content has a later date, even within the same second. What the cache has forgotten is dated anew, so that
    it is sent once more.
    """
    key = f"answer:{_asked(request)}"
    known = cache.get(key)
    if known and known[0] == tag:
        return int(known[1])
    date = max(int(time.time()), known[1] + 1 if known else 0)
    cache.set(key, (tag, date), KEPT_S)
    return date


def _asked(request: Request) -> str:
    """Return a hash of the address, the format and the labs that the caller may see."""
    renderer: Any = request.accepted_renderer
    return sha256(repr([request.build_absolute_uri(), renderer.format, visible_labs()]).encode()).hexdigest()
