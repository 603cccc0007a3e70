"""The bell: Redis publish. A hint only; everyone who waits also looks at the database on a timer of its own."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import redis
from django.conf import settings

_local = threading.local()
listens_here: list[Callable[[str, bytes], None]] = []  # in this very process: `apps.lib.listening`


def client() -> redis.Redis:
    """One connection per thread. A short timeout: a bell that cannot ring must not hold up work."""
    if not hasattr(_local, "client"):
        _local.client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    found: redis.Redis = _local.client
    return found


def channel(name: str) -> str:
    return f"{settings.REDIS_PREFIX}bell:{name}"


def ring(name: str, message: dict[str, Any] | None = None) -> None:
    """Without a message it only says "look again", and those in this process hear it at once: twice does no harm."""
    if message is None:
        for listen in listens_here:
            listen(channel(name), b"{}")
    try:
        client().publish(channel(name), orjson.dumps(message or {}))
    except redis.RedisError:
        pass  # latency is lost, never work


def remember(name: str, message: dict[str, Any], keep: int, seconds: int) -> None:
    """Ring, and keep the last `keep` messages for `seconds`, for those who come late."""
    remember_all([(name, orjson.dumps(message))], keep, seconds)


def remember_all(messages: Sequence[tuple[str, bytes]], keep: int, seconds: int) -> None:
    """The same for many bells, each with its message, in one round trip."""
    try:
        with client().pipeline(transaction=False) as pipe:
            for name, raw in messages:
                pipe.rpush(channel(name) + ":log", raw)
                pipe.ltrim(channel(name) + ":log", -keep, -1)
                pipe.expire(channel(name) + ":log", seconds)
                pipe.publish(channel(name), raw)
            pipe.execute()
    except redis.RedisError:
        pass


def remembered(name: str) -> list[dict[str, Any]]:
    """What `remember` kept, oldest first; nothing while Redis is away."""
    try:
        return [orjson.loads(raw) for raw in client().lrange(channel(name) + ":log", 0, -1)]
    except redis.RedisError:
        return []


def forget(name: str) -> None:
    try:
        client().delete(channel(name) + ":log")
    except redis.RedisError:
        pass
