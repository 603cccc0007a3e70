"""Server-sent events of one run, in raw ASGI: what a page needs to be live while fio runs.

Events: `progress` (the JSON of `apps.runs.progress`) and `state` (`{"state", "ended", "read_in"}`). What was published before the page came
is replayed first; `Last-Event-ID` skips what the page has.
"""

import asyncio
from http.cookies import SimpleCookie
from importlib import import_module
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from apps.labs.isolation import scoped
from apps.labs.middleware import SESSION_KEY as LAB_KEY
from apps.labs.middleware import choose, readable_scope
from apps.lib.asgi import Receive, Scope, Send, disconnected, headers, in_thread, send_problem
from apps.lib.bell import remembered
from apps.lib.listening import Heard, listener
from apps.runs.models import Run
from apps.runs.states import ENDED

KEEPALIVE_S = 15.0


def _visible(head: dict[str, str], run_id: int) -> dict[str, Any] | None:
    """The run's state, if the session's member may see it."""
    cookie = SimpleCookie(head.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    session = import_module(settings.SESSION_ENGINE).SessionStore(cookie.value if cookie else None)
    request = HttpRequest()
    request.session = session
    member = choose(get_user(request), session.get(LAB_KEY))
    if member is None:
        return None
    with scoped(readable_scope(member.lab_id)):
        run = Run.objects.filter(pk=run_id).first()
    return {"state": run.state, "ended": run.state in ENDED, "progress": run.progress} if run else None


def _event(message: dict[str, Any]) -> bytes:
    kind = "state" if "state" in message else "progress"
    number = f"id: {message['n']}\n" if "n" in message else ""
    return f"{number}event: {kind}\ndata: ".encode() + orjson.dumps(message) + b"\n\n"


async def _replay(run_id: int, after: int, send: Send) -> int:
    """Send what was published before; the number of the last one."""
    for message in await in_thread(remembered, f"run:{run_id}"):
        if message.get("n", -1) > after:
            after = message["n"]
            await _write(send, _event(message))
    return after


async def _write(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def run_events(scope: Scope, receive: Receive, send: Send, run_id: int) -> None:
    head = headers(scope)
    now = await in_thread(_visible, head, run_id)
    if now is None:
        await send_problem(send, 404, "No such run in your lab.")
        return
    kind = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
    await send({"type": "http.response.start", "status": 200, "headers": kind})
    last = head.get("last-event-id", "")
    with listener.hear(f"run:{run_id}") as heard:
        after = await _replay(run_id, int(last) if last.isdigit() else -1, send)
        await _write(send, _event(now))
        if not now["ended"]:
            await _follow(heard, after, head, run_id, receive, send)
    await send({"type": "http.response.body", "body": b""})


async def _follow(heard: Heard, after: int, head: dict[str, str], run_id: int, receive: Receive, send: Send) -> None:
    """Pass messages on until the run has ended or the page is gone; on silence look at the database, for the bell may be away."""
    gone = asyncio.ensure_future(disconnected(receive))
    gone.add_done_callback(heard.wake)
    try:
        while not gone.done():
            await heard.wait(KEEPALIVE_S)
            if heard.messages:
                message = orjson.loads(heard.messages.popleft())
            elif gone.done():
                return
            else:
                message = await in_thread(_visible, head, run_id) or {"state": "gone", "ended": True}
            if message.get("n", after + 1) > after:
                after = message.get("n", after)
                await _write(send, _event(message))
            if message.get("ended"):
                return
    finally:
        gone.cancel()
