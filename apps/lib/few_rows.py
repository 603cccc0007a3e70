"""A few rows into PostgreSQL by statements that are planned once per connection. Many rows go by COPY (`copying.py`).

put("runs_sample", columns, types, rows)                  # plain tuples
put_one(upload, id="next.id")                             # the text and values of an INSERT, for a statement of several
change(file, ["state", "error"])                          # columns of a row that is there
change_all(runs, ["host", "labels"])                      # of several

All values travel as text that the statement casts, because PostgreSQL plans one text anew for each kind of number that Python sends.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import orjson
from django.db import models
from psycopg.types.json import Jsonb

from apps.lib.pipelined import send

TYPES = {  # Django's kinds of fields → PostgreSQL's types
    "AutoField": "int4", "BigAutoField": "int8", "BigIntegerField": "int8", "BinaryField": "bytea", "BooleanField": "bool",
    "CharField": "varchar", "DateTimeField": "timestamptz", "FloatField": "float8", "IntegerField": "int4",
    "JSONField": "jsonb", "PositiveIntegerField": "int4", "PositiveSmallIntegerField": "int2", "SmallAutoField": "int2",
    "SmallIntegerField": "int2", "TextField": "text",
}  # fmt: skip
Value = Callable[[Any], Any]  # of a row: what stands in one of its columns
_NULL = "NULL"


def put(table: str, columns: Sequence[str], types: Sequence[str], values: Iterable[Sequence[Any]]) -> None:
    """Raises Django's database errors."""
    if every := list(zip(*values, strict=True)):
        send(_putting(table, tuple(columns), tuple(types)), {
            f"v{place}": array(type_name, column)
            for place, (type_name, column) in enumerate(zip(types, every, strict=True))
        })  # fmt: skip


def change(row: models.Model, names: Sequence[str]) -> None:
    """What `save(update_fields=names)` would write."""
    model = type(row)
    values = {name: text_of(type_name, value(row)) for name, type_name, value in _fields(model, tuple(names))}
    send(_changing(model, tuple(names)), {**values, "pk": str(row.pk)})


def change_all(rows: Sequence[models.Model], names: Sequence[str]) -> None:
    """The same for rows of one model, in one statement; Django's own takes a hundred times as long to write it."""
    if rows:
        model = type(rows[0])
        fields = [*_fields(model, tuple(names)), *_fields(model, (str(model._meta.pk.name),))]
        send(_changing_all(model, tuple(names)), {
            column: array(type_name, [value(row) for row in rows]) for column, type_name, value in fields
        })  # fmt: skip


def put_one(row: models.Model, **by_sql: str) -> tuple[str, dict[str, Any]]:
    """`INSERT INTO … SELECT …`, to which FROM and RETURNING can be added, and its values. The row's own number is not among them;
    `by_sql`: columns that the statement knows better.
    """
    model = type(row)
    values, empty = {}, []
    for column, type_name, value in fields_of(model):
        if column == "id" or column in by_sql:
            continue
        if (one := value(row)) is None:
            empty.append(column)  # not as parameters: there are many, and psycopg keeps no statement with more than 50
        else:
            values[_parameter(model, column)] = text_of(type_name, one)
    return _putting_one(model, tuple(by_sql.items()), tuple(empty)), values


def array(type_name: str, values: Sequence[Any]) -> str:
    """PostgreSQL's text for an array of these. Where each is an array itself, its elements are texts."""
    element = _ELEMENTS.get(type_name, _quoted)
    return "{" + ",".join([_NULL if value is None else element(value) for value in values]) + "}"


def text_of(type_name: str, value: Any) -> Any:
    """One value for a parameter that the statement casts to `type_name`."""
    if value is None or type_name == "bytea":
        return value
    if type_name == "jsonb":
        return _json(value)
    return value.isoformat() if type_name == "timestamptz" else str(value)


def fields_of(model: type[models.Model]) -> list[tuple[str, str, Value]]:
    """Of each column its name, its type, and what a new row has in it."""
    return list(_fields(model, None))


@cache
def _fields(model: type[models.Model], names: tuple[str, ...] | None) -> tuple[tuple[str, str, Value], ...]:
    fields = model._meta.concrete_fields if names is None else [model._meta.get_field(name) for name in names]
    return tuple((str(field.column), _type(field), _value_of(field)) for field in fields)  # type: ignore[union-attr]


def _type(field: Any) -> str:
    return TYPES[(field.target_field if field.is_relation else field).get_internal_type()]


def _value_of(field: Any) -> Value:
    name = field.attname
    if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False):
        return lambda row: field.pre_save(row, add=row._state.adding)
    return lambda row: getattr(row, name)


@cache
def _putting(table: str, columns: tuple[str, ...], types: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    arrays = ", ".join(
        f"%(v{place})s::{'text' if type_name.endswith('[]') else type_name}[]" for place, type_name in enumerate(types)
    )
    given = ", ".join(
        f"v{place}::{type_name}" if type_name.endswith("[]") else f"v{place}" for place, type_name in enumerate(types)
    )
    places = ", ".join(f"v{place}" for place in range(len(types)))
    return f'INSERT INTO "{table}" ({names}) SELECT {given} FROM unnest({arrays}) AS rows({places})'  # noqa: S608  (names of models)


@cache
def _putting_one(model: type[models.Model], by_sql: tuple[tuple[str, str], ...], empty: tuple[str, ...]) -> str:
    known = dict(by_sql) | dict.fromkeys(empty, _NULL)
    parameters = {
        column: f"%({_parameter(model, column)})s::{type_name}"
        for column, type_name, _ in fields_of(model) if column != "id" and column not in known
    }  # fmt: skip
    names = ", ".join(f'"{column}"' for column in (*parameters, *known))
    return f'INSERT INTO "{model._meta.db_table}" ({names}) SELECT {", ".join((*parameters.values(), *known.values()))}'


@cache
def _parameter(model: type[models.Model], column: str) -> str:
    return f"{model._meta.model_name}_{column}"


@cache
def _changing(model: type[models.Model], names: tuple[str, ...]) -> str:
    parts = ", ".join(f'"{column}" = %({column})s::{type_name}' for column, type_name, _ in _fields(model, names))
    key = model._meta.pk
    return f'UPDATE "{model._meta.db_table}" SET {parts} WHERE "{key.column}" = %(pk)s::{_type(key)}'  # noqa: S608  (names of models)


@cache
def _changing_all(model: type[models.Model], names: tuple[str, ...]) -> str:
    changed, key = _fields(model, names), _fields(model, (str(model._meta.pk.name),))[0]
    parts = ", ".join(f'"{column}" = new."{column}"' for column, _, _ in changed)
    columns = ", ".join(f'"{column}"' for column, _, _ in (*changed, key))
    arrays = ", ".join(f"%({column})s::{type_name}[]" for column, type_name, _ in (*changed, key))
    return (  # names of models
        f'UPDATE "{model._meta.db_table}" AS old SET {parts} FROM unnest({arrays}) AS new({columns}) '  # noqa: S608
        f'WHERE old."{key[0]}" = new."{key[0]}"'
    )


def _quoted(value: Any) -> str:
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _json(value: Any) -> str:
    return orjson.dumps(value.obj if isinstance(value, Jsonb) else value).decode()


_ELEMENTS: dict[str, Callable[[Any], str]] = {
    "bool": str, "float8": str, "int2": str, "int4": str, "int8": str,
    "bytea": lambda value: f'"\\\\x{bytes(value).hex()}"', "jsonb": lambda value: _quoted(_json(value)),
    "timestamptz": lambda value: str(value.isoformat()),
    "float8[]": lambda value: '"' + array("float8", value) + '"',
}  # fmt: skip
