"""Answers while the database is down, full or read-only: 503, when to retry, and one sentence."""

import errno
import logging
import time
from typing import Any

import psycopg
from django.db import InterfaceError, OperationalError

from apps.core.asgi import Receive, Scope, Send, send_problem

COME_AGAIN = 10  # seconds
AWAY = "The database does not answer at the moment. Nothing was changed; please try again in a few seconds."
FULL = "The disk of the database is full, so nothing can be stored. Whoever runs this server has to free some space."
DISK_FULL = "53100"  # PostgreSQL's code
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
SAY_AGAIN = 10.0  # seconds between two lines in the log about the same outage

log = logging.getLogger(__name__)
_last_said: dict[str, float] = {}


def outage(error: BaseException | None) -> str:
    """Return the sentence for an error that means that the database is down or full, else an empty string."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return FULL
    if isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError | psycopg.InterfaceError):
        states = {getattr(item, "sqlstate", None) for item in (error, error.__cause__)}
        return FULL if DISK_FULL in states else AWAY
    return ""


def report(error: BaseException, where: str) -> None:
    """Log an outage, at most once in `SAY_AGAIN` seconds, because every request fails meanwhile."""
    sentence, now = outage(error), time.monotonic()
    if now - _last_said.get(sentence, -SAY_AGAIN) >= SAY_AGAIN:
        _last_said[sentence] = now
        log.error("%s was answered with 503: %s", where, " ".join(str(error).split())[:300])


async def answer_outages(application: Any, scope: Scope, receive: Receive, send: Send) -> None:
    """Run an ASGI application and answer database outages with 503 instead of 500."""
    has_begun = False

    async def noted(message: Any) -> None:
        nonlocal has_begun
        has_begun = True
        await send(message)

    try:
        await application(scope, receive, noted)
    except (psycopg.Error, OperationalError, InterfaceError, OSError) as error:
        if has_begun or not (sentence := outage(error)):
            raise
        report(error, scope["path"][:200])
        await send_problem(send, 503, sentence, retry_after=COME_AGAIN)
