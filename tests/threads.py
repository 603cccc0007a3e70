"""Threads for what is answered in the event loop, in place of the process's own pool: no database connection outlives a test.

Redis has all the time that it needs there: on a busy machine it may take more than the half second that people wait, and then nobody asks
it for a while, the next test included.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connections

from apps.core import asgi, broker, pubsub


def wait_for_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give Redis ten seconds: on a machine with much else to do it may take longer than half a second, whose limit has tests of its own."""
    monkeypatch.setattr(broker, "ANSWER_SECONDS", 10.0)
    monkeypatch.setattr(broker, "_rests", defaultdict(broker._Rest))
    monkeypatch.setattr(pubsub, "_local", threading.local())


@contextmanager
def own_threads(monkeypatch: pytest.MonkeyPatch, number: int = 1) -> Iterator[None]:
    wait_for_redis(monkeypatch)
    with ThreadPoolExecutor(number) as pool:
        monkeypatch.setattr(asgi, "_threads", pool)
        yield
        for _ in range(2 * number):  # one may have two of them
            pool.submit(connections.close_all).result()
