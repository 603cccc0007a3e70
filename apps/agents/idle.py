"""The usual poll of an idle agent: one statement when it comes, no thread, and next to nothing of its own while it is held.

Thousands of agents poll, and nearly always there is nothing to tell: the same agent as ever says the same of itself as ever, names no
attempt, and nothing waits for its host. Whatever is not so, and whoever is woken, goes on to `live.py`, which knows what to do.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
from apps.runs.attempts import Offer, has_work
from apps.runs.waiting import Waiting, waiting_here

LOOK_AGAIN_S = 10.0  # the bell may stay silent; the database is looked at on a timer too
LET_ANSWER_S = 0.005
AT_ONCE = 1000  # hosts in one look at the database, so that the loop is not held up by the answer

# That an agent was seen need not survive a crash of the database.
ARRIVE = """
WITH known AS MATERIALIZED (SELECT id, host_id, lab_id, last_seen_at FROM agents_agent WHERE {known}),
seen AS (
    UPDATE agents_agent SET last_seen_at = now() WHERE {not_durable_yet} IS NOT NULL AND id IN (
        SELECT id FROM known WHERE last_seen_at IS NULL OR last_seen_at < now() - interval '10 seconds'
    )
)
SELECT id, host_id, lab_id FROM known WHERE NOT ({has_work})
"""
WITH_WORK = "SELECT host FROM unnest(%(hosts)s::bigint[]) AS held(host) WHERE {has_work}"


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

    def __init__(self, host: int) -> None:
        self.host, self.loop, self.is_gone = host, asyncio.get_running_loop(), False
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
            hosts = sorted({poll.host for poll in self.held})
            statement = WITH_WORK.format(has_work=has_work("held.host"))
            for start in range(0, len(hosts), AT_ONCE):
                with suppress(psycopg.Error):  # the next poll will say what is wrong
                    self._wake({host for (host,) in await lines.rows(statement, {"hosts": hosts[start:][:AT_ONCE]})})

    def _wake(self, hosts: set[int]) -> None:
        for poll in [one for one in self.held if one.host in hosts] if hosts else []:
            poll.look()


rounds = Rounds()
hosts_of: dict[
    int, int
] = {}  # of agents that have polled this process: whose bell is to be heard before the database is looked at


async def arrive(caller: Caller, report: Report) -> Known | None:
    """The agent, if all is as ever and there is nothing to tell."""
    try:
        statement, values = _arriving(known_as_ever(caller, _said(report)))
        answer = await lines.rows(statement, values)
    except (RefusedError, psycopg.Error):
        return None
    return Known(*answer[0]) if answer else None


def _said(report: Report) -> dict[str, Any]:
    policy = orjson.dumps(report.policy).decode()
    words = {"boot_id": report.boot_id, "version": report.agent_version, "fio_version": report.fio_version}
    return {**words, "policy": policy}


def _arriving(given: Given) -> tuple[str, dict[str, Any]]:
    parts = {"known": given.sql, "not_durable_yet": NOT_DURABLE_YET, "has_work": has_work("known.host_id")}
    return ARRIVE.format(**parts), dict(given.values)


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
def listening(host: int) -> Iterator[Held]:
    """A poll that hears its host's bell: from before its arrival, so that no ring falls between the look and the wait."""
    poll = Held(host)
    with listener.call(f"host:{host}", poll.look):
        yield poll
