"""The floor of a long poll: an ASGI application that does nothing but hold it. It reads the body, waits for a bell that nobody rings, and answers."""

import asyncio
import json
from typing import Any

ANSWER = b'{"offers":[],"cancel":[],"forget":[],"lease_s":60,"poll_s":0}'
HEAD = [(b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())]


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while (event := (await receive())["type"]) != "lifespan.shutdown":
            await send({"type": f"{event}.complete"})
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["type"] == "http":
        await _hold(receive, send)


async def _hold(receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        event = await receive()
        body, more = body + event.get("body", b""), event.get("more_body", False)
    try:
        await asyncio.wait_for(asyncio.Event().wait(), json.loads(body)["wait"])
    except TimeoutError:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": HEAD})
    await send({"type": "http.response.body", "body": ANSWER})
