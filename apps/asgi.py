"""The one entrance. Long polls and event streams are answered here, without a thread or a database connection held while they wait;
everything else goes through Django in a fixed pool of threads.
"""

import gc
import logging
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from threading import Timer
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.settings")

from django.core.signals import request_started
from django.core.wsgi import get_wsgi_application

from apps.lib.pages import Pages
from apps.lib.sql import trust_if_quiet

# A page that renders must not hold up the event loop for Python's usual 5 ms at every turn: a click would wait for it several times.
sys.setswitchinterval(0.0005)
# Thousands of held polls are a million objects that leave no circles behind. By Python's usual measure the collector would walk through all of them
# every few seconds, for up to a second, in which nobody is answered. Young objects are looked at as often as ever, so that what an answer leaves goes
# at once.
gc.set_threshold(700, 10, 100)

log = logging.getLogger(__name__)
django: Any = get_wsgi_application()
request_started.connect(trust_if_quiet)  # behind Django's own look at how old its connections are
pages: Any = Pages(django, workers=int(os.environ.get("SPINDLE_THREADS", "6")))

# After Django is set up: these import models.
from apps.agents.accepting import accept  # noqa: E402
from apps.agents.live import poll  # noqa: E402
from apps.agents.same_machine import as_secure  # noqa: E402
from apps.agents.streaming import chunk  # noqa: E402
from apps.dashboard.events import run_events  # noqa: E402
from apps.lib.asgi import HungUpError, Receive, Scope, Send  # noqa: E402
from apps.publishing.starting import start  # noqa: E402
from apps.publishing.uploading import upload  # noqa: E402
from apps.uploads.at_once import allow  # noqa: E402

# Seconds until the first page is out; its imports take as long beside worker, beat and agent, which start at the same time.
FIRST_PAGE = float(os.environ.get("SPINDLE_WARM_UP_AFTER", "5"))


def _warm_up() -> None:
    """SciPy takes two seconds the first time, and the first comparison should not wait for it; nor should the first page, so it comes when
    that is out. What is there then stays until the end, so the collector of cyclic garbage need not walk through it again and again in
    the middle of a page.
    """
    import_module("scipy.stats")
    gc.collect()
    gc.freeze()
    log.info("read in: what later pages need")


warming = Timer(FIRST_PAGE, _warm_up)
warming.daemon = True
warming.start()

ACCEPT = re.compile(r"/agent/v1/attempts/(\d{1,18})/accept/")
RESULT_CHUNK = re.compile(r"/agent/v1/attempts/(\d{1,18})/streams/result/chunks/(\d{1,6})/")
RUN_EVENTS = re.compile(r"/events/runs/(\d{1,18})/")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    with suppress(HungUpError):
        await _answer(as_secure(scope) if scope["type"] == "http" else scope, receive, send)


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    elif scope["type"] == "http" and scope["path"] == "/agent/v1/poll/" and scope["method"] == "POST":
        await poll(scope, receive, send)
    elif scope["type"] == "http" and (found := ACCEPT.fullmatch(scope["path"])) and scope["method"] == "POST":
        await accept(scope, receive, send, int(found[1]), pages)
    elif scope["type"] == "http" and scope["method"] == "PUT" and (found := RESULT_CHUNK.fullmatch(scope["path"])):
        await chunk(scope, receive, send, int(found[1]), int(found[2]), pages)
    elif scope["type"] == "http" and scope["path"] == "/api/v1/runs/" and scope["method"] == "POST":
        await start(scope, receive, send, pages)
    elif scope["type"] == "http" and scope["path"] == "/api/v1/uploads/" and scope["method"] == "POST":
        await upload(scope, receive, send, pages)
    elif scope["type"] == "http" and (found := RUN_EVENTS.fullmatch(scope["path"])):
        await run_events(scope, receive, send, int(found[1]))
    elif scope["type"] == "http":
        await pages(scope, receive, send)


async def _lifespan(receive: Any, send: Send) -> None:
    while True:
        event = await receive()
        if event["type"] == "lifespan.startup":
            allow()  # a server that really runs: not whoever only imports this
        await send({"type": f"{event['type']}.complete"})
        if event["type"] == "lifespan.shutdown":
            return
