"""Threads for what is answered in the event loop, in place of the process's own pool: no database connection outlives a test."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connections

from apps.lib import asgi
from apps.lib.loop_sql import lines


@contextmanager
def own_threads(monkeypatch: pytest.MonkeyPatch, number: int = 1) -> Iterator[None]:
    with ThreadPoolExecutor(number) as pool:
        monkeypatch.setattr(asgi, "_threads", pool)
        yield
        for _ in range(2 * number):  # one may have two of them
            pool.submit(connections.close_all).result()
    lines.close()
