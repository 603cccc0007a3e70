"""Writing rows of a file to the database, many in one statement; the history's triggers still see each row.

The unique constraints of the database, known beforehand: a row that breaks one is refused without asking, and many can be written at once.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, connection, transaction
from django.db.models import Q, UniqueConstraint
from django.utils import timezone

from apps.inventory.editing.rules import violated
from apps.inventory.models import Part

Values = tuple[Any, ...]


class HeldConstraint:
    """A unique constraint and which row of the lab has which values; constraints are within a host or lab."""

    def __init__(self, constraint: UniqueConstraint, model: type[Part], rows: Iterable[Part]) -> None:
        self.name, self.condition = constraint.name, constraint.condition
        fields: Any = [model._meta.get_field(name) for name in constraint.fields]
        self.columns = [field.attname for field in fields]
        self.holders: dict[Values, int] = {}
        self.values: dict[int, Values] = {}
        for row in rows:
            self.note(row)

    def note(self, row: Part) -> None:
        """Note the values with which `row` is written now, in place of its former ones."""
        if (before := self.values.pop(row.pk, None)) is not None:
            del self.holders[before]
        if (values := self._of(row)) is not None:
            self.holders[values], self.values[row.pk] = row.pk, values

    def is_broken_by(self, row: Part) -> bool:
        values = self._of(row)
        return values is not None and self.holders.get(values, row.pk) != row.pk

    def _of(self, row: Part) -> Values | None:
        """Return the values that must be unique; None where the constraint does not apply to the row."""
        values = tuple(getattr(row, column) for column in self.columns)
        is_meant = None not in values and (self.condition is None or _holds(self.condition, row))
        return values if is_meant else None


def held_by(model: type[Part], rows: Iterable[Part]) -> list[HeldConstraint]:
    known = list(rows)
    return [
        HeldConstraint(constraint, model, known)
        for constraint in model._meta.constraints
        if isinstance(constraint, UniqueConstraint)
    ]


def _holds(condition: Q, row: Part) -> bool:
    """Return whether a row meets a condition made of equalities; the database checks it anyway."""
    each = [
        _holds(child, row) if isinstance(child, Q) else getattr(row, child[0]) == child[1]  # type: ignore[index]
        for child in condition.children
    ]
    result = all(each) if condition.connector == Q.AND else any(each)
    return result != condition.negated


AT_ONCE = 500  # rows in one statement
Model = type[Any]


class RefusedAmongManyError(Exception):
    """The database refuses one row of many; all must be written again, `model` row by row, to learn which."""

    def __init__(self, model: Model) -> None:
        self.model = model


class Writing:
    """The rows to write, collected until `flush`.

    `one_by_one` are models that are written at once, so that the database says which row it refuses. `sizes` is how
    many rows of a model may come.
    """

    def __init__(self, one_by_one: Iterable[Model], sizes: Counter[Model]) -> None:
        self.one_by_one, self.sizes = frozenset(one_by_one), sizes
        self.made: dict[Model, list[Any]] = defaultdict(list)
        self.changed: dict[Model, dict[frozenset[str], list[Any]]] = defaultdict(lambda: defaultdict(list))
        self.gone: dict[Model, list[int]] = defaultdict(list)
        self.held: dict[Model, list[HeldConstraint]] = {}
        self.numbers: dict[Model, Iterator[int]] = {}

    def know(self, model: type[Part], rows: Iterable[Part]) -> None:
        """Note the rows of a model as they are before any is written, to check the unique constraints."""
        self.held[model] = held_by(model, rows)

    def make(self, row: Part) -> str:
        """Give a new row its number and queue it; return a sentence why it cannot be made, or '' if it can."""
        row.pk = self._number(type(row))
        return self._taken(row, self.made[type(row)])

    def change(self, row: Part, names: Iterable[str]) -> str:
        return self._taken(row, self.changed[type(row)][frozenset(names)])

    def replace(self, model: Model, gone: Iterable[int], changed: Iterable[object], made: Iterable[object]) -> str:
        """Queue the changes to one part's members or sections; return why they cannot be made, or ''.

        `changed` rows are written with all their columns.
        """
        self.gone[model] += gone
        self.changed[model][_columns(model)] += changed
        self.made[model] += made
        return self._alone(model) if model in self.one_by_one else ""

    def _taken(self, row: Part, waiting: list[object]) -> str:
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
        """Write what is queued for these models, or for all.

        Raises:
            RefusedAmongManyError: if the database refuses any of the rows.
        """
        for model in models or {*self.gone, *self.changed, *self.made}:
            try:
                self._write(model)
            except IntegrityError:
                raise RefusedAmongManyError(model) from None

    def _write(self, model: Model) -> None:
        """Write what is queued for a model; deletions and changes first, as they free what new rows may take."""
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
        """Return the next number from the table's own sequence, of which many are taken at a time.

        Numbers that are not used are left out for good, as those of any refused row are.
        """
        if model not in self.numbers:
            self.numbers[model] = _numbers(model, min(AT_ONCE, max(1, self.sizes[model])))
        return next(self.numbers[model])


def _columns(model: Model) -> frozenset[str]:
    return frozenset(field.name for field in model._meta.concrete_fields if not field.primary_key)


def _update(model: Model, fields: Sequence[Any], rows: Sequence[Any]) -> None:
    """Update all rows, each with its own values, in one short statement.

    Django's own bulk update writes every value in a WHEN, which costs five times as much.
    """
    now = timezone.now()
    records = [
        {"id": row.pk}
        | {field.column: now if field.name == "updated_at" else getattr(row, field.attname) for field in fields}
        for row in rows
    ]
    quoted, table = connection.ops.quote_name, connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(f"{quoted(field.column)} = said.{quoted(field.column)}" for field in fields)
    source = f"jsonb_populate_recordset(NULL::{table}, %s::jsonb) said"
    with connection.cursor() as cursor:  # the names are those of the models
        text = json.dumps(records, cls=DjangoJSONEncoder)
        cursor.execute(f"UPDATE {table} SET {columns} FROM {source} WHERE {table}.id = said.id", [text])  # noqa: S608


def _batched(rows: Sequence[object], size: int) -> Iterator[Sequence[Any]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _numbers(model: Model, lump: int) -> Iterator[int]:
    for _ in count():
        with connection.cursor() as cursor:
            query = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
            cursor.execute(query, [model._meta.db_table, lump])
            result = cursor.fetchall()
        yield from (number for (number,) in result)
