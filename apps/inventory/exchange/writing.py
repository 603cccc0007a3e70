"""Rows of a file into the database, many in one statement. The history's triggers look at whole statements and still see each row."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.inventory.editing.rules import violated
from apps.inventory.exchange.uniqueness import Held, held_by
from apps.inventory.models import Part

AT_ONCE = 500  # rows in one statement
Model = type[Any]


class RefusedAmongManyError(Exception):
    """The database refuses one row of many; the whole has to be done again with `model` row by row to learn which."""

    def __init__(self, model: Model) -> None:
        self.model = model


class Writing:
    """What is to be written, gathered until `flush`. `one_by_one`: models that are written at once, so that the database says which row
    it refuses. `sizes`: how many rows of a model may come.
    """

    def __init__(self, one_by_one: Iterable[Model], sizes: Counter[Model]) -> None:
        self.one_by_one, self.sizes = frozenset(one_by_one), sizes
        self.made: dict[Model, list[Any]] = defaultdict(list)
        self.changed: dict[Model, dict[frozenset[str], list[Any]]] = defaultdict(lambda: defaultdict(list))
        self.gone: dict[Model, list[int]] = defaultdict(list)
        self.held: dict[Model, list[Held]] = {}
        self.numbers: dict[Model, Iterator[int]] = {}

    def know(self, model: type[Part], rows: Iterable[Part]) -> None:
        """The rows of a kind as they are, before any is written."""
        self.held[model] = held_by(model, rows)

    def make(self, row: Part) -> str:
        """Why it cannot be, in a sentence; nothing if it can. The row has its number from now on."""
        row.pk = self._number(type(row))
        return self._taken(row, self.made[type(row)])

    def change(self, row: Part, names: Iterable[str]) -> str:
        return self._taken(row, self.changed[type(row)][frozenset(names)])

    def replace(self, model: Model, gone: Iterable[int], changed: Iterable[Any], made: Iterable[Any]) -> str:
        """Members or sections of one part; `changed` have all their columns anew. Why it cannot be, or nothing."""
        self.gone[model] += gone
        self.changed[model][_columns(model)] += changed
        self.made[model] += made
        return self._alone(model) if model in self.one_by_one else ""

    def _taken(self, row: Part, waiting: list[Any]) -> str:
        model = type(row)
        for held in self.held.get(model, ()):
            if held.is_broken_by(row):
                return violated(held.name)
        waiting.append(row)
        if model in self.one_by_one and (sentence := self._alone(model)):
            return sentence
        for held in self.held.get(model, ()):
            held.note(row)
        return ""

    def _alone(self, model: Model) -> str:
        try:
            self._write(model)
        except IntegrityError as error:
            return violated(error)
        return ""

    def flush(self, *models: Model) -> None:
        """Raises `RefusedAmongManyError`."""
        for model in models or {*self.gone, *self.changed, *self.made}:
            try:
                self._write(model)
            except IntegrityError:
                raise RefusedAmongManyError(model) from None

    def _write(self, model: Model) -> None:
        """What goes and what changes comes first: it frees what new rows may take."""
        gone, changed, made = self.gone.pop(model, []), self.changed.pop(model, {}), self.made.pop(model, [])
        if not (gone or changed or made):
            return
        with transaction.atomic():
            if gone:
                model._default_manager.filter(pk__in=gone).delete()
            for names, rows in changed.items():
                for some in _batched(rows, AT_ONCE):
                    _update(model, [model._meta.get_field(name) for name in sorted(names)], some)
            model._default_manager.bulk_create(made, batch_size=AT_ONCE)

    def _number(self, model: Model) -> int:
        """From the table's own sequence, many at a time; numbers that are not used are left out for good, as with any refused row."""
        if model not in self.numbers:
            self.numbers[model] = _numbers(model, min(AT_ONCE, max(1, self.sizes[model])))
        return next(self.numbers[model])


def _columns(model: Model) -> frozenset[str]:
    return frozenset(field.name for field in model._meta.concrete_fields if not field.primary_key)


def _update(model: Model, fields: Sequence[Any], rows: Sequence[Any]) -> None:
    """One short statement for all rows, each with its own values. Django's own bulk update says every value in a WHEN, which costs
    five times as much.
    """
    now = timezone.now()
    said = [
        {"id": row.pk} | {one.column: now if one.name == "updated_at" else getattr(row, one.attname) for one in fields}
        for row in rows
    ]
    quoted, table = connection.ops.quote_name, connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(f"{quoted(one.column)} = said.{quoted(one.column)}" for one in fields)
    records = f"jsonb_populate_recordset(NULL::{table}, %s::jsonb) said"
    with connection.cursor() as cursor:  # the names are the models' own
        text = json.dumps(said, cls=DjangoJSONEncoder)
        cursor.execute(f"UPDATE {table} SET {columns} FROM {records} WHERE {table}.id = said.id", [text])  # noqa: S608


def _batched(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _numbers(model: Model, lump: int) -> Iterator[int]:
    for _ in count():
        with connection.cursor() as cursor:
            asked = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
            cursor.execute(asked, [model._meta.db_table, lump])
            found = cursor.fetchall()
        yield from (number for (number,) in found)
