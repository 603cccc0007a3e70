"""Who changes inventory, for its history: `with by("agent", host.name): …`, or `say_who(…)` inside such a block."""

from collections.abc import Callable
from typing import Any

import pghistory
from django.http import HttpRequest, HttpResponse

from apps.inventory.vocabulary import Author
from apps.labs.middleware import SAFE_METHODS


def by(author: Author, name: str, **more: Any) -> Any:
    """Attribute all changes inside the block to this author, as done together.

    A block inside another block changes the author; the outer block decides what belongs together.
    """
    return pghistory.context(by=str(author), name=name, **more)


def say_who(author: Author, name: str, **more: Any) -> None:
    """Set the author of the changes from here to the end of the open block; do nothing if no block is open."""
    pghistory.context(by=str(author), name=name, **more)


class AuthorMiddleware:
    """Sets the signed-in person as the author of a request's changes; it stands behind `LabMiddleware`.

    Authentication by token sets its own author once it is known. Agents' requests are many, and the few that change
    inventory open a block of their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in SAFE_METHODS or request.path.startswith("/agent/"):
            return self.get_response(request)
        member: Any = getattr(request, "member", None)
        with by(Author.PERSON, str(request.user), id=request.user.pk) if member else pghistory.context():
            return self.get_response(request)
