"""A cache that does without Redis when Redis is away: Redis rings bells, it never holds what a page needs."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError


def _or_default(method: str, default: Any) -> Callable[..., Any]:
    def call(self: "PatientRedisCache", *args: Any, **kwargs: Any) -> Any:
        try:
            return getattr(super(PatientRedisCache, self), method)(*args, **kwargs)
        except RedisError:
            return default

    return call


class PatientRedisCache(RedisCache):
    """Answers as an empty cache would while Redis does not answer."""

    add = _or_default("add", True)
    set = _or_default("set", None)
    touch = _or_default("touch", False)
    delete = _or_default("delete", False)
    has_key = _or_default("has_key", False)
    set_many = _or_default("set_many", [])
    get_many = _or_default("get_many", {})
    delete_many = _or_default("delete_many", None)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except RedisError:
            return default

    @cached_property
    def _counter(self) -> Any:
        """Kept: making a client costs more than the question."""
        return self._cache.get_client(None, write=True)

    def count(self, key: str, seconds: int, by: int = 1) -> int:
        """What was counted for `key`, which is forgotten after `seconds`, with this `by`; one round trip. 0 while Redis does not answer."""
        name = self.make_and_validate_key(key)
        try:
            with self._counter.pipeline(transaction=False) as pipe:
                pipe.incr(name, by)
                pipe.expire(name, seconds)
                return int(pipe.execute()[0])
        except RedisError:
            return 0

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        try:
            return int(super().incr(key, delta, version))
        except RedisError:
            return delta
