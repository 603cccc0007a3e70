"""An answer that a bot can ask for again: the same content has the same tag, and costs a 304."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from rest_framework.request import Request

from apps.lib.http import begun, cached_privately, entity_tag, has_it_already, not_modified
from apps.lib.tables import Document
from apps.publishing import dialects
from apps.publishing.dated import dated
from apps.publishing.renderers import JSON, to_json

Sent = TypeVar("Sent", bound=HttpResponseBase)


def publish(
    request: Request,
    data: Any,
    document: Callable[[], Document],
    permalink: str,
    beside: Any = None,
) -> HttpResponse:
    """`data` as JSON, or `document()` in the dialect that was asked for. `beside`: what the document shows besides.

    The tag is a hash of the data, the format and the program's version: all that the content depends on, except when
    it was
    made, which a document's footer tells. So documents have weak tags.
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
    raise AssertionError("data alone")  # where only JSON can have been asked for


def stream(request: Request, mark: Any, document: Callable[[], Document], permalink: str) -> HttpResponseBase:
    """`document()` in the dialect that was asked for, in constant memory however long its tables are.

    `mark`: plain data that change whenever the content does; the tag is made of them, for the content is not known
    before it is sent.
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
