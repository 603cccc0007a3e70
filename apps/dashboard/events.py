"""Server-sent events of one run in raw ASGI, for the live page while fio runs.

Events: `progress` (the JSON of `apps.runs.series.progress`) and `state` (`{"state", "ended", "read_in"}`). What was published before the page came
is replayed first; `Last-Event-ID` skips what the page has.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from apps.core.asgi import Receive, Scope, Send, disconnected, headers, in_thread, send_problem
from apps.core.pubsub import Heard, listener, remembered
from apps.core.text import whole_number
from apps.labs.devices import read_session
from apps.labs.isolation import scoped
from apps.labs.middleware import SESSION_KEY as LAB_KEY
from apps.labs.middleware import choose, readable_scope
from apps.runs.models import Run
from apps.runs.states import ENDED

KEEPALIVE_S = 15.0
LOOK_AGAIN_S = 5.0  # whether the reader is still signed in and a member, however much there is to send
HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
ReadState = Callable[[], Awaitable[dict[str, Any] | None]]


def _read_state(cookies: str, run_id: int) -> dict[str, object] | None:
    """Return the run's state, or None where the signed-in person may not see it."""
    session, user = read_session(cookies)
    member = choose(user, session.get(LAB_KEY))
    if member is None:
        return None
    with scoped(readable_scope(member.lab_id)):
        run = Run.objects.filter(pk=run_id).first()
    if run is None:
        return None
    return {"state": run.state, "ended": run.state in ENDED, "reading": run.is_reading, "progress": run.progress}


async def run_events(scope: Scope, receive: Receive, send: Send, run_id: int) -> None:
    """Answer with the events of a run until it has ended or the page is gone."""
    head = headers(scope)
    cookies = head.get("cookie", "")
    state = await in_thread(_read_state, cookies, run_id)
    if state is None:
        await send_problem(send, 404, "No such run in your lab.")
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    with listener.hear(f"run:{run_id}") as heard:
        stream = _EventStream(send, whole_number(head.get("last-event-id", "")))
        for message in await in_thread(remembered, f"run:{run_id}"):
            if "n" in message:
                await stream.write(message)
        await stream.write(state)
        if not state["ended"]:
            await _follow(stream, heard, receive, lambda: in_thread(_read_state, cookies, run_id))
    await send({"type": "http.response.body", "body": b""})


class _EventStream:
    """Writes messages as events, each numbered one (`n`) once and in order."""

    def __init__(self, send: Send, last: int | None) -> None:
        self._send, self._last = send, -1 if last is None else last

    async def write(self, message: dict[str, Any]) -> None:
        number = message.get("n")
        if number is not None:
            if number <= self._last:
                return
            self._last = number
        kind = "state" if "state" in message else "progress"
        head = "" if number is None else f"id: {number}\n"
        data = f"{head}event: {kind}\ndata: ".encode() + orjson.dumps(message) + b"\n\n"
        await self._send({"type": "http.response.body", "body": data, "more_body": True})


async def _follow(stream: _EventStream, heard: Heard, receive: Receive, read_state: ReadState) -> None:
    """Pass messages on until the run has ended or the page is gone. On silence the database is read, for Redis may be away."""
    gone = asyncio.ensure_future(disconnected(receive))
    gone.add_done_callback(heard.wake)
    read_at = time.monotonic()
    try:
        while True:
            await heard.wait(KEEPALIVE_S)
            if gone.done():
                return
            if heard.messages and time.monotonic() - read_at < LOOK_AGAIN_S:
                message = orjson.loads(heard.messages.popleft())
            else:
                read_at = time.monotonic()
                message = await read_state() or {"state": "gone", "ended": True}
            await stream.write(message)
            if message.get("ended"):
                return
    finally:
        gone.cancel()
