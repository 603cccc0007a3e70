"""Authentication by a lab's token or by a browser session. Either way the request is in one lab's scope."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.inventory.history.authors import say_who
from apps.inventory.vocabulary import Author
from apps.labs.isolation import LabScopes, all_labs, lab_scope, set_scope
from apps.labs.middleware import SAFE_METHODS, readable_scope
from apps.labs.models import Token

USED_AT_MOST_EVERY = timedelta(minutes=1)


class LabTokenAuthentication(BaseAuthentication):
    """Authentication by the header `Authorization: Bearer spl_…`.

    Reading reaches the token's lab and published labs; changing reaches the token's own lab only.
    """

    def authenticate(self, request: Request) -> tuple[Any, Token] | None:
        secret = secret_of(request)
        if secret is None:
            return None
        token = find_token(secret)
        if token is None:
            raise AuthenticationFailed("This token is unknown, revoked or expired.")
        adopt(request, token)
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Spindle"'


class LabSessionAuthentication(SessionAuthentication):
    """The signed-in person in the lab that the middleware chose; changes need the CSRF token."""


def secret_of(request: Request | HttpRequest) -> str | None:
    """Return the secret of the request's bearer token; None where it has none."""
    return secret_in(request.headers.get("Authorization", ""))


def secret_in(authorization: str) -> str | None:
    """Return the secret in an `Authorization` header; None for any other scheme than Bearer."""
    kind, _, secret = authorization.partition(" ")
    return secret.strip() if kind.lower() == "bearer" else None


def find_token(secret: str) -> Token | None:
    """Return the valid token that has this secret, in whichever lab; None where there is none."""
    with all_labs():
        found: Token | None = Token.objects.find(secret)
    return found


def adopt(request: Request, token: Token) -> None:
    """Put the request into the token's lab, whoever is signed in by a cookie besides.

    The scope of what it can read and change is set, and the change history names the token as the author.
    """
    django_request: Any = request._request
    django_request.lab, django_request.member, django_request.token = token.lab, None, token
    own = LabScopes(frozenset({token.lab_id}))
    set_scope(readable_scope(token.lab_id) if request.method in SAFE_METHODS else own)
    say_who(Author.TOKEN, token.name, id=token.pk)
    note_use(token)


def note_use(token: Token) -> None:
    """Write down that the token was used now, at most once a minute."""
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - USED_AT_MOST_EVERY:
        with lab_scope(token.lab_id):
            Token.objects.filter(pk=token.pk).update(last_used_at=now)
        token.last_used_at = now


def who(request: Request) -> str:
    """Return who makes the request, for the audit trail: the person's mail address, or the token's name."""
    return name_of(request.auth) if isinstance(request.auth, Token) else str(getattr(request.user, "email", ""))


def name_of(token: Token) -> str:
    """Return the token's name in the audit trail, which cannot be a person's."""
    return f"token {token.name}"


class _TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = LabTokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A lab token, `spl_…` (`manage.py create_token`)."}


class _SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = LabSessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
