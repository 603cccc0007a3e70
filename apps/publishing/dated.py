"""Since when an answer is as it is: what `Last-Modified` says, and what `If-Modified-Since` is held against.

No date of a row moves with all that an answer shows (a host's name, a caveat's rule, the program's version). So the date is the answer's own: when it
was first found to differ from what this address had sent before.
"""

import time
from hashlib import sha256
from typing import Any

from django.core.cache import cache
from rest_framework.request import Request

from apps.labs.isolation import visible_labs

KEPT_S = 30 * 86_400


def dated(request: Request, tag: str) -> int:
    """Seconds since the epoch. Another content has a later date, even within one second; what was forgotten is dated anew, and sent again."""
    key = f"answer:{_asked(request)}"
    known = cache.get(key)
    if known and known[0] == tag:
        return int(known[1])
    date = max(int(time.time()), known[1] + 1 if known else 0)
    cache.set(key, (tag, date), KEPT_S)
    return date


def _asked(request: Request) -> str:
    """Who may see what asks for which address in which form."""
    renderer: Any = request.accepted_renderer
    return sha256(repr([request.build_absolute_uri(), renderer.format, visible_labs()]).encode()).hexdigest()
