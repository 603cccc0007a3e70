"""Stand-in for the pages: says which process answers and which addresses it was given."""

import json
import os
from typing import Any


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    names = ("DATABASE_URL", "REDIS_URL", "SPINDLE_DATA", "SPINDLE_URL", "SPINDLE_SECRET_KEY", "SPINDLE_ALLOWED_HOSTS")
    body = json.dumps({"pid": os.getpid(), **{name: os.environ[name] for name in names}}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})
