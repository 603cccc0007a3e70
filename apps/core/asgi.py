"""ASGI helpers for long polls and event streams, which are answered before Django so that no thread is held while waiting."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import orjson
from asgiref.sync import sync_to_async
from django.db import close_old_connections

from apps.core.http import problem_body

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Result = TypeVar("Result")

_threads = ThreadPoolExecutor(4, thread_name_prefix="live")  # each keeps one database connection
MAX_BODY = 256 * 1024


async def in_thread(work: Callable[..., Result], *args: Any) -> Result:
    """Run short database work in the small pool."""

    def clean() -> Result:
        close_old_connections()
        return work(*args)

    return await sync_to_async(clean, thread_sensitive=False, executor=_threads)()


def headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


class HungUpError(Exception):
    """The other side is gone before its request was whole: it may not be taken for a shorter one, and nobody hears an answer."""


async def read_body(receive: Receive) -> bytes:
    """Return the whole body of a request.

    Raises:
        ValueError: It has more than `MAX_BODY` bytes.
        HungUpError: The client hung up before its end.
    """
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


Header = tuple[bytes, bytes]


async def send_json(
    send: Send, status: int, content: dict[str, object], kind: bytes = b"application/json", more: Sequence[Header] = ()
) -> None:
    body = orjson.dumps(content)
    head = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": [*head, *more]})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, status: int, detail: str, *, retry_after: int | None = None, **more: Any) -> None:
    """Send a problem document (RFC 9457); `retry_after` are seconds."""
    headers: list[Header] = [] if retry_after is None else [(b"retry-after", str(retry_after).encode())]
    headers += [(b"www-authenticate", b'Bearer realm="Spindle"')] if status == 401 else []
    await send_json(send, status, problem_body(status, detail, **more), b"application/problem+json", headers)


async def send_refusal(scope: Scope, send: Send, status: int, detail: str, *, retry_after: int | None = None) -> None:
    """Send a refusal as a problem document to programs and as text to people."""
    if scope["path"].startswith(("/api/", "/agent/")):
        await send_problem(send, status, detail, retry_after=retry_after)
        return
    body = f"{detail}\n".encode()
    head = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    head += [] if retry_after is None else [(b"retry-after", b"%d" % retry_after)]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
