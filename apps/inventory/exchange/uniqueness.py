"""The unique constraints of the database, known beforehand: a row that breaks one is refused without asking, and many can be written at once."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, UniqueConstraint

from apps.inventory.models import Part

Values = tuple[Any, ...]


class Held:
    """One constraint, and which row of the lab holds which values. Parts' constraints are of a host or of a lab: no other lab's row counts."""

    def __init__(self, constraint: UniqueConstraint, model: type[Part], rows: Iterable[Part]) -> None:
        self.name, self.condition = constraint.name, constraint.condition
        fields: Any = [model._meta.get_field(name) for name in constraint.fields]
        self.columns = [field.attname for field in fields]
        self.holders: dict[Values, int] = {}
        self.values: dict[int, Values] = {}
        for row in rows:
            self.note(row)

    def note(self, row: Part) -> None:
        """`row` as it is written now."""
        if (before := self.values.pop(row.pk, None)) is not None:
            del self.holders[before]
        if (values := self._of(row)) is not None:
            self.holders[values], self.values[row.pk] = row.pk, values

    def is_broken_by(self, row: Part) -> bool:
        values = self._of(row)
        return values is not None and self.holders.get(values, row.pk) != row.pk

    def _of(self, row: Part) -> Values | None:
        """None where the constraint does not speak of such a row."""
        values = tuple(getattr(row, column) for column in self.columns)
        is_meant = None not in values and (self.condition is None or _holds(self.condition, row))
        return values if is_meant else None


def held_by(model: type[Part], rows: Iterable[Part]) -> list[Held]:
    known = list(rows)
    return [Held(one, model, known) for one in model._meta.constraints if isinstance(one, UniqueConstraint)]


def _holds(condition: Q, row: Part) -> bool:
    """For conditions of equalities, as those of parts are; the database has the last word anyhow."""
    each = [_holds(one, row) if isinstance(one, Q) else getattr(row, one[0]) == one[1] for one in condition.children]  # type: ignore[index]
    found = all(each) if condition.connector == Q.AND else any(each)
    return found != condition.negated
