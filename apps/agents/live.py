"""The long poll, in raw ASGI: authenticated, at once when there is something, otherwise held without a thread or a connection."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import orjson

from apps.agents import polling
from apps.agents.identity import Caller, RefusedError, identify, polling_now, still_approved
from apps.agents.models import Agent
from apps.labs.isolation import lab_scope
from apps.lib.asgi import Receive, Scope, Send, disconnected, headers, in_thread, read_body, send_json, send_problem
from apps.lib.listening import listener
from apps.runs.attempts import Offer
from apps.runs.waiting import Waiting, waiting_here

LOOK_AGAIN_S = 10.0  # the bell may stay silent; the database is looked at on a timer too
LET_ANSWER_S = 0.005


def _arrive(caller: Caller, raw: bytes) -> tuple[Agent, polling.Report]:
    agent = identify(caller)
    try:
        report = polling.Report.from_json(orjson.loads(raw))
    except ValueError as error:
        raise RefusedError(400, f"The poll is not as docs/agent-protocol.md has it: {error}") from None
    with lab_scope(agent.lab_id):
        polling.note(agent, report)
    return agent, report


def _look(agent: Agent, report: polling.Report) -> dict[str, Any] | None:
    with lab_scope(agent.lab_id):
        return polling.answer(agent, report)


async def _tell_news(agent: Agent, report: polling.Report, receive: Receive, send: Send) -> None:
    """Look, wait for the bell or the timer, look again; nothing is to tell when the time is up or the host hung up. Told before anything is
    put away: somebody waits for an offer to become a run."""
    until = time.monotonic() + report.wait
    gone = asyncio.ensure_future(disconnected(receive))
    bell: asyncio.Future[Any] = gone
    try:
        with listener.hear(f"host:{agent.host_id}") as queue, _hear_offers(agent, report) as offer:
            while (news := await in_thread(_look, agent, report)) is None and not gone.done():
                left = until - time.monotonic()
                if left <= 0:
                    break
                bell = asyncio.ensure_future(queue.get())
                wake: set[asyncio.Future[Any]] = {bell, gone, offer}
                await asyncio.wait(wake, timeout=min(left, LOOK_AGAIN_S), return_when=asyncio.FIRST_COMPLETED)
                if offer.done():
                    news = polling.message([polling.as_told(offer.result())], [], [])
                    break
                bell.cancel()
            await send_json(send, 200, news or polling.message([], [], []))
    finally:
        gone.cancel()
        bell.cancel()


@contextmanager
def _hear_offers(agent: Agent, report: polling.Report) -> Iterator[asyncio.Future[Offer]]:
    """While its host has nothing else in hand, whoever starts a run in this process may answer this poll at once."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[Offer] = loop.create_future()
    answered, here = threading.Event(), threading.get_ident()

    def hear(offer: Offer) -> None:
        if threading.get_ident() == here:
            _set(heard, offer)
        else:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_set, heard, offer)
                answered.wait(LET_ANSWER_S)  # else the rest of the start holds Python's lock while the host waits

    mine = Waiting(still_approved(agent), hear)
    if not report.attempts:
        waiting_here[agent.host_id] = mine
    try:
        yield heard
    finally:
        if waiting_here.get(agent.host_id) is mine:
            del waiting_here[agent.host_id]
        heard.cancel()
        answered.set()


def _set(heard: asyncio.Future[Offer], offer: Offer) -> None:
    if not heard.done():
        heard.set_result(offer)


async def poll(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        raw = await read_body(receive)
        agent, report = await in_thread(_arrive, Caller.from_headers(headers(scope)), raw)
    except RefusedError as refused:
        await send_problem(send, refused.status, refused.detail, state=refused.state)
        return
    except ValueError as error:
        await send_problem(send, 413, str(error))
        return
    polling_now[agent.pk] = agent.instance
    try:
        await _tell_news(agent, report, receive, send)
    finally:
        if polling_now.get(agent.pk) == agent.instance:
            del polling_now[agent.pk]
