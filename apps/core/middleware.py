"""Middleware for every request: the language of pages, NUL characters in addresses, values that the database refuses.

The language is the one that a person chose. The browser's preference does not count, because some pages are in English
only, and a page in two languages is worse than one in the wrong language.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.db import DataError, IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import translation

from apps.core.http import problem, wants_problem


class LanguageMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/api/"):
            return self._page(request)
        with translation.override(settings.LANGUAGE_CODE):  # one address is one answer, whoever asks
            return self.get_response(request)

    def _page(self, request: HttpRequest) -> HttpResponse:
        language = chosen(request)
        with translation.override(language):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        return response


def chosen(request: HttpRequest) -> str:
    """Return the language from the cookie of Django's `set_language`, or the default."""
    wanted = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return wanted if wanted in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


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
    """Return the name of the first query parameter with a NUL character, or an empty string."""
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


log = logging.getLogger(__name__)
UNIQUE, FOREIGN_KEY, EXCLUSION = "23505", "23503", "23P01"  # SQLSTATE
CONFLICTS = {
    UNIQUE: "The same name, address or number was saved at the same time by somebody else; nothing of this was saved.",
    EXCLUSION: "Something that overlaps with it was saved at the same time; nothing of this was saved.",
    FOREIGN_KEY: "It refers to something that is gone by now; nothing of this was saved.",
}


class RefusedInputMiddleware:
    """One place for pages, the REST interface and agents."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and wants_problem(request):
            expected = response.headers["Allow"]
            detail = f"Found the method {request.method}, expected {expected}."
            return problem(405, detail, headers={"Allow": expected}, found=request.method, expected=expected)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        refusal = refusal_of(error)
        if refusal is None:
            return None
        status, detail = refusal
        log.warning("%s %s: %d, %s", request.method, request.path[:200], status, " ".join(str(error).split())[:300])
        if wants_problem(request):
            return problem(status, detail)
        page = "409.html" if status == 409 else "400.html"
        return render(request, page, {"reason": detail, "is_form": request.method == "POST"}, status=status)


def refusal_of(error: Exception) -> tuple[int, str] | None:
    """Return status and sentence for a value that the database refused; None for every other error."""
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        return 400, "Found half of a surrogate pair, which is no character, expected text."
    if isinstance(error, UnicodeError) and "idna" in str(error):
        return 400, "Found an address whose host name cannot be, expected parts of 1 to 63 letters between the points."
    cause: Any = error.__cause__
    state = getattr(cause, "sqlstate", None) or ""
    words = str(getattr(getattr(cause, "diag", None), "message_primary", None) or cause or error)
    if isinstance(error, IntegrityError):
        if state in CONFLICTS:
            return 409, CONFLICTS[state]
        return 400, f"The database refused a value: {words[:300]}."
    if isinstance(error, DataError):
        return 400, f"Found a value that the database cannot keep: {words[:300]}."
    return None
