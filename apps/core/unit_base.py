"""Whether who reads wants MB (1000) or MiB (1024): one choice for all pages, kept in a cookie; `?base=` in an address goes before it.

Inside nothing depends on it: sentences keep their quantities (`apps/core/quantities.py`), and what writes for people asks `base()`. In the REST
interface only the address says it, so that one address is one answer.
"""

from collections.abc import Callable
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from apps.core.units import BASES

COOKIE = "spindle_base"
YEAR = 365 * 24 * 3600
_base: ContextVar[int] = ContextVar("base of the reader's units", default=BASES[0])


def base() -> int:
    """Return the reader's base, 1000 or 1024; 1000 outside of a request."""
    return _base.get()


class ReaderBaseMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = _base.set(_wanted(request))
        try:
            return self.get_response(request)
        finally:
            _base.reset(token)


def _wanted(request: HttpRequest) -> int:
    cookie = "" if request.path.startswith("/api/") else request.COOKIES.get(COOKIE)
    return BASES[1] if request.GET.get("base", cookie) == str(BASES[1]) else BASES[0]


def without_base(address: str) -> str:
    """Return an address without its `base` parameter, which would override the reader's choice."""
    path, mark, query = address.partition("?")
    rest = "&".join(pair for pair in query.split("&") if not pair.startswith("base="))
    return f"{path}{mark and rest and '?'}{rest}"


def unit_base(request: HttpRequest) -> dict[str, object]:
    """Return the template context with the reader's base."""
    return {"unit_base": base()}


def remember(response: HttpResponseBase, chosen: int) -> None:
    response.set_cookie(
        COOKIE, str(chosen), max_age=YEAR, samesite="Lax", httponly=True, secure=settings.SESSION_COOKIE_SECURE
    )
