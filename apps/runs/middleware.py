"""Middleware that answers pages with 410 and an explanation when the bytes that they need are lost."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from apps.runs.artefacts.store import LostBytesError

log = logging.getLogger(__name__)


class LostBytesMiddleware:
    """For pages; the REST interface answers as problem details."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, LostBytesError):
            return None
        log.error("%s: %s", request.path, error)
        return render(request, "410.html", {"reason": str(error)}, status=410)
