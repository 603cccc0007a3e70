"""A Redis cache that behaves as an empty cache while Redis is down."""

from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

from apps.core.broker import asking


def _or_default(method: str, default: Any) -> Callable[..., Any]:
    def call(self: "PatientRedisCache", *args: Any, **kwargs: Any) -> Any:
        try:
            with asking(self.url):
                return getattr(super(PatientRedisCache, self), method)(*args, **kwargs)
        except RedisError:
            return default

    return call


class PatientRedisCache(RedisCache):
    """Answers as an empty cache would while Redis does not answer."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.url = server

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
            with asking(self.url):
                return super().get(key, default, version)
        except RedisError:
            return default

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        try:
            with asking(self.url):
                return int(super().incr(key, delta, version))
        except RedisError:
            return delta
