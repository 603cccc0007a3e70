"""`/healthz`: 200 while the database answers and can write, for supervisors and containers.

It is answered past the threads of pages, by a thread of its own, so that it says how the database is whatever the pages do.
The header X-Spindle-Process tells the web processes apart: each has a word of its own, so that `bin/up` can ask all of them.
"""

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor

from django.db import Error, close_old_connections, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.core.asgi import Receive, Scope, Send
from apps.core.server.outages import FULL, outage

PATIENCE = 3.0  # seconds
FRESH = 1.0  # seconds for which an answer is given to whoever asks
AWAY = "The database does not answer."
PROCESS = secrets.token_hex(4)
# More rows than fit into so little memory: PostgreSQL writes them to its disk, and says so if that is full.
LITTLE_MEMORY = "SET LOCAL work_mem = '64kB'"
MANY_ROWS = "SELECT count(*) FROM generate_series(1, 20000)"


def find_trouble() -> str:
    """Return a sentence about what is wrong, or an empty string."""
    try:
        close_old_connections()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(LITTLE_MEMORY)
            cursor.execute(MANY_ROWS)
    except Error as error:
        connection.close()
        return FULL if outage(error) == FULL else AWAY
    return ""


class Health:
    """One question to the database at a time, whoever asks and however often."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._asking: asyncio.Future[str] | None = None
        self._asked_at = 0.0

    async def find_trouble(self) -> str:
        loop = asyncio.get_running_loop()
        if self._asking is None or (self._asking.done() and loop.time() - self._asked_at > FRESH):
            self._asked_at = loop.time()
            self._asking = loop.run_in_executor(self._thread, find_trouble)
        try:
            async with asyncio.timeout(PATIENCE):
                return await asyncio.shield(self._asking)
        except TimeoutError:
            return AWAY

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        trouble = await self.find_trouble() if scope["method"] in ("GET", "HEAD") else ""
        status = 405 if scope["method"] not in ("GET", "HEAD") else 503 if trouble else 200
        body = b"ok\n" if status == 200 else f"{trouble or 'Expected GET or HEAD.'}\n".encode()
        head = [
            (b"content-type", b"text/plain"),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"x-spindle-process", PROCESS.encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body})


health = Health()


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer the health check through Django, as in tests."""
    trouble = find_trouble()
    return HttpResponse(f"{trouble or 'ok'}\n", status=503 if trouble else 200, content_type="text/plain")
