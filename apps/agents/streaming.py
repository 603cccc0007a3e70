"""The usual chunk of what fio says while it runs, in raw ASGI: one statement, and open pages hear of it at once. No thread.

What is not usual (another stream, a repeat, a large chunk, an attempt that is over) changes nothing here and goes on to the view, which knows
the reason.
"""

import hashlib
from datetime import datetime
from typing import Any

import psycopg

from apps.agents import live_progress
from apps.agents.delivery import SURELY_ROOM
from apps.agents.identity import Caller, RefusedError, well_known
from apps.lib.asgi import MAX_BODY, Receive, Scope, Send, headers, read_body, replayed, send_json
from apps.lib.loop_sql import lines
from apps.runs.attempts import IS_OPEN

STORE = """
WITH mine AS (
    SELECT id, run_id, started_at FROM runs_attempt WHERE id = %(attempt)s AND token = %(fence)s AND {is_open} AND {given}
), stored AS (
    INSERT INTO runs_chunk (attempt_id, stream, sequence, sha256, size, data)
    SELECT id, 'result', %(sequence)s, %(sha256)s, %(size)s, %(data)s FROM mine
    ON CONFLICT DO NOTHING RETURNING attempt_id
)
SELECT run_id, started_at FROM mine WHERE id IN (SELECT attempt_id FROM stored)
"""
BEFORE = "SELECT data FROM runs_chunk WHERE attempt_id = %(attempt)s AND stream = 'result' AND sequence = %(sequence)s"


async def chunk(scope: Scope, receive: Receive, send: Send, pk: int, sequence: int, view: Any) -> None:
    """`view` is the ASGI application that answers when this one cannot."""
    head = headers(scope)
    size = head.get("content-length", "")
    if not size.isdecimal() or int(size) > MAX_BODY or sequence >= SURELY_ROOM:
        await view(scope, receive, send)
        return
    data = await read_body(receive)
    stored = await _stored(head, pk, sequence, data)
    if stored is None:
        await view(scope, replayed(data, receive), send)
        return
    await _publish(pk, sequence, data, *stored)
    await send_json(send, 200, {"stored": True})


async def _stored(head: dict[str, str], pk: int, sequence: int, data: bytes) -> tuple[int, datetime | None] | None:
    """Of which run, and when that began, if the same agent as ever sends something new to its own open attempt."""
    fence, digest = head.get("x-spindle-token", ""), head.get("x-spindle-sha256", "")
    if not fence.isdecimal() or len(fence) > 18 or hashlib.sha256(data).hexdigest() != digest:
        return None
    try:
        given = well_known(Caller.from_headers(head))
    except RefusedError:
        return None
    new = {"attempt": pk, "fence": int(fence), "sequence": sequence, "sha256": digest, "size": len(data), "data": data}
    answer = await lines.rows(STORE.format(is_open=IS_OPEN, given=given.sql), {**new, **given.values})
    return answer[0] if answer else None


async def _publish(pk: int, sequence: int, data: bytes, run: int, started: datetime | None) -> None:
    if sequence and not live_progress.knows(pk, sequence):
        try:
            before = await lines.rows(BEFORE, {"attempt": pk, "sequence": sequence - 1})
        except psycopg.Error:
            before = []  # progress is lossy; the chunk is stored
        live_progress.learn(pk, sequence - 1, bytes(before[0][0] or b"") if before else b"")
    live_progress.publish_here(pk, sequence, data, run, started)
