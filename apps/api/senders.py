"""Who sends a large body.

`apps.core.server.request_limits` asks before the body is read; the view checks it again.
"""

from django.conf import settings

from apps.agents.identity import Caller, find_agent
from apps.agents.protocol import MAX_INVENTORY
from apps.api.authentication import find_token, secret_in
from apps.core.asgi import Scope, headers, in_thread
from apps.core.server.request_limits import Sender
from apps.labs.devices import read_session


async def find_sender(scope: Scope) -> Sender | None:
    """Return who sends the request, with how many bytes they may send; None for strangers."""
    return await in_thread(_find, headers(scope))


def _find(given: dict[str, str]) -> Sender | None:
    """Return the agent, the token or the signed-in person whose credentials the headers have; None for strangers."""
    if agent := find_agent(Caller.from_headers(given)):
        # more than any view takes, so that the view refuses what is too large and notes it on the host's page
        return Sender(f"host agent {agent.pk}", 2 * MAX_INVENTORY)
    secret = secret_in(given.get("authorization", ""))
    if secret and (token := find_token(secret)):
        return Sender(f"token {token.pk}", settings.MAX_UPLOAD)
    return _person(given.get("cookie", ""))


def _person(cookies: str) -> Sender | None:
    _, person = read_session(cookies)
    return Sender(f"person {person.pk}", settings.MAX_UPLOAD) if person.is_authenticated else None
