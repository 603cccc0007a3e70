"""Addresses with a NUL, which PostgreSQL keeps in no text: 400 before anything is looked up by it."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class PlainAddressMiddleware:
    """For pages. Resources of the REST interface answer as problem details; forms tell it at the field."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith("/api/"):
            _check(request)
        return self.get_response(request)


def _check(request: HttpRequest) -> None:
    if "\0" in request.path:
        raise BadRequest("Found a NUL character (%00) in the address, expected text.")
    if name := nul_in(request):
        raise BadRequest(f"Found a NUL character (%00) in {name!r}, expected text.")


def nul_in(request: HttpRequest) -> str:
    """The first parameter of the query that has one; a name that has one is called so too."""
    if "%00" not in request.META.get("QUERY_STRING", ""):
        return ""
    return next(
        (
            name or "a parameter without a name"
            for name, values in request.GET.lists()
            if "\0" in f"{name}{''.join(values)}"
        ),
        "",
    )
