"""Who changes inventory, for its history: `with by("agent", host.name): …`, or `say_who(…)` inside such a block."""

from collections.abc import Callable
from typing import Any

import pghistory
from django.http import HttpRequest, HttpResponse

from apps.inventory.vocabulary import Author
from apps.labs.middleware import SAFE_METHODS


def by(author: Author, name: str, **more: Any) -> Any:
    """All changes inside are told as this author's, and as done together. A block inside a block tells who, the outer one what belongs together."""
    return pghistory.context(by=str(author), name=name, **more)


def say_who(author: Author, name: str, **more: Any) -> None:
    """From here to the end of the block that is open; nothing where none is."""
    pghistory.context(by=str(author), name=name, **more)


class AuthorMiddleware:
    """Behind `LabMiddleware`: changes of a request are the signed-in person's; a token says so itself as soon as it is known. Agents'
    requests are many, and the few that change inventory open a block of their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in SAFE_METHODS or request.path.startswith("/agent/"):
            return self.get_response(request)
        member: Any = getattr(request, "member", None)
        with by(Author.PERSON, str(request.user), id=request.user.pk) if member else pghistory.context():
            return self.get_response(request)
