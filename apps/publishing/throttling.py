"""How often a token or a person may ask: a fixed window, counted by one atomic step in Redis for every process's next few requests."""

import time
from threading import Lock
from typing import Any

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from apps.labs.models import Token

BLOCK = 100  # a process takes so small a part of the limit at once


class Allowance:
    """Requests that this process has taken from Redis and not yet given out. Never more than the limit are given out in all; where it
    is nearly reached, what other processes have left is out of reach, and the last hundredth may be refused.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._left: dict[str, tuple[int, int]] = {}  # who → window, requests left

    def take(self, who: str, window: int, seconds: int, limit: int) -> bool:
        with self._lock:
            known, left = self._left.get(who, (window, 0))
            if known != window or left == 0:
                left = self._more(f"rate:{who}:{window}", seconds, limit)
            self._left[who] = window, max(left - 1, 0)
            return left > 0

    def take_at_hand(self, who: str, window: int) -> bool:
        """`take`, if that waits neither for Redis nor for somebody who does."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            known, left = self._left.get(who, (window, 0))
            is_at_hand = known == window and left > 0
            if is_at_hand:
                self._left[who] = window, left - 1
            return is_at_hand
        finally:
            self._lock.release()

    def _more(self, key: str, seconds: int, limit: int) -> int:
        block = max(limit // BLOCK, 1)
        counter: Any = cache  # PatientRedisCache
        counted: int = counter.count(key, seconds * 2, block)
        return block - max(counted - limit, 0)


allowance = Allowance()


class TokenThrottle(SimpleRateThrottle):
    """While Redis is away nobody is counted: the limit protects the server, it is no wall."""

    scope = "token"

    def allow_request(self, request: Request, view: Any) -> bool:
        return self.allows(request.auth if isinstance(request.auth, Token) else request.user)

    def allows(self, who: Any) -> bool:
        """One more request of a token, or of a person."""
        if who is None or who.pk is None or self.rate is None:
            return True
        limit, seconds = self.parse_rate(self.rate)
        if not limit or not seconds:
            return True
        window, passed = divmod(time.time(), seconds)
        self.left = seconds - passed
        return allowance.take(_named(who), int(window), seconds, limit)

    def allows_at_once(self, who: Any) -> bool:
        """For the event loop; False: `allows` is to be asked, in a thread."""
        _, seconds = self.parse_rate(self.rate)
        return seconds is not None and allowance.take_at_hand(_named(who), int(time.time() // seconds))

    def wait(self) -> float:
        return self.left


def _named(who: Any) -> str:
    return f"{'token' if isinstance(who, Token) else 'user'}:{who.pk}"
