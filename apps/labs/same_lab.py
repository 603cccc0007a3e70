"""In SQL: a lab's row can refer only to rows of the same lab.

For every foreign key between two `LabScoped` models this adds a composite one, (lab_id, x_id) → (lab_id, id). It runs after each
`migrate`, finds new models by itself and costs one catalogue query when nothing is new.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import connections, models

from apps.labs.isolation import LabScoped


def _references() -> Iterator[tuple[str, str, str]]:
    """(table, column, referred table) for every foreign key that must stay inside its lab."""
    for model in apps.get_models():
        if not issubclass(model, LabScoped):
            continue
        for field in model._meta.concrete_fields:
            other = field.related_model
            if isinstance(field, models.ForeignKey) and isinstance(other, type) and issubclass(other, LabScoped):
                yield model._meta.db_table, field.column, other._meta.db_table


def _name(table: str, column: str) -> str:
    return f"{table}_{column}"[:52] + "_same_lab"


def add_constraints(using: str = "default", **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT conname FROM pg_constraint WHERE conname LIKE %s", ["%same_lab"])
        present = {row[0] for row in cursor.fetchall()}
        for table, column, other in _references():
            key = _name(other, "key")
            if key not in present:
                cursor.execute(f'ALTER TABLE "{other}" ADD CONSTRAINT "{key}" UNIQUE (lab_id, id)')
                present.add(key)
            if (name := _name(table, column)) not in present:
                cursor.execute(
                    f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" FOREIGN KEY (lab_id, "{column}") '
                    f'REFERENCES "{other}" (lab_id, id) DEFERRABLE INITIALLY DEFERRED'
                )
