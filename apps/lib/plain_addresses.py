"""Addresses with a NUL, which PostgreSQL keeps in no text: 400 before any page looks something up by it."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class PlainAddressMiddleware:
    """The REST interface has words of its own for each parameter; forms tell it at the field."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith("/api/"):
            _check(request)
        return self.get_response(request)


def _check(request: HttpRequest) -> None:
    if "\0" in request.path:
        raise BadRequest("Found a NUL character (%00) in the address, expected text.")
    if "%00" in request.META.get("QUERY_STRING", ""):
        names = [name for name, values in request.GET.lists() if "\0" in f"{name}{''.join(values)}"]
        if names:
            raise BadRequest(f"Found a NUL character (%00) in {names[0]!r}, expected text.")
