"""The long poll, in raw ASGI: authenticated, at once when there is something, otherwise held without a thread or a connection."""

import asyncio
import time
from typing import Any

import orjson

from apps.agents import polling
from apps.agents.identity import Caller, RefusedError, identify, polling_now
from apps.agents.models import Agent
from apps.labs.isolation import lab_scope
from apps.lib.asgi import Receive, Scope, Send, disconnected, headers, in_thread, read_body, send_json, send_problem
from apps.lib.listening import listener

LOOK_AGAIN_S = 10.0  # the bell may stay silent; the database is looked at on a timer too


def _arrive(caller: Caller, raw: bytes) -> tuple[Agent, polling.Report]:
    agent = identify(caller)
    try:
        report = polling.Report.from_json(orjson.loads(raw or b"{}"))
    except ValueError as error:
        raise RefusedError(400, f"The poll is not as docs/agent-protocol.md has it: {error}") from None
    with lab_scope(agent.lab_id):
        polling.note(agent, report)
    return agent, report


def _look(agent: Agent, report: polling.Report) -> dict[str, Any] | None:
    with lab_scope(agent.lab_id):
        return polling.answer(agent, report)


async def _wait_for_news(agent: Agent, report: polling.Report, receive: Receive) -> dict[str, Any] | None:
    """Look, wait for the bell or the timer, look again; None when the time is up or the host hung up."""
    until = time.monotonic() + report.wait
    gone = asyncio.ensure_future(disconnected(receive))
    try:
        with listener.hear(f"host:{agent.host_id}") as queue:
            while (news := await in_thread(_look, agent, report)) is None and not gone.done():
                left = until - time.monotonic()
                if left <= 0:
                    return None
                bell = asyncio.ensure_future(queue.get())
                await asyncio.wait({bell, gone}, timeout=min(left, LOOK_AGAIN_S), return_when=asyncio.FIRST_COMPLETED)
                bell.cancel()
            return news
    finally:
        gone.cancel()


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
        news = await _wait_for_news(agent, report, receive)
    finally:
        if polling_now.get(agent.pk) == agent.instance:
            del polling_now[agent.pk]
    await send_json(send, 200, news or polling.message([], [], []))
