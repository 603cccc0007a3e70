"""The little ASGI that long polls and event streams need, answered before Django sees them (no thread held while waiting)."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import orjson
from django.db import close_old_connections
from django.http import HttpResponse

from apps.lib.problems import problem_body
from apps.lib.sql import trust_if_quiet

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Result = TypeVar("Result")

_threads = ThreadPoolExecutor(4, thread_name_prefix="live")  # each keeps one database connection
MAX_BODY = 256 * 1024


async def in_thread(work: Callable[..., Result], *args: Any) -> Result:
    """Run short database work in the small pool."""

    def clean() -> Result:
        close_old_connections()
        trust_if_quiet()
        return work(*args)

    return await asyncio.get_running_loop().run_in_executor(_threads, clean)


def headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


class HungUpError(Exception):
    """The other side is gone before its request was whole: it may not be taken for a shorter one, and nobody hears an answer."""


async def read_body(receive: Receive) -> bytes:
    """The whole body; ValueError past 256 KiB, `HungUpError` where it was cut off."""
    body: bytes = b""
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise HungUpError
        body += event.get("body", b"")
        if len(body) > MAX_BODY:
            raise ValueError(f"The body may have {MAX_BODY} bytes.")
        if not event.get("more_body"):
            return body


def replayed(body: bytes, receive: Receive) -> Receive:
    """For the next application, when the body has been read already."""
    first: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> MutableMapping[str, Any]:
        return first.pop() if first else await receive()

    return again


async def send_json(send: Send, status: int, content: dict[str, Any], kind: bytes = b"application/json") -> None:
    body = orjson.dumps(content)
    head = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def send_response(send: Send, response: HttpResponse) -> None:
    """An answer of Django's, whole."""
    head = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": head})
    await send({"type": "http.response.body", "body": response.content})


async def send_problem(send: Send, status: int, detail: str, **more: Any) -> None:
    await send_json(send, status, problem_body(status, detail, **more), b"application/problem+json")


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
