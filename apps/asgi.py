"""The one entrance.

Long polls and event streams are answered here, without a thread or a database connection held while they wait;
everything else goes through Django in a fixed pool of threads.
"""

import os
import re
from contextlib import suppress
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.settings")

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from apps.core.async_database import database
from apps.core.server.connections import raise_file_limit
from apps.core.server.outages import answer_outages
from apps.core.server.request_limits import RequestLimits
from apps.core.server.response_buffer import ResponseBuffer, StopWhenHungUp

THREADS = int(os.environ.get("SPINDLE_THREADS", "6"))

django: Any = StopWhenHungUp(get_wsgi_application())
pages: Any = ResponseBuffer(WSGIMiddleware(django, workers=THREADS), limit=THREADS, folder=settings.DATA_DIR)

# After Django is set up: these import models.
from apps.agents.long_poll import answer_poll  # noqa: E402
from apps.agents.same_machine import as_secure  # noqa: E402
from apps.api.senders import find_sender  # noqa: E402
from apps.core.asgi import HungUpError, Receive, Scope, Send  # noqa: E402
from apps.core.server.proxies import through_proxies  # noqa: E402
from apps.dashboard.events import run_events  # noqa: E402
from apps.dashboard.health import health  # noqa: E402

RUN_EVENTS = re.compile(r"/events/runs/(\d{1,18})/")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    elif scope["type"] == "http" and scope["path"] == "/healthz":
        await health(scope, receive, send)
    elif scope["type"] == "http":
        with suppress(HungUpError):
            await answer_outages(limited, _from_client(scope), receive, send)


def _from_client(scope: Scope) -> Scope:
    """Return the scope with the client's own address and scheme, whatever proxies stand between."""
    return as_secure(through_proxies(scope, settings.PROXIES))


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/agent/v1/poll/" and scope["method"] == "POST":
        await answer_poll(scope, receive, send)
    elif found := RUN_EVENTS.fullmatch(scope["path"]):
        await run_events(scope, receive, send, int(found[1]))
    else:
        await pages(scope, receive, send)


limited = RequestLimits(_answer, find_sender, settings.DATA_DIR)


async def _lifespan(receive: Any, send: Send) -> None:
    while True:
        event = await receive()
        if event["type"] == "lifespan.startup":
            raise_file_limit()
            settings.DATA_DIR.mkdir(parents=True, exist_ok=True)  # long bodies and answers wait there
            await database.open()
        else:
            await database.close()
        await send({"type": f"{event['type']}.complete"})
        if event["type"] == "lifespan.shutdown":
            return
