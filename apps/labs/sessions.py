"""Sessions as Django keeps them in the database. Every page of a signed-in person begins with one, so it is found by a statement that is
planned once for each connection; nothing is kept between requests, so who signs out is out at once.
"""

from typing import Any

from django.contrib.sessions.backends import db
from django.utils import timezone

from apps.lib.sql import one_row

LIVING = "SELECT session_data FROM django_session WHERE session_key = %(key)s AND expire_date > %(now)s"


class SessionStore(db.SessionStore):
    def load(self) -> dict[str, Any]:
        row = one_row(LIVING, {"key": self.session_key, "now": timezone.now()})
        if row is None:
            self._session_key = None  # an unknown key is not taken over for a new session
            return {}
        return self.decode(row[0])
