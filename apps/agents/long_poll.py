"""The agents' long poll, in raw ASGI: answered at once when there is something to tell, else held until there is.

A poll of an idle host, which is nearly every one, is two statements of the event loop's own and no thread: who is it,
and note that its poll is held and whether anything waits for its host. The rest goes through a thread and the ORM:
strangers, hosts that say something new or have an attempt in hand, and hosts for which there is work.

A held poll keeps neither a thread nor a database connection. It looks at the database when its host's bell rings; the
bell may stay silent, so one look every ten seconds serves all polls of this process. What is so is in the database
alone: any number of web processes may hold polls.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

import psycopg
from django.db import DatabaseError
from django.utils import timezone

from apps.agents import poll
from apps.agents.downloads import is_older, release_news
from apps.agents.identity import Caller, RefusedError, find_doubt, identify, parse_secret
from apps.agents.models import Agent
from apps.core.asgi import Receive, Scope, Send, disconnected, headers, in_thread, read_body, send_json, send_problem
from apps.core.async_database import database
from apps.core.pubsub import Heard, listener
from apps.core.strict_json import REPLACED, read_json
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.states import OPEN, State

LOOK_AGAIN_S = 10.0
FIELDS = Agent._meta.concrete_fields

# By hand, because the ORM takes ten times as long to write them as PostgreSQL to answer them, and idle hosts ask for
# some hundred a second (docs/performance.md, E1).
FIND_AGENT = f"""SELECT {", ".join(str(field.column) for field in FIELDS)}
FROM agents_agent WHERE id = %(id)s"""  # noqa: S608
HOLD_POLL = """UPDATE agents_agent AS agent
SET last_seen_at = %(now)s, polling_until = coalesce(%(until)s, polling_until) WHERE id = %(id)s
RETURNING EXISTS (SELECT FROM runs_attempt WHERE host_id = agent.host_id
        AND (state = ANY(%(open)s) OR (abandoned_at IS NOT NULL AND answered_at IS NULL)))
    OR EXISTS (SELECT FROM runs_run WHERE host_id = agent.host_id AND state = %(queued)s)"""
END_POLL = """UPDATE agents_agent SET polling_until = NULL
WHERE id = %(id)s AND polling_until = %(until)s RETURNING id"""


async def answer_poll(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer `POST /agent/v1/poll/`."""
    try:
        raw = await read_body(receive)
    except ValueError as error:
        await send_problem(send, 413, str(error))
        return
    try:
        agent = await _identify(Caller.from_headers(headers(scope)))
        report = _read(raw)
    except RefusedError as refused:
        await send_problem(send, refused.status, refused.detail, **refused.more)
        return
    news = await _wait_for_news(agent, report, receive)
    body = news or poll.message([], [], [], agent.wanted_directories)
    if is_older(report.agent_version):
        body |= await in_thread(release_news, report.agent_version)
    await send_json(send, 200, body)


async def _identify(caller: Caller) -> Agent:
    """Return the approved agent behind this call.

    Raises:
        RefusedError: As `identify` does.
    """
    number, _ = parse_secret(caller.authorization)
    row = await database.fetch_row(FIND_AGENT, {"id": number})
    agent = Agent.from_db("default", [field.attname for field in FIELDS], row) if row else None
    if agent is None or find_doubt(agent, caller):
        return await in_thread(identify, caller)  # which also records what is wrong
    return agent


def _read(raw: bytes) -> poll.Report:
    try:
        return poll.Report.from_json(read_json(raw, nul=REPLACED))
    except ValueError as error:
        raise RefusedError(400, f"The poll is not as docs/reference/agent-protocol.md has it: {error}") from None


async def _wait_for_news(agent: Agent, report: poll.Report, receive: Receive) -> dict[str, Any] | None:
    """Take the report in and wait until there is something to tell the host.

    Return None when the time is up or the host has hung up. While it waits no other copy of this agent is served: that
    ends by itself with the poll's time, and is ended here where the poll ends earlier.
    """
    end = time.monotonic() + report.wait
    until = timezone.now() + timedelta(seconds=report.wait) if report.wait else None
    with listener.hear(f"host:{agent.host_id}") as bell:  # before the first look, so that no ring falls in between
        news = await _take_in(agent, report, until)
        gone = asyncio.ensure_future(disconnected(receive))
        gone.add_done_callback(bell.wake)
        try:
            with rounds.holding(bell, agent.host_id):
                while news is None and not gone.done() and (left := end - time.monotonic()) > 0:
                    await bell.wait(left)
                    if bell.messages:
                        bell.messages.clear()
                        news = await in_thread(_look, agent, report)
        finally:
            gone.cancel()
            if until and time.monotonic() < end:
                with suppress(psycopg.OperationalError):
                    await database.fetch_row(END_POLL, {"id": agent.pk, "until": until})
    return news


async def _take_in(agent: Agent, report: poll.Report, until: datetime | None) -> dict[str, Any] | None:
    """Write down what the poll says and until when it is held; return what there is to tell at once, or None."""
    if report.is_known(agent):
        values = {"id": agent.pk, "now": timezone.now(), "until": until, "open": sorted(OPEN), "queued": State.QUEUED}
        if await database.fetch_row(HOLD_POLL, values) == (False,):
            return None
    return await in_thread(_note, agent, report, until)


def _note(agent: Agent, report: poll.Report, until: datetime | None) -> dict[str, Any] | None:
    with lab_scope(agent.lab_id):
        poll.note(agent, report, until)
        poll.ask_for_dispatch(agent, report)
        return poll.answer(agent, report)


def _look(agent: Agent, report: poll.Report) -> dict[str, Any] | None:
    with lab_scope(agent.lab_id):
        return poll.answer_again(agent, report)


class Rounds:
    """Looks at the database every ten seconds, one look for all polls that this process holds."""

    def __init__(self) -> None:
        self.held: dict[Heard, int] = {}  # what wakes a held poll, and the id of the poll's host
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def holding(self, bell: Heard, host: int) -> Iterator[None]:
        """Wake the held poll when a look at the database finds something for its host, as long as the context lasts."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        self.held[bell] = host
        try:
            yield
        finally:
            del self.held[bell]

    async def _look(self) -> None:
        while self.held:
            await asyncio.sleep(LOOK_AGAIN_S)
            with suppress(DatabaseError):  # the next poll will say what is wrong
                found = await in_thread(_find_hosts_with_news, set(self.held.values()))
                for bell in [bell for bell, host in self.held.items() if host in found]:
                    bell.put(b"{}")


def _find_hosts_with_news(hosts: set[int]) -> set[int]:
    with all_labs():
        return poll.find_hosts_with_news(hosts)


rounds = Rounds()
