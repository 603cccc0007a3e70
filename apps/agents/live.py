"""The long poll, in raw ASGI: authenticated, at once when there is something, otherwise held without a thread or a connection.

A poll like the one before, of which there is nothing to tell, is held by `holding.py`. Here is every other, and what wakes those.
"""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import orjson

from apps.agents import polling
from apps.agents.holding import LOOK_AGAIN_S, Held, Known, arrive, hearing_offers, hosts_of, listening, rounds
from apps.agents.identity import Caller, RefusedError, identify, number_of, polling_now, still_approved
from apps.agents.models import Agent
from apps.labs.isolation import lab_scope
from apps.lib.asgi import Receive, Scope, Send, headers, in_thread, read_body, send_json, send_problem
from apps.runs.attempts import Offer


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


async def _tell_news(agent: Agent, report: polling.Report, held: Held, receive: Receive, send: Send) -> None:
    """Look, wait for the bell or the timer, look again; nothing is to tell when the time is up or the host hung up. Told before anything is
    put away: somebody waits for an offer to become a run."""
    until = time.monotonic() + report.wait
    held.hear_anew()
    while (news := await in_thread(_look, agent, report)) is None:
        left = until - time.monotonic()
        heard = await held.until(min(left, LOOK_AGAIN_S), receive) if left > 0 else False
        if isinstance(heard, Offer):
            news = polling.message([polling.as_told(heard)], [], [])
            break
        if held.is_gone or (not heard and left <= LOOK_AGAIN_S):
            break
        held.hear_anew()
    await send_json(send, 200, news or polling.message([], [], []))


@contextmanager
def _polling(agent: int, instance: str) -> Iterator[None]:
    polling_now[agent] = instance
    try:
        yield
    finally:
        if polling_now.get(agent) == instance:
            del polling_now[agent]


async def poll(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        raw = await read_body(receive)
    except ValueError as error:
        await send_problem(send, 413, str(error))
        return
    caller = Caller.from_headers(headers(scope))
    if not await _usual(caller, raw, receive, send):
        await _any(caller, raw, receive, send)


async def _usual(caller: Caller, raw: bytes, receive: Receive, send: Send) -> bool:
    """False: it is not as ever, and nothing was done."""
    host, report = hosts_of.get(number_of(caller) or 0), _read(raw)
    if host is None or report is None or len(report.attempts) > 1:
        return False
    with listening(host, report.attempts[0].attempt if report.attempts else None) as held:
        known = await arrive(caller, report)
        if known is None or known.host != host:
            return False
        await _hold(known, caller, report, held, receive, send)
        return True


def _read(raw: bytes) -> polling.Report | None:
    try:
        return polling.Report.from_json(orjson.loads(raw))
    except ValueError:
        return None


async def _hold(known: Known, caller: Caller, report: polling.Report, held: Held, receive: Receive, send: Send) -> None:
    until = time.monotonic() + report.wait
    offers = _offers(known.host, known.agent, report, held)
    with _polling(known.agent, caller.instance), offers, rounds.holding(held):
        heard = await held.until(report.wait, receive)
        if heard is True:
            rest = replace(report, wait=max(0.0, until - time.monotonic()))
            await _tell_news(known.row, rest, held, receive, send)
        else:
            offered = [polling.as_told(heard)] if isinstance(heard, Offer) else []
            await send_json(send, 200, polling.message(offered, [], []))


async def _any(caller: Caller, raw: bytes, receive: Receive, send: Send) -> None:
    try:
        agent, report = await in_thread(_arrive, caller, raw)
    except RefusedError as refused:
        await send_problem(send, refused.status, refused.detail, state=refused.state)
        return
    hosts_of[agent.pk] = agent.host_id
    with (
        listening(agent.host_id) as held,
        _polling(agent.pk, agent.instance),
        _offers(agent.host_id, agent.pk, report, held),
    ):
        await _tell_news(agent, report, held, receive, send)


def _offers(host: int, agent: int, report: polling.Report, held: Held) -> AbstractContextManager[None]:
    """A host that has something in hand takes nothing more."""
    return nullcontext() if report.attempts else hearing_offers(host, still_approved(agent), held)
