"""How often a token or a person may ask: a fixed window, counted by one atomic step in Redis."""

import time
from typing import Any

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from apps.labs.models import Token


class TokenThrottle(SimpleRateThrottle):
    """While Redis is away nobody is counted: the limit protects the server, it is no wall."""

    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if isinstance(request.auth, Token):
            return f"token:{request.auth.pk}"
        return f"user:{request.user.pk}" if request.user and request.user.pk else None

    def allow_request(self, request: Request, view: Any) -> bool:
        who = self.get_cache_key(request, view)
        if who is None or self.rate is None:
            return True
        limit, seconds = self.parse_rate(self.rate)
        if not limit or not seconds:
            return True
        window, passed = divmod(time.time(), seconds)
        self.left = seconds - passed
        counter: Any = cache  # PatientRedisCache
        return bool(counter.count(f"rate:{who}:{int(window)}", seconds * 2) <= limit)

    def wait(self) -> float:
        return self.left
