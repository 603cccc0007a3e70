"""Many rows into PostgreSQL by COPY, which takes a third of `bulk_create`'s time for wide rows and an eighth for narrow ones.

insert([Run(…), Run(…)])                                  # model instances; they get their ids
insert_tuples(Series, ["run_id", …], rows)                # the same without instances
copy("runs_sample", columns, types, rows)                 # plain tuples
"""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from django.db import connection, models
from psycopg.types.json import Jsonb

from apps.lib.few_rows import fields_of, put
from apps.lib.pipelined import Asking, abreast, is_queued

_NEW_IDS = """
WITH sequence AS MATERIALIZED (SELECT pg_get_serial_sequence(%(table)s, 'id')::regclass AS name),
    taken AS MATERIALIZED (SELECT nextval(name) AS id FROM sequence, generate_series(1, %(count)s))
SELECT min(id), max(id), CASE WHEN max(id) - min(id) >= %(count)s THEN array_agg(id ORDER BY id) END FROM taken"""
_COPY_HEADER, _COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"  # no flags, no extension; no row more
_FEW = 100  # rows are one statement; COPY takes three round trips


def copy(
    table: str, columns: Sequence[str], types: Sequence[str], values: Iterable[Sequence[Any]], *, count: int
) -> None:
    """`count` rows, as one statement where they are few. Raises Django's database errors."""
    if count <= _FEW or is_queued():
        put(table, columns, types, values)
    else:
        _copy(table, columns, types, values)


def _copy(table: str, columns: Sequence[str], types: Sequence[str], values: Iterable[Sequence[Any]]) -> None:
    json = [place for place, name in enumerate(types) if name == "jsonb"]
    names = ", ".join(f'"{name}"' for name in columns)
    statement = f'COPY "{table}" ({names}) FROM STDIN (FORMAT BINARY)'
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as sent:
        sent.set_types(types)
        for row in values:
            sent.write_row(_with_json(row, json) if json else row)


def copy_ready(table: str, columns: Sequence[str], pieces: Iterable[bytes]) -> None:
    """Whole rows that are in COPY's binary format already, without its header and end: PostgreSQL stores one piece of them while the next
    is made.
    """
    names = ", ".join(f'"{name}"' for name in columns)
    statement = f'COPY "{table}" ({names}) FROM STDIN (FORMAT BINARY)'
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as sent:
        sent.write(_COPY_HEADER)
        for piece in pieces:
            sent.write(piece)
        sent.write(_COPY_END)


def new_ids(table: str, count: int) -> Sequence[int]:
    """Ascending; in one row, unless somebody else takes some meanwhile."""
    (found,) = abreast(ids_asked(table, count))
    numbers: Sequence[int] = found
    return numbers


def ids_asked(table: str, count: int) -> Asking[Sequence[int]]:
    if not count:
        return range(0)
    [(first, last, numbers)] = yield _NEW_IDS, {"table": table, "count": count}
    return range(first, last + 1) if last - first + 1 == count else numbers


def insert(new: Sequence[models.Model], *, are_numbered: bool = True) -> None:
    """New rows of one model, whose references are saved already. No signals, no defaults of the database; for kinds of fields
    that `TYPES` names. They get their ids, unless nobody needs them (`are_numbered`).
    """
    if not new:
        return
    model = type(new[0])
    if are_numbered:
        _number([row for row in new if row.pk is None])
    fields = [one for one in fields_of(model) if are_numbered or one[0] != "id"]
    values = [value for _, _, value in fields]
    every = ([value(row) for value in values] for row in new)
    copy(model._meta.db_table, [name for name, _, _ in fields], [kind for _, kind, _ in fields], every, count=len(new))
    for row in new:
        row._state.adding, row._state.db = False, connection.alias


def insert_tuples(model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """New rows as the values of these columns, which are all that have no default in the database. References are saved already; no
    signals.
    """
    if rows:
        kinds = {name: kind for name, kind, _ in fields_of(model)}
        copy(model._meta.db_table, columns, [kinds[name] for name in columns], rows, count=len(rows))


def _number(new: Sequence[models.Model]) -> None:
    if new:
        for row, pk in zip(new, new_ids(new[0]._meta.db_table, len(new)), strict=True):
            row.pk = pk


def _with_json(row: Sequence[Any], json: Sequence[int]) -> Sequence[Any]:
    ready = list(row)
    for place in json:
        ready[place] = _dumped(ready[place])
    return ready


def _dumped(value: Any) -> Jsonb | None:
    return None if value is None else Jsonb(value, dumps=orjson.dumps)
