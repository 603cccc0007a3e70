"""Buffer responses, so that no thread of Django's ever waits for a client that reads slowly.

`request_limits` has read the request's body before. A response is produced at full speed and waits here for its client:
one megabyte in memory, the rest on disk, until `connections` cuts off a client that reads nothing.

    ResponseBuffer(WSGIMiddleware(StopWhenHungUp(get_wsgi_application()), workers=6), limit=6, folder=settings.DATA_DIR)
"""

import asyncio
import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import IO, Any

from apps.core.asgi import Message, Receive, Scope, Send, disconnected, send_refusal
from apps.core.http import gather

IN_MEMORY = 1 << 20  # bytes of one response
ON_DISK = 2 << 30  # bytes of all responses; beyond, whoever makes one waits for its reader
WAIT_SECONDS = 30.0  # that a request waits for a thread
COME_AGAIN = 5  # seconds
BUSY = "All that answer pages here are busy. Please try again in a moment."
HUNG_UP = "spindle.hung_up"  # in the scope: an event, set when the client is gone

_disk = ThreadPoolExecutor(2, thread_name_prefix="responses")  # a disk that is being measured may keep a write waiting


class ResponseBuffer:
    """ASGI middleware: the application behind it never waits for a reader, and answers `limit` requests at the same time.

    Long responses wait in `folder`, in files without a name, which a crash takes along.
    """

    def __init__(self, application: Any, limit: int, folder: Path | None = None) -> None:
        self.application, self.folder = application, folder
        self.free = asyncio.Semaphore(limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self.free.acquire()
        except TimeoutError:
            await send_refusal(scope, send, 503, BUSY, retry_after=COME_AGAIN)
            return
        buffered = BufferedResponse(receive, send, self.folder)
        try:
            try:
                await self.application({**scope, HUNG_UP: buffered.hung_up}, receive, buffered.send)
            finally:
                self.free.release()
            await buffered.wait_until_sent()
        finally:
            buffered.close()


class BufferedResponse:
    """The messages of one response on their way to its reader."""

    on_disk = 0  # bytes of all responses

    def __init__(self, receive: Receive, send: Send, folder: Path | None) -> None:
        self.hung_up = Event()
        self._receive, self._send, self._folder = receive, send, folder
        self._waiting: deque[Message | int] = deque()  # a number stands for so many bytes of the body in the file
        self._bytes = self._in_memory = self._written_to = self._read_to = 0
        self._file: IO[bytes] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._taken = asyncio.Event()

    async def send(self, message: Message) -> None:
        """Take a message over. Waits for the reader only where nothing more can be kept."""
        while not await self._keep(message):
            self._taken.clear()
            await self._taken.wait()
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        self._taken.set()
        self._bytes += len(message.get("body", b""))
        if self._watcher is None and self._bytes > IN_MEMORY:  # by now the request's body has been read
            self._watcher = asyncio.create_task(self._watch())

    async def wait_until_sent(self) -> None:
        """Wait until the reader has all of it, or is gone. Raises what sending raised."""
        if self._writer is not None:
            await self._writer

    def close(self) -> None:
        for task in (self._writer, self._watcher):
            if task is not None:
                task.cancel()
        if self._file is not None:
            BufferedResponse.on_disk -= self._written_to - self._read_to
            self._file.close()

    async def _watch(self) -> None:
        await disconnected(self._receive)
        self.hung_up.set()

    async def _keep(self, message: Message) -> bool:
        """Keep heads, ends, short bodies and the first megabyte of a stream in memory, the rest in the file. False where there is no room."""
        if (
            self._writer is not None and self._writer.done()
        ):  # it failed, which `wait_until_sent` raises; nobody reads the rest
            return True
        body = message.get("body", b"")
        if not message.get("more_body") or not self._waiting or self._in_memory + len(body) <= IN_MEMORY:
            self._waiting.append(message)
            self._in_memory += len(body)
            return True
        return BufferedResponse.on_disk + len(body) <= ON_DISK and await self._put_aside(body)

    async def _put_aside(self, body: bytes) -> bool:
        """Write to the file. False where the disk has no room for it."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix=".answer-", dir=self._folder)  # noqa: SIM115  (closed by `close`)
            fd, place = self._file.fileno(), self._written_to
            if await asyncio.get_running_loop().run_in_executor(_disk, os.pwrite, fd, body, place) < len(body):
                return False
        except OSError:
            return False
        self._written_to += len(body)
        BufferedResponse.on_disk += len(body)
        self._waiting.append(len(body))
        return True

    async def _write(self) -> None:
        is_last = False
        while not is_last:
            while not self._waiting:
                self._taken.clear()
                await self._taken.wait()
            message = self._waiting.popleft()
            if isinstance(message, int):
                message = {"type": "http.response.body", "body": self._read_back(message), "more_body": True}
            else:
                self._in_memory -= len(message.get("body", b""))
            self._taken.set()
            is_last = message["type"] == "http.response.body" and not message.get("more_body")
            await self._send(message)

    def _read_back(self, size: int) -> bytes:
        assert self._file
        piece = os.pread(self._file.fileno(), size, self._read_to)
        self._read_to += size
        BufferedResponse.on_disk -= size
        return piece


class StopWhenHungUp:
    """WSGI middleware: a stream whose client has hung up is made no further."""

    def __init__(self, application: Any) -> None:
        self.application = application

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        response = self.application(environ, start_response)
        hung_up = environ["asgi.scope"].get(HUNG_UP)
        return response if hung_up is None else _ResponseStream(response, hung_up)


class _ResponseStream:
    def __init__(self, response: Any, hung_up: Event) -> None:
        self.response, self.hung_up = response, hung_up

    def __iter__(self) -> Iterator[bytes]:
        for piece in gather(self.response):  # each is handed from the thread to the loop, and files come by 4 KiB
            yield piece
            if self.hung_up.is_set():
                return

    def close(self) -> None:
        self.response.close()
