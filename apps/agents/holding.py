"""The usual poll: one statement when it comes, no thread, and next to nothing of its own while it is held.

Thousands of agents poll, and nearly always there is nothing to tell: the same agent as ever says the same of itself as ever, and either names
no attempt and nothing waits for its host, or names the one that it has in hand, which nobody wants to cancel. Whatever is not so, and
whoever is woken, goes on to `live.py`, which knows what to do.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson
import psycopg

from apps.agents.identity import Caller, RefusedError, known_as_ever
from apps.agents.models import Agent
from apps.agents.polling import Report
from apps.lib.asgi import Receive, disconnected
from apps.lib.listening import listener
from apps.lib.loop_sql import lines
from apps.lib.sql import NOT_DURABLE_YET, Given
from apps.runs.attempts import NO_LONGER_USUAL, Offer, has_work, renewing
from apps.runs.waiting import Waiting, waiting_here

LOOK_AGAIN_S = 10.0  # the bell may stay silent; the database is looked at on a timer too
LET_ANSWER_S = 0.005
AT_ONCE = 1000  # hosts in one look at the database, so that the loop is not held up by the answer

# That an agent was seen need not survive a crash of the database, nor does its lease: what is lost of it is what we know, for a while.
ARRIVE = """
WITH known AS MATERIALIZED (SELECT id, host_id, lab_id, last_seen_at FROM agents_agent WHERE {known}),
seen AS (
    UPDATE agents_agent SET last_seen_at = now() WHERE {not_durable_yet} IS NOT NULL AND id IN (
        SELECT id FROM known WHERE last_seen_at IS NULL OR last_seen_at < now() - interval '10 seconds'
    )
){more}
SELECT id, host_id, lab_id FROM known WHERE {nothing_to_tell}
"""
RENEWED = ", renewed AS ({renew} AND host_id IN (SELECT host_id FROM known) RETURNING id)"
WITH_WORK = "SELECT host FROM unnest(%(held)s::bigint[]) AS held(host) WHERE {has_work}"


@dataclass(frozen=True)
class Known:
    agent: int
    host: int
    lab: int

    @property
    def row(self) -> Agent:
        """As far as a look at the database needs it."""
        return Agent(pk=self.agent, host_id=self.host, lab_id=self.lab)


class Held:
    """One poll, and what it is waiting for: an offer, a reason to look at the database, or its end."""

    def __init__(self, host: int, attempt: int | None = None) -> None:
        self.host, self.attempt = host, attempt
        self.loop, self.is_gone = asyncio.get_running_loop(), False
        self.hear_anew()

    def hear_anew(self) -> None:
        """Before a look at the database, which finds whatever was told until now."""
        self.news: asyncio.Future[Offer | bool] = self.loop.create_future()

    def tell(self, news: Offer | bool) -> None:
        if not self.news.done():
            self.news.set_result(news)

    def look(self, _: object = None) -> None:
        self.tell(True)

    def end(self) -> None:
        self.tell(False)

    def hang_up(self, gone: "asyncio.Future[None]") -> None:
        if not gone.cancelled():
            self.is_gone = True
            self.end()

    async def until(self, seconds: float, receive: Receive) -> Offer | bool:
        """True: look; False: the time is up, or the host has hung up."""
        gone = asyncio.ensure_future(disconnected(receive))
        gone.add_done_callback(self.hang_up)
        timer = self.loop.call_later(seconds, self.end)
        try:
            return await self.news
        finally:
            timer.cancel()
            gone.cancel()


class Rounds:
    """One look at the database every ten seconds for all that are held, in place of one for each of them."""

    def __init__(self) -> None:
        self.held: set[Held] = set()
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def holding(self, poll: Held) -> Iterator[None]:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        self.held.add(poll)
        try:
            yield
        finally:
            self.held.discard(poll)

    async def _look(self) -> None:
        while self.held:
            await asyncio.sleep(LOOK_AGAIN_S)
            idle, busy = WITH_WORK.format(has_work=has_work("held.host")), NO_LONGER_USUAL
            await self._wake(idle, {poll.host for poll in self.held if poll.attempt is None}, lambda poll: poll.host)
            await self._wake(busy, {poll.attempt for poll in self.held if poll.attempt}, lambda poll: poll.attempt)

    async def _wake(self, statement: str, held: set[int], of: Callable[[Held], int | None]) -> None:
        """Those of which the statement says so."""
        ordered = sorted(held)
        for start in range(0, len(ordered), AT_ONCE):
            with suppress(psycopg.Error):  # the next poll will say what is wrong
                answer = await lines.rows(statement, {"held": ordered[start:][:AT_ONCE]})
                found = {number for (number,) in answer}
                for poll in [one for one in self.held if of(one) in found] if found else []:
                    poll.look()


rounds = Rounds()
# Of agents that have polled this process: whose bell is to be heard before the database is looked at.
hosts_of: dict[int, int] = {}


async def arrive(caller: Caller, report: Report) -> Known | None:
    """The agent, if all is as ever and there is nothing to tell."""
    try:
        statement, values = _arriving(known_as_ever(caller, _said(report)), report)
        answer = await lines.rows(statement, values)
    except (RefusedError, psycopg.Error):
        return None
    return Known(*answer[0]) if answer else None


def _said(report: Report) -> dict[str, Any]:
    policy = orjson.dumps(report.policy).decode()
    words = {"boot_id": report.boot_id, "version": report.agent_version, "fio_version": report.fio_version}
    return {**words, "policy": policy}


def _arriving(given: Given, report: Report) -> tuple[str, dict[str, Any]]:
    if not report.attempts:
        return _statement(given.sql), dict(given.values)
    [held] = report.attempts
    renew, lease = renewing(held.attempt, held.token)
    return _statement(given.sql, renew), {**given.values, **lease}


@cache
def _statement(known: str, renew: str = "") -> str:
    parts = {"known": known, "not_durable_yet": NOT_DURABLE_YET, "more": RENEWED.format(renew=renew) if renew else ""}
    nothing_to_tell = "EXISTS (SELECT FROM renewed)" if renew else f"NOT ({has_work('known.host_id')})"
    return ARRIVE.format(**parts, nothing_to_tell=nothing_to_tell)


@contextmanager
def hearing_offers(host: int, given: Given, poll: Held) -> Iterator[None]:
    """While its host has nothing else in hand, whoever starts a run in this process may answer this poll at once."""
    answered, here = threading.Event(), threading.get_ident()

    def hear(offer: Offer) -> None:
        if threading.get_ident() == here:
            poll.tell(offer)
        else:
            with suppress(RuntimeError):  # the loop is closed
                poll.loop.call_soon_threadsafe(poll.tell, offer)
                answered.wait(LET_ANSWER_S)  # else the rest of the start holds Python's lock while the host waits

    mine = waiting_here[host] = Waiting(given, hear)
    try:
        yield
    finally:
        if waiting_here.get(host) is mine:
            del waiting_here[host]
        answered.set()


@contextmanager
def listening(host: int, attempt: int | None = None) -> Iterator[Held]:
    """A poll that hears its host's bell: from before its arrival, so that no ring falls between the look and the wait."""
    poll = Held(host, attempt)
    with listener.call(f"host:{host}", poll.look):
        yield poll
