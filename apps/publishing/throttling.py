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
        kind = "token" if isinstance(who, Token) else "user"
        counter: Any = cache  # PatientRedisCache
        return bool(counter.count(f"rate:{kind}:{who.pk}:{int(window)}", seconds * 2) <= limit)

    def wait(self) -> float:
        return self.left
