"""One Redis subscription per process, for all who wait on it: long polls and event streams."""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import redis.asyncio
from django.conf import settings
from redis.exceptions import RedisError

from apps.lib.bell import channel, listens_here

log = logging.getLogger(__name__)
MOST = 1000  # messages that wait for a reader: one that cannot keep up loses the oldest, never the process its memory
ECHOES = 2000  # messages of this process that may be on their way through Redis


class Heard:
    """What has been heard and not yet taken, for one reader in the loop: a future a wait, and no task."""

    def __init__(self) -> None:
        self.messages: deque[bytes] = deque(maxlen=MOST)
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Future[None] | None = None

    def put(self, data: bytes) -> None:
        self.messages.append(data)
        self.wake()

    def wake(self, _: object = None) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Until there is a message, the time is up, or somebody wakes it."""
        if self.messages:
            return
        self._waiting = self._loop.create_future()
        timer = self._loop.call_later(seconds, self.wake)
        try:
            await self._waiting
        finally:
            timer.cancel()


class Listener:
    """`with listener.hear("run:5") as heard: await heard.wait(15)`; messages are lost while Redis is away."""

    def __init__(self) -> None:
        self._ears: dict[str, set[Callable[[bytes], None]]] = {}
        self._echoes: OrderedDict[tuple[str, bytes], None] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def hear(self, name: str) -> Iterator[Heard]:
        heard = Heard()
        with self.call(name, heard.put):
            yield heard

    @contextmanager
    def call(self, name: str, ear: Callable[[bytes], None]) -> Iterator[None]:
        """Call it with every message, in the loop. It is short, and nobody is called or left alone by it."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen())
            self._hear_this_process(asyncio.get_running_loop())
        key = channel(name)
        self._ears.setdefault(key, set()).add(ear)
        try:
            yield
        finally:
            self._ears[key].discard(ear)
            if not self._ears[key]:
                del self._ears[key]

    def _hear_this_process(self, loop: asyncio.AbstractEventLoop) -> None:
        """A click in this process need not go through Redis to wake a poll in it."""

        def hear(key: str, data: bytes) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(self._spread, key, data)

        listens_here[:] = [hear]

    async def _listen(self) -> None:
        """Subscribe to every bell; when the connection breaks, again after a pause."""
        while True:
            client = redis.asyncio.Redis.from_url(
                settings.REDIS_URL, socket_timeout=None, socket_connect_timeout=2, health_check_interval=15
            )
            try:
                async with client.pubsub(ignore_subscribe_messages=True) as pubsub:
                    await pubsub.psubscribe(channel("*"))
                    async for message in pubsub.listen():
                        self._heard(message["channel"].decode(), message["data"])
            except (TimeoutError, RedisError, OSError) as error:
                log.warning("the bell is silent: %s", error)
            finally:
                await client.aclose()
            await asyncio.sleep(1)

    def spread(self, name: str, data: bytes) -> None:
        """To those in this process, from its loop, before it is published: from Redis they do not hear it again."""
        key = channel(name)
        self._echoes[key, data] = None
        if len(self._echoes) > ECHOES:
            self._echoes.popitem(last=False)
        self._spread(key, data)

    def _heard(self, key: str, data: bytes) -> None:
        if (key, data) in self._echoes:
            del self._echoes[key, data]
        else:
            self._spread(key, data)

    def _spread(self, key: str, data: bytes) -> None:
        for ear in self._ears.get(key, ()):
            ear(data)


listener = Listener()
