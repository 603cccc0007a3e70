"""What the short ways past Django's middleware share (`starting`, `uploading`): its look at a request's head, and the headers of an answer."""

from typing import Any

from csp.middleware import CSPMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.cache import patch_vary_headers

from apps.publishing.renderers import to_json

# The middleware that looks at the host and gives every answer its headers.
MIDDLEWARE: list[Any] = [
    kind(lambda _: HttpResponse())
    for kind in (SecurityMiddleware, CSPMiddleware, CommonMiddleware, XFrameOptionsMiddleware)
]


class UnusualError(Exception):
    """Nothing was done; the view will do it, or say why not."""


def is_let_through(request: ASGIRequest) -> bool:
    """Leaves in the request what the answer's headers need. Raises `SuspiciousOperation`."""
    return not any(one.process_request(request) for one in MIDDLEWARE if hasattr(one, "process_request"))


def answer(request: ASGIRequest, shown: dict[str, Any], *, status: int, allow: str) -> HttpResponse:
    """`shown`, which has its own address, as the view would answer it."""
    more = {"Location": shown["url"], "Allow": allow}
    response = HttpResponse(to_json(shown), status=status, content_type="application/json", headers=more)
    patch_vary_headers(response, ("Cookie",))
    for one in reversed(MIDDLEWARE):
        response = one.process_response(request, response)
    return response
