"""A guard for calls to Redis, which may be down or hang: a call waits half a second at most, and after a failure nobody asks for a while.

    with asking(url):
        client.publish(…)            # raises RedisError, at once while Redis is given a rest

Redis holds nothing that a page needs, so every caller can go on without it.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as BrokenConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as NoAnswerError
from redis.retry import Retry

ANSWER_SECONDS = 0.5
REST_SECONDS = 3.0  # in which nobody asks; then one does, and the others go on without until that one has an answer


def connection_options() -> dict[str, object]:
    """Return the options with which redis-py connects: half a second, no retries."""
    return {
        "socket_timeout": ANSWER_SECONDS,
        "socket_connect_timeout": ANSWER_SECONDS,
        "retry": Retry(NoBackoff(), 0),
        "health_check_interval": 0,
    }


class RestingError(BrokenConnectionError):
    """Redis has not answered a moment ago, and is not asked."""


class _Rest:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0

    def may_ask(self) -> bool:
        if not self._until:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._until:
                return False
            self._until = now + REST_SECONDS
            return True

    def begin(self) -> None:
        self._until = time.monotonic() + REST_SECONDS

    def end(self) -> None:
        self._until = 0.0


_rests: defaultdict[str, _Rest] = defaultdict(_Rest)  # by address


@contextmanager
def asking(url: str, *failures: type[Exception]) -> Iterator[None]:
    """Guard a call to Redis.

    Args:
        failures: Further exceptions that mean that Redis is down.

    Raises:
        RestingError: Redis failed a moment ago; it is not asked.
    """
    rest = _rests[url]
    away: tuple[type[Exception], ...] = (BrokenConnectionError, NoAnswerError, *failures)
    if not rest.may_ask():
        raise RestingError("Redis did not answer a moment ago")
    try:
        yield
    except away:
        rest.begin()
        raise
    except RedisError:  # it answers, if only that it will not
        rest.end()
        raise
    rest.end()
