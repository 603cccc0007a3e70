"""Messages between processes through Redis: publishing, the last messages of a channel, and one subscription per process.

A message is a hint only. Everybody who waits for one also looks at the database on a timer, so that a lost message
delays an answer and loses nothing.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import orjson
import redis
import redis.asyncio
from django.conf import settings
from redis.exceptions import RedisError

from apps.core.broker import asking, connection_options

_local = threading.local()


def client() -> redis.Redis:
    """Return this thread's connection to the Redis of the settings."""
    url = settings.REDIS_URL
    if getattr(_local, "url", None) != url:
        _local.client, _local.url = redis.Redis.from_url(url, **connection_options()), url
    result: redis.Redis = _local.client
    return result


def channel(name: str) -> str:
    return f"{settings.REDIS_PREFIX}bell:{name}"


def ring(name: str, message: dict[str, Any] | None = None) -> None:
    """Publish a message; without one, listeners only look again."""
    try:
        with asking(settings.REDIS_URL):
            client().publish(channel(name), orjson.dumps(message or {}))
    except redis.RedisError:
        pass  # latency is lost, never work


def remember(name: str, message: dict[str, Any], keep: int, seconds: int, state: bytes = b"") -> None:
    """Publish a message, and keep the last `keep` messages for `seconds` for listeners that come later.

    Args:
        state: What the sender needs of this message when it makes the next one (`last_state`).
    """
    raw = orjson.dumps(message)
    try:
        with asking(settings.REDIS_URL), client().pipeline(transaction=False) as pipe:
            pipe.rpush(channel(name) + ":log", raw)
            pipe.ltrim(channel(name) + ":log", -keep, -1)
            pipe.expire(channel(name) + ":log", seconds)
            pipe.set(channel(name) + ":state", state, ex=seconds)
            pipe.publish(channel(name), raw)
            pipe.execute()
    except redis.RedisError:
        pass


def remembered(name: str) -> list[dict[str, Any]]:
    """Return what `remember` kept, oldest first; empty while Redis is down."""
    try:
        with asking(settings.REDIS_URL):
            return [orjson.loads(raw) for raw in client().lrange(channel(name) + ":log", 0, -1)]
    except redis.RedisError:
        return []


def newest_of(names: Sequence[str]) -> list[dict[str, Any] | None]:
    """Return the last message that `remember` kept of each channel, in one round trip; None while Redis is down."""
    if not names:
        return []
    try:
        with asking(settings.REDIS_URL), client().pipeline(transaction=False) as pipe:
            for name in names:
                pipe.lindex(channel(name) + ":log", -1)
            return [orjson.loads(raw) if raw else None for raw in pipe.execute()]
    except redis.RedisError:
        return [None] * len(names)


def last_state(name: str) -> bytes:
    """Return what was said with the last message that was remembered; nothing while Redis is away."""
    try:
        with asking(settings.REDIS_URL):
            state = client().get(channel(name) + ":state")
            return state if isinstance(state, bytes) else b""
    except redis.RedisError:
        return b""


def forget(name: str) -> None:
    try:
        with asking(settings.REDIS_URL):
            client().delete(channel(name) + ":log", channel(name) + ":state")
    except redis.RedisError:
        pass


log = logging.getLogger(__name__)
MOST = 1000  # messages that wait for a reader: one that cannot keep up loses the oldest, never the process its memory
SILENCE_S = 15.0  # after which Redis is asked whether it is there
ANSWER_S = 5.0


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
        """Wait until a message arrives, the time is up, or `wake` is called."""
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
        self._task: asyncio.Task[None] | None = None
        self._is_silent = False  # that is said once

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
        key = channel(name)
        self._ears.setdefault(key, set()).add(ear)
        try:
            yield
        finally:
            self._ears[key].discard(ear)
            if not self._ears[key]:
                del self._ears[key]

    async def _listen(self) -> None:
        """Subscribe to every bell; when the connection breaks or Redis hangs, again after a pause."""
        while True:
            client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=None, socket_connect_timeout=2)
            try:
                await self._hear_all(client)
            except (TimeoutError, RedisError, OSError) as error:
                if not self._is_silent:
                    log.warning("the bell is silent: %s", error)
                self._is_silent = True
            finally:
                with suppress(TimeoutError, RedisError, OSError):
                    await client.aclose()
            await asyncio.sleep(1)

    async def _hear_all(self, client: redis.asyncio.Redis) -> None:
        """Deliver messages until the connection breaks or Redis does not answer a ping after some silence."""
        async with client.pubsub(ignore_subscribe_messages=True) as pubsub:
            async with asyncio.timeout(ANSWER_S):
                await pubsub.psubscribe(channel("*"))
            if self._is_silent:
                log.warning("the bell rings again")
            self._is_silent = False
            while True:
                message = await pubsub.get_message(timeout=SILENCE_S)
                if message is not None:
                    self._spread(message["channel"].decode(), message["data"])
                    continue
                async with asyncio.timeout(ANSWER_S):
                    await client.ping()

    def _spread(self, key: str, data: bytes) -> None:
        for ear in self._ears.get(key, ()):
            ear(data)


listener = Listener()
