"""The language of the pages: the one that a person chose. What a browser prefers does not count, because some pages are
in English only, and half a page in another language is worse than none.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation


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
    """Kept in a cookie by Django's own `set_language`."""
    wanted = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return wanted if wanted in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
