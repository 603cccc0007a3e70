"""The usual accept, in raw ASGI: all that lies between the server and fio's first instruction is one statement, and no thread.

What is not usual (another machine, a repeat, an offer that is gone) changes nothing here and goes on to the view, which knows the reason.
"""

import asyncio
from typing import Any

import orjson

from apps.agents.identity import Caller, RefusedError, well_known
from apps.lib.asgi import Receive, Scope, Send, headers, read_body, replayed, send_json, send_problem
from apps.lib.loop_sql import lines
from apps.runs.attempts import accepting, following
from apps.runs.states import State
from apps.runs.waiting import QUIET_S, accepts


async def _accepted(caller: Caller, pk: int, raw: bytes) -> int | None:
    """The same agent as ever accepts its own open offer, fenced by the token: of which run."""
    try:
        token: Any = orjson.loads(raw)["token"]
        given = well_known(caller)
    except (ValueError, KeyError, TypeError, RefusedError):
        return None
    if type(token) is not int or not 0 < token < 2**63:
        return None
    answer = await lines.rows(*accepting(pk, token, given))
    return answer[0][0] if answer else None


async def accept(scope: Scope, receive: Receive, send: Send, pk: int, view: Any) -> None:
    """`view` is the ASGI application that answers when this one cannot."""
    try:
        raw = await read_body(receive)
    except ValueError as error:
        await send_problem(send, 413, str(error))
        return
    run = await _accepted(Caller.from_headers(headers(scope)), pk, raw)
    if run is None:
        await view(scope, replayed(raw, receive), send)
        return
    await send_json(send, 200, {"state": State.ACCEPTED})
    await asyncio.sleep(QUIET_S)
    if run in accepts:
        accepts[run].set()
    await lines.rows(*following(run))
