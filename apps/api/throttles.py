"""How often a token or a signed-in person may ask."""

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from apps.labs.models import Token


class TokenThrottle(SimpleRateThrottle):
    """Limits the requests of one token or person, counted in the cache that all web processes share.

    While Redis is away nothing is counted (`apps.core.cache`): the limit protects the server, and is no access control.
    """

    scope = "token"

    def get_cache_key(self, request: Request, view: object) -> str | None:
        """Return the key of the caller's requests; None for a stranger, who is refused anyway."""
        if isinstance(request.auth, Token):
            return f"throttle:token:{request.auth.pk}"
        return f"throttle:user:{request.user.pk}" if request.user and request.user.is_authenticated else None
