"""The event loop's own connections to the database: they are replaced where they died, and say so where there are none."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from django.db import connection

from apps.core.async_database import AsyncDatabase

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def _run(use: Callable[[AsyncDatabase], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        database = AsyncDatabase()
        await database.open()
        try:
            return await use(database)
        finally:
            await database.close()

    return asyncio.run(run())


def test_it_asks_the_database_that_django_asks() -> None:
    async def ask(database: AsyncDatabase) -> Any:
        return await database.fetch_row("SELECT current_database(), %(number)s + 1", {"number": 1})

    assert _run(ask) == (connection.settings_dict["NAME"], 2)


def test_a_statement_that_finds_nothing_has_no_row() -> None:
    async def ask(database: AsyncDatabase) -> Any:
        return await database.fetch_row("SELECT 1 WHERE %(is_so)s", {"is_so": False})

    assert _run(ask) is None


def test_connections_that_died_are_replaced() -> None:
    async def ask(database: AsyncDatabase) -> Any:
        for _ in range(3):
            before = await database.fetch_row("SELECT pg_backend_pid()", {})
            assert before
            await asyncio.to_thread(_end_connection, before[0])
            after = await database.fetch_row("SELECT pg_backend_pid()", {})
            assert after != before
        return after

    assert _run(ask)


def _end_connection(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    connection.close()


def test_a_mistake_in_a_statement_is_not_taken_for_an_outage() -> None:
    async def ask(database: AsyncDatabase) -> Any:
        return await database.fetch_row("SELECT nothing_of_this_name", {})

    with pytest.raises(psycopg.errors.UndefinedColumn):
        _run(ask)


def test_it_says_so_where_nobody_opened_it() -> None:
    with pytest.raises(psycopg.OperationalError, match="not open"):
        asyncio.run(AsyncDatabase().fetch_row("SELECT 1", {}))
