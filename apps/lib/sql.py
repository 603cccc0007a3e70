"""Statements written by hand, for the few places where a person waits for a chain of them."""

import select
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
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


def rows(sql: str, values: Mapping[str, Any] = MappingProxyType({}), *, binary: bool = False) -> list[tuple[Any, ...]]:
    """What the statement answers, in the connection's transaction. PostgreSQL parses and plans it once per connection (Django's own
    cursors would have it planned every time, which costs more than running it). `binary`: for many numbers, which neither side then
    writes and reads as text. Raises Django's database errors.
    """
    with connection.wrap_database_errors, psycopg.Cursor(_living()) as cursor:
        return cursor.execute(sql.encode(), values, prepare=True, binary=binary).fetchall()


def together(*statements: tuple[str, Mapping[str, Any]]) -> list[list[tuple[Any, ...]]]:
    """What each of the statements answers: one transaction, if none is open, and one round trip for all of them."""
    with ahead(*statements) as answers:
        return answers()


@contextmanager
def ahead(
    *statements: tuple[str, Mapping[str, Any]], binary: bool = False
) -> Iterator[Callable[[], list[list[tuple[Any, ...]]]]]:
    """`together`, but what is yielded waits for the answers: PostgreSQL works while the caller does something else. Errors of the statements
    are raised there.
    """
    ours = _living()
    with connection.wrap_database_errors, ExitStack() as pipeline:
        pipeline.enter_context(ours.pipeline())
        cursors = [
            psycopg.Cursor(ours).execute(sql.encode(), values, prepare=True, binary=binary)
            for sql, values in statements
        ]

        def answers() -> list[list[tuple[Any, ...]]]:
            pipeline.close()  # the one wait
            return [cursor.fetchall() for cursor in cursors]

        yield answers


def _living() -> psycopg.Connection:
    """Opened again if it has died. As Django's own `cursor()` does, which makes one of its cursors besides."""
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    return connection.connection  # type: ignore[no-any-return]


def one_row(sql: str, values: Mapping[str, Any] = MappingProxyType({})) -> tuple[Any, ...] | None:
    return next(iter(rows(sql, values)), None)


def trust_if_quiet(**_: Any) -> None:
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
    """After a statement that has called `NOT_DURABLE_YET`: `act` once all can see its rows, and only then wait until they are on disk. Who
    called this answers nobody before both; so a crash in between loses what nobody was promised. Whatever `act` sets going and commits
    itself is on disk not before these rows: PostgreSQL writes its log in order.
    """

    def then() -> None:
        act()
        wait_for_disk()

    transaction.on_commit(then)


def wait_for_disk() -> None:
    """Until all that was committed before is on disk: a commit of nothing, which waits for the log."""
    one_row("SELECT pg_logical_emit_message(true, 'spindle', '')")


def undurable() -> None:
    """In a transaction of which a crash of PostgreSQL may lose the end: its commit waits for no disk."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
