"""Whether who reads a page wants MB (1000) or MiB (1024): one choice for all pages, kept in a cookie.

Inside nothing depends on it; the template filters for bandwidths ask `base()`. The REST interface never does: there the
address says it, so that one address is one answer.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from apps.lib.units import BASES

COOKIE = "spindle_base"
YEAR = 365 * 24 * 3600
_base: ContextVar[int] = ContextVar("base of the reader's units", default=BASES[0])


def base() -> int:
    """1000 or 1024, of the request that is being answered; 1000 outside of one."""
    return _base.get()


class ReaderBaseMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        wants = request.COOKIES.get(COOKIE) == str(BASES[1]) and not request.path.startswith("/api/")
        token = _base.set(BASES[1] if wants else BASES[0])
        try:
            return self.get_response(request)
        finally:
            _base.reset(token)


def unit_base(request: HttpRequest) -> dict[str, Any]:
    """For templates and, as an attribute of the page, for its scripts."""
    return {"unit_base": base()}


def remember(response: HttpResponseBase, chosen: int) -> None:
    response.set_cookie(
        COOKIE, str(chosen), max_age=YEAR, samesite="Lax", httponly=True, secure=settings.SESSION_COOKIE_SECURE
    )
