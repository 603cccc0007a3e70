"""Statements written by hand, for the few places where a person waits for a chain of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import connection, transaction


@dataclass(frozen=True)
class Given:
    """One more condition of a statement, and its values: lets a transition and what it depends on be one statement."""

    sql: str = "TRUE"
    values: Mapping[str, Any] = field(default_factory=dict)


ALWAYS = Given()


def one_row(sql: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The statement's first row, in the connection's transaction. PostgreSQL parses and plans it once per connection (Django's own
    cursors would have it planned every time, which costs more than running it). Raises Django's database errors.
    """
    with connection.cursor() as checked:  # opened again if it has died
        plain = psycopg.Cursor(checked.connection)
        with connection.wrap_database_errors, plain as cursor:
            return cursor.execute(sql.encode(), values, prepare=True).fetchone()


def durable_after(act: Callable[[], None]) -> None:
    """Inside a transaction: `act` once all can see its rows, and only then wait until they are on disk. Who called this answers nobody
    before both; so a crash in between loses what nobody was promised. Whatever `act` sets going and commits itself is on disk not
    before these rows: PostgreSQL writes its log in order.
    """

    def then() -> None:
        act()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_logical_emit_message(true, 'spindle', '')")  # a commit, and so a wait for the log

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
    transaction.on_commit(then)
