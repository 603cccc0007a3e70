"""One Redis subscription per process, for all who wait on it: long polls and event streams."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import redis.asyncio
from django.conf import settings
from redis.exceptions import RedisError

from apps.lib.bell import channel, listens_here

log = logging.getLogger(__name__)


class Listener:
    """`with listener.hear("run:5") as queue: message = await queue.get()`; messages are lost while Redis is away."""

    def __init__(self) -> None:
        self._ears: dict[str, set[Callable[[bytes], None]]] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def hear(self, name: str) -> Iterator[asyncio.Queue[bytes]]:
        queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1000)

        def keep(data: bytes) -> None:
            if not queue.full():  # a reader that cannot keep up loses messages, never the process its memory
                queue.put_nowait(data)

        with self.call(name, keep):
            yield queue

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
                        self._spread(message["channel"].decode(), message["data"])
            except (TimeoutError, RedisError, OSError) as error:
                log.warning("the bell is silent: %s", error)
            finally:
                await client.aclose()
            await asyncio.sleep(1)

    def spread(self, name: str, data: bytes) -> None:
        """To those in this process, from its loop; who hears it from Redis again knows it by its number."""
        self._spread(channel(name), data)

    def _spread(self, key: str, data: bytes) -> None:
        for ear in self._ears.get(key, ()):
            ear(data)


listener = Listener()
