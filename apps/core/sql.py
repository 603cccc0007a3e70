"""SQL by hand, for what the ORM cannot express or not fast enough: prepared queries, and COPY for many narrow rows.

    ids = reserve_ids(Sample, count)
    copy_rows(Sample, ["id", "run_id", "value"], rows)

COPY inserts rows in an eighth of the time of `bulk_create`, which is for everything else.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import psycopg
from django.db import connection, models
from django.db.models import Q
from psycopg import sql

CLOCKS_APART = timedelta(minutes=1)  # of two machines that run workers


def is_due(name: str, now: datetime, longest: timedelta) -> Q:
    """Return the condition that a stored moment has come, also where the server's clock was set back since.

    What was stored while the clock was a month ahead would else wait for a month: a moment that lies further ahead than
    anything sets it was set by such a clock.

    Args:
        name: The field.
        now: The present.
        longest: How far ahead the field is set at most.
    """
    return Q(**{f"{name}__lte": now}) | Q(**{f"{name}__gt": now + longest + CLOCKS_APART})


def is_recent(name: str, now: datetime, within: timedelta) -> Q:
    """Return the condition that a stored moment is less than `within` ago: one that lies ahead was set by a clock that was."""
    return Q(**{f"{name}__gt": now - within, f"{name}__lte": now + CLOCKS_APART})


def rows(
    sql: str, values: Mapping[str, object] = MappingProxyType({}), *, binary: bool = False
) -> list[tuple[Any, ...]]:
    """Return what a statement answers, in the connection's transaction.

    PostgreSQL parses and plans it once per connection; Django's own cursors would have it planned every time, which for
    the large ones costs more than running them. `binary`: for many numbers, which neither side then writes and reads as text.

    Raises:
        django.db.DatabaseError: as Django's cursors do.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    opened: psycopg.Connection = connection.connection
    with connection.wrap_database_errors, psycopg.Cursor(opened) as cursor:
        return cursor.execute(sql.encode(), values, prepare=True, binary=binary).fetchall()


def reserve_ids(model: type[models.Model], count: int) -> list[int]:
    """Take ids for new rows of a model, ascending, which nobody else gets."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [model._meta.db_table, model._meta.pk.column, count],
        )
        return [number for (number,) in cursor.fetchall()]


def copy_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Insert rows that have values for these columns, in the caller's transaction.

    No signals are sent, and only the database's own defaults fill other columns.

    Raises:
        django.db.Error: The database refuses a row; then none is inserted.
    """
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
