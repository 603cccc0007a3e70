"""Let the event loop ask the database itself, for what is asked too often to go through a thread: the agents' long poll.

A few connections of a process's own, beside those of Django's threads. Each statement commits by itself, and without a
wait for the disk (`synchronous_commit=off`): a power cut may lose what was written last, so only write what the next
request writes again. A statement may be sent twice, where its connection broke.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, LiteralString

import psycopg
from django.db import connection
from psycopg_pool import AsyncConnectionPool, PoolClosed

CONNECTIONS = 2  # a statement takes about a millisecond
PATIENCE_S = 5.0  # until one of them is free, or there again

Row = tuple[Any, ...]


class AsyncDatabase:
    """The pool of one process: `row = await database.fetch_row("SELECT … WHERE id = %(id)s", {"id": 5})`."""

    def __init__(self) -> None:
        self._pool: AsyncConnectionPool[psycopg.AsyncConnection[Row]] | None = None

    async def open(self) -> None:
        """Begin to connect; do not wait for it, for the database may be away."""
        self._pool = AsyncConnectionPool(
            kwargs=_connection_options(),
            min_size=1,
            max_size=CONNECTIONS,
            timeout=PATIENCE_S,
            open=False,
        )
        await self._pool.open()

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def fetch_row(self, statement: LiteralString, values: Mapping[str, object]) -> Row | None:
        """Return the first row. PostgreSQL plans a statement once per connection.

        Raises:
            psycopg.OperationalError: the database is away, or so busy that no connection became free in time.
        """
        if self._pool is None:
            raise PoolClosed("the event loop's connections to the database are not open")
        for _ in range(CONNECTIONS):  # each may have died with a server that is back by now
            async with self._pool.connection() as opened:
                with suppress(psycopg.OperationalError):
                    return await (await opened.execute(statement, values, prepare=True)).fetchone()
        async with self._pool.connection() as opened:
            return await (await opened.execute(statement, values, prepare=True)).fetchone()


def _connection_options() -> dict[str, object]:
    """Return how Django connects, in psycopg's words."""
    known = connection.settings_dict
    words = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    named = {word: known[name] for word, name in words.items() if known[name]}
    options = {**known["OPTIONS"], **named}
    return {**options, "options": f"{options.get('options', '')} -c synchronous_commit=off", "autocommit": True}


database = AsyncDatabase()
