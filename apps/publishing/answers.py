"""An answer that a bot can ask for again: the same content has the same tag, and costs a 304."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from apps.lib.http import cached_privately, entity_tag, has_it_already, not_modified
from apps.lib.tables import Document
from apps.publishing.renderers import JSON, to_json


def publish(
    request: Request,
    data: Any,
    document: Callable[[], Document],
    modified: datetime | None,
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
    whole = content + to_json(beside)
    tag = entity_tag(whole, renderer.format, settings.VERSION, weak=renderer.format not in ("json", "csv"))
    if has_it_already(request._request, tag):
        return not_modified(tag, modified)
    body = content if isinstance(renderer, JSON) else renderer.render(document())
    charset = f"; charset={renderer.charset}" if renderer.charset else ""
    response = HttpResponse(body, content_type=f"{renderer.media_type}{charset}")
    response.headers["Link"] = f'<{permalink}>; rel="canonical"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    cached_privately(response, tag, modified)
    return response
