"""Statements written by hand, for the few places where a person waits for a chain of them."""

import select
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import psycopg
from django.db import connection, transaction


@dataclass(frozen=True)
class Given:
    """One more condition of a statement, and its values: lets a transition and what it depends on be one statement."""

    sql: str = "TRUE"
    values: Mapping[str, Any] = field(default_factory=dict)


ALWAYS = Given()
NOT_DURABLE_YET = (
    "set_config('synchronous_commit', 'off', true)"  # until the transaction ends, which then does not wait for the disk
)


def rows(sql: str, values: Mapping[str, Any] = MappingProxyType({})) -> list[tuple[Any, ...]]:
    """What the statement answers, in the connection's transaction. PostgreSQL parses and plans it once per connection (Django's own
    cursors would have it planned every time, which costs more than running it). Raises Django's database errors.
    """
    with connection.cursor() as checked:  # opened again if it has died
        plain = psycopg.Cursor(checked.connection)
        with connection.wrap_database_errors, plain as cursor:
            return cursor.execute(sql.encode(), values, prepare=True).fetchall()


def together(*statements: tuple[str, Mapping[str, Any]]) -> list[list[tuple[Any, ...]]]:
    """What each of the statements answers: one transaction, if none is open, and one round trip for all of them."""
    with connection.cursor() as checked:
        ours: psycopg.Connection = checked.connection
        with connection.wrap_database_errors, ours.pipeline():
            cursors = [psycopg.Cursor(ours).execute(sql.encode(), values, prepare=True) for sql, values in statements]
            return [cursor.fetchall() for cursor in cursors]


def one_row(sql: str, values: Mapping[str, Any] = MappingProxyType({})) -> tuple[Any, ...] | None:
    return next(iter(rows(sql, values)), None)


def trust_if_quiet() -> None:
    """Before a request's first statement Django asks an old connection for a sign of life, which is a round trip. One that the database
    has closed has something to read, and that can be seen from here.
    """
    ours: Any = connection
    if ours.connection is not None and not ours.errors_occurred:
        with suppress(ValueError, psycopg.Error):
            heard = select.poll()
            heard.register(ours.connection.fileno(), select.POLLIN)
            ours.health_check_done = not heard.poll(0)


def durable_after(act: Callable[[], None]) -> None:
    """After a statement that has called `NOT_DURABLE_YET`: `act` once all can see its rows, and only then wait until they are on disk.
    Who called this answers nobody before both; so a crash in between loses what nobody was promised. Whatever `act` sets going and
    commits itself is on disk not before these rows: PostgreSQL writes its log in order.
    """

    def then() -> None:
        act()
        one_row("SELECT pg_logical_emit_message(true, 'spindle', '')")  # a commit, and so a wait for the log

    transaction.on_commit(then)


def undurable() -> None:
    """In a transaction of which a crash of PostgreSQL may lose the end: its commit waits for no disk."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
