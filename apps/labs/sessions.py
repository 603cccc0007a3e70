"""Sessions as Django keeps them in the database. Every page of a signed-in person begins with one, so it is found by a statement that is
planned once for each connection, together with the person and the labs, if this process has seen whose session it is. That is a guess
and no more: all of it is read anew for every request, and the session itself says whose it is; who signs out is out at once.
"""

from functools import cache
from typing import Any

from django.contrib import auth
from django.contrib.auth.middleware import AuthenticationMiddleware as DjangosMiddleware
from django.contrib.sessions.backends import db
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from apps.labs.models import IN_ORDER, LABS_OF_PERSON, Rows, person_columns, person_read
from apps.lib.sql import rows

LIVING = """
SELECT session.session_data, {columns}
FROM django_session session
LEFT JOIN labs_user person ON person.id = %(guess)s
{labs}
WHERE session.session_key = %(key)s AND session.expire_date > %(now)s {order}"""
MOST_GUESSES = 10_000
_guesses: dict[str, int] = {}  # key of a session → number of the person


@cache
def _living() -> str:
    return LIVING.format(columns=person_columns()[1], labs=LABS_OF_PERSON, order=IN_ORDER)


class SessionStore(db.SessionStore):
    person: tuple[int, Rows] | None = None  # whom the guess meant, as read with the session

    def load(self) -> dict[str, Any]:
        guess = _guesses.get(self.session_key or "")
        found = rows(_living(), {"key": self.session_key, "now": timezone.now(), "guess": guess})
        if not found:
            self._session_key = None  # an unknown key is not taken over for a new session
            return {}
        if guess is not None and found[0][1] is not None:  # no such person any more
            self.person = guess, [row[1:] for row in found]
        return self.decode(found[0][0])


def _person_of(request: HttpRequest) -> Any:
    """Django's own answer, which asks for the person's number, the password's hash in the session, and the account's state."""
    session: Any = request.session
    session.get(auth.SESSION_KEY)  # now it has been read
    with person_read(session.person):
        person = auth.get_user(request)
    if person.pk is not None and session.session_key:
        if len(_guesses) >= MOST_GUESSES:
            _guesses.clear()
        _guesses[session.session_key] = person.pk
    return person


class AuthenticationMiddleware(DjangosMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        person: Any = SimpleLazyObject(lambda: _person_of(request))
        request.user = person
