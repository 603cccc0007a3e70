"""Who asks: a lab's token, or a browser session. Both end in one lab's scope."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.inventory.editing.authors import say_who
from apps.inventory.vocabulary import Author
from apps.labs.isolation import Scope, all_labs, lab_scope, set_scope
from apps.labs.middleware import SAFE_METHODS, readable_scope
from apps.labs.models import Token
from apps.lib.sql import Given

USED_AT_MOST_EVERY = timedelta(minutes=1)


class LabTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer spl_…`. Reading reaches the token's lab and published labs, changing its own lab only."""

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
    return secret_in(request.headers.get("Authorization", ""))


def secret_in(authorization: str) -> str | None:
    kind, _, secret = authorization.partition(" ")
    return secret.strip() if kind.lower() == "bearer" else None


def find_token(secret: str) -> Token | None:
    with all_labs():
        found: Token | None = Token.objects.find(secret)
    return found


# `find_token` again, for a statement about a `target`: the token still lives, and is what it was.
STILL_LIVING = """EXISTS (
    SELECT FROM labs_token token
    WHERE token.id = %(token)s AND token.secret_sha256 = %(secret)s AND token.lab_id = target.lab_id AND token.name = %(token_name)s
          AND token.scope = %(scope)s AND token.revoked_at IS NULL AND (token.expires_at IS NULL OR token.expires_at > now())
)"""


def still_living(token: Token) -> Given:
    known = {"token": token.pk, "secret": token.secret_sha256, "token_name": token.name, "scope": token.scope}
    return Given(STILL_LIVING, known)


def adopt(request: Request, token: Token) -> None:
    """The request is in the token's lab from here on, whoever is signed in beside it."""
    django_request: Any = request._request
    django_request.lab, django_request.member, django_request.token = token.lab, None, token
    own = Scope(frozenset({token.lab_id}))
    set_scope(readable_scope(token.lab_id) if request.method in SAFE_METHODS else own)
    say_who(Author.TOKEN, token.name, id=token.pk)
    note_use(token)


def note_use(token: Token) -> None:
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - USED_AT_MOST_EVERY:
        with lab_scope(token.lab_id):
            Token.objects.filter(pk=token.pk).update(last_used_at=now)
        token.last_used_at = now


def who(request: Request) -> str:
    """For the trail: the person's address, or the token's name."""
    return name_of(request.auth) if isinstance(request.auth, Token) else str(getattr(request.user, "email", ""))


def name_of(token: Token) -> str:
    return f"token {token.name}"


class _TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = LabTokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A lab token, `spl_…` (`manage.py create_token`)."}


class _SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = LabSessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
