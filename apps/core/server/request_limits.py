"""Limits on the bodies of requests: how slowly they may come, how many bytes they may have and how many may be under way.

A body is read to its end here, in the event loop, before anything else sees the request, so that no thread ever waits for a client. What is
longer than 64 KiB waits on the disk. Whoever has not proved who he is may send a megabyte; whoever has may send what `Sender` allows.

    application = RequestLimits(rest, find_sender, settings.DATA_DIR)

The heads of requests, idle connections and answers that nobody reads are limited by `apps.core.server.connections`.
"""

import asyncio
import shutil
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from apps.core.asgi import HungUpError, Receive, Scope, Send, headers, send_refusal
from apps.core.units import size

GRACE_SECONDS = 20.0  # a body has these, and a second more for each
SLOWEST_RATE = 500  # bytes that have arrived of it (Apache's mod_reqtimeout has the same rule by default)
STRANGERS_MOST = 1 << 20  # bytes of a body whose sender is not asked for
UNDER_WAY = (
    500  # such bodies that may be waited for at the same time; one more cuts off the one that has waited longest
)
UNDER_WAY_OF_ONE = 100  # the same from one address
LARGE = 64  # larger bodies that may be under way at the same time; one more is asked to come again
LARGE_OF_ONE = 8  # the same from one person, token or host
IN_MEMORY = 64 * 1024
PIECE = 256 * 1024  # bytes that are written or read in one go
SPARE_ROOM = 256 << 20  # bytes of disk that bodies leave free
COME_AGAIN = 10  # seconds

_disk = ThreadPoolExecutor(2, thread_name_prefix="bodies")  # a disk that is being measured may keep a write waiting


@dataclass(frozen=True)
class Sender:
    """Who sends a large body, for counting, and how many bytes he may send."""

    name: str
    most: int


FindSender = Callable[[Scope], Awaitable[Sender | None]]


class RefusedBodyError(Exception):
    def __init__(self, status: int, detail: str, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after = status, detail, retry_after


class UnderWay:
    """Bodies that are being waited for, the oldest first: one too many cuts off the oldest, so that whoever sends at once is served."""

    def __init__(self) -> None:
        self.bodies: OrderedDict[Body, None] = OrderedDict()
        self.of: dict[str, OrderedDict[Body, None]] = {}
        self.large: Counter[str] = Counter()

    def add(self, body: "Body") -> None:
        self.bodies[body] = None
        mine = self.of.setdefault(body.client, OrderedDict())
        mine[body] = None
        if len(mine) > UNDER_WAY_OF_ONE:
            next(iter(mine)).cut()
        elif len(self.bodies) > UNDER_WAY:
            next(iter(self.bodies)).cut()

    def discard(self, body: "Body") -> None:
        self.bodies.pop(body, None)
        mine = self.of.get(body.client, OrderedDict())
        mine.pop(body, None)
        if not mine:
            self.of.pop(body.client, None)


under_way = UnderWay()


class Body:
    """The body of one request, on its way here."""

    def __init__(self, scope: Scope, receive: Receive, find_sender: FindSender, folder: Path) -> None:
        self.scope, self.find_sender, self.folder = scope, find_sender, folder
        self._receive = receive
        self.client = str((scope.get("client") or ("",))[0])
        self.began = asyncio.get_running_loop().time()
        self.received, self.most, self.is_cut = 0, STRANGERS_MOST, False
        self.sender: Sender | None = None
        self.file: IO[bytes] | None = None
        self._waiting: asyncio.Timeout | None = None
        self._exit = ExitStack()

    async def read(self) -> Receive:
        """Return what gives the whole body to the next application. Raises `RefusedBodyError` and `HungUpError`."""
        if (announced := _announced(self.scope)) > self.most:
            await self._ask_sender(announced)
        pieces, held = [], 0
        while True:
            event = await self._next()
            piece = event.get("body", b"")
            self.received += len(piece)
            if self.received > self.most:
                await self._ask_sender(self.received)
            pieces.append(piece)
            held += len(piece)
            if not event.get("more_body"):
                break
            if held >= (PIECE if self.file else IN_MEMORY):
                await self._put_aside(b"".join(pieces))
                pieces, held = [], 0
        return self._replayed(b"".join(pieces))

    def close(self) -> None:
        self._exit.close()

    def cut(self) -> None:
        """Refuse the rest of it."""
        self.is_cut = True
        under_way.discard(self)
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(0)

    async def _next(self) -> Any:
        """Return the next part of the body.

        Raises:
            RefusedBodyError: It did not arrive in time.
            HungUpError: The client hung up.
        """
        end = self.began + GRACE_SECONDS + self.received / SLOWEST_RATE
        if self.sender is None:
            under_way.add(self)
        try:
            async with asyncio.timeout_at(end) as self._waiting:
                event = await self._receive()
        except TimeoutError:
            if self.is_cut:
                raise RefusedBodyError(
                    503, "Too many requests are being received; send it again.", COME_AGAIN
                ) from None
            late = f"Found {size(self.received)} of the body after {end - self.began:.0f} s, expected {SLOWEST_RATE} bytes a second."
            raise RefusedBodyError(408, late) from None
        finally:
            self._waiting = None
            under_way.discard(self)
        if event["type"] == "http.disconnect":
            raise HungUpError
        return event

    async def _ask_sender(self, length: int) -> None:
        """Let a longer body in, if somebody whom we know sends it."""
        if self.sender is None:
            self.sender = await self.find_sender(self.scope)
            if self.sender is None:
                more = f"Found a body of {size(length)}, expected at most {size(STRANGERS_MOST)} without a sign-in or a valid token."
                raise RefusedBodyError(401, more)
            self.most = max(self.sender.most, STRANGERS_MOST)
            self._count_large(self.sender.name)
            self._check_room(length)
        if length > self.most:
            more = f"Found {size(length)} in one request, expected at most {size(self.most)}; send it in parts."
            raise RefusedBodyError(413, more)

    def _count_large(self, name: str) -> None:
        large = under_way.large
        if large[name] >= LARGE_OF_ONE or large.total() >= LARGE:
            more = f"Found {large[name]} large requests of {name} and {large.total()} in all on their way, "
            more += f"expected fewer than {LARGE_OF_ONE} and {LARGE}; send it again later."
            raise RefusedBodyError(503, more, COME_AGAIN)
        large[name] += 1

        def forget() -> None:
            large[name] -= 1
            if not large[name]:
                del large[name]

        self._exit.callback(forget)

    def _check_room(self, wanted: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < wanted + SPARE_ROOM:
            raise RefusedBodyError(
                507, f"Found {size(free)} free on the server's disk, expected {size(wanted + SPARE_ROOM)}."
            )

    async def _put_aside(self, data: bytes) -> None:
        if self.file is None:
            file = tempfile.TemporaryFile(prefix=".body-", dir=self.folder)  # noqa: SIM115  (closed by `close`)
            self.file = self._exit.enter_context(file)
        try:
            await asyncio.get_running_loop().run_in_executor(_disk, self.file.write, data)
        except OSError as error:
            raise RefusedBodyError(507, f"The request could not be kept: {error.strerror or error}.") from error

    def _replayed(self, rest: bytes) -> Receive:
        pieces = self._pieces(rest)

        async def again() -> Any:
            event = next(pieces, None)
            return await self._receive() if event is None else event  # behind the body: the end of the connection

        return again

    def _pieces(self, rest: bytes) -> Iterator[dict[str, object]]:
        if self.file is None:
            yield _event(rest, is_last=True)
            return
        self.file.seek(0)
        while piece := self.file.read(PIECE):
            yield _event(piece, is_last=False)
        yield _event(rest, is_last=True)


def _event(piece: bytes, *, is_last: bool) -> dict[str, object]:
    return {"type": "http.request", "body": piece, "more_body": not is_last}


def _announced(scope: Scope) -> int:
    length = headers(scope).get("content-length", "")
    return int(length[:18]) if length.isdecimal() else 0


def has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


class RequestLimits:
    """ASGI middleware: the application behind it gets bodies that are whole."""

    def __init__(self, application: Any, find_sender: FindSender, folder: Path) -> None:
        self.application, self.find_sender, self.folder = application, find_sender, folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await self.application(scope, receive, send)
            return
        body = Body(scope, receive, self.find_sender, self.folder)
        try:
            whole = await body.read()
            await self.application(scope, whole, send)
        except RefusedBodyError as refused:
            await send_refusal(scope, send, refused.status, refused.detail, retry_after=refused.retry_after)
        finally:
            body.close()
