"""Browsers that an account has signed in from before (OWASP's device cookies), and the session of a Cookie header.

The device cookie is signed, per account, and grants nothing: it only gives a known browser its own count of failed
sign-ins, so that strangers' guesses do not lock the owner out.
"""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore
from django.core import signing
from django.http import HttpRequest, parse_cookie
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac

from apps.labs.models import User

SALT = "spindle.device"
LIFETIME = timedelta(days=400)  # longer ones browsers cut off
PATH = "/accounts/"


def known_device(request: HttpRequest, address: str) -> str:
    """Return the device's own mark if this account has signed in on it before, else an empty text."""
    try:
        whose, mark = signing.loads(request.COOKIES.get(_name(address), ""), salt=SALT, max_age=LIFETIME)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(mark) if whose == _digest(address) else ""


def remember_device(request: HttpRequest, response: HttpResponseBase) -> None:
    """Give the cookie to whoever has just signed in, by whatever way, or has proved the account in another."""
    person: Any = getattr(request, "proved_person", None)
    if person is None:
        return
    mark = known_device(request, person.email) or secrets.token_hex(16)
    response.set_cookie(
        _name(person.email),
        signing.dumps([_digest(person.email), mark], salt=SALT),
        max_age=LIFETIME,
        path=PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _digest(address: str) -> str:
    return salted_hmac(SALT, address.strip().lower(), algorithm="sha256").hexdigest()


def _name(address: str) -> str:
    return f"device_{_digest(address)[:12]}"


def read_session(cookies: str) -> tuple[SessionBase, User | AnonymousUser]:
    """Return the session that a Cookie header names, and the person who is signed in with it.

    Reads the header as Django does: other programs of the same host name set cookies that Python's own parser refuses.
    """
    request = HttpRequest()
    request.session = SessionStore(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    user: User | AnonymousUser = get_user(request)
    return request.session, user
