"""Keys by which rows are known outside of the database: `node7/md0`, `serial/ST4000/S1`. The same row has the same key in every
file, and in the lab that the file is brought into.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django.db.models import Window
from django.db.models.functions import RowNumber

from apps.inventory.exchange.kinds import BY_MODEL, KINDS, Kind
from apps.inventory.models import Part
from apps.labs.models import Lab


def key_of(identity: Iterable[str], slash_may_stay: bool) -> str:
    """Parts joined by `/`; a `/`, `#` or `%` inside a part is written as %2F, %23 or %25. In the last part a `/` stays readable,
    where the number of parts is always the same.
    """
    *parents, last = identity
    readable = last.replace("%", "%25").replace("#", "%23") if slash_may_stay else _escaped(last)
    return "/".join([*map(_escaped, parents), readable])


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("#", "%23").replace("/", "%2F")


class Keyring:
    """All parts of one lab by key and by number, in the order of their numbers: 11 queries."""

    def __init__(self, lab: Lab) -> None:
        self.rows: dict[str, dict[str, Part]] = {}
        self.keys: dict[tuple[type[Any], int], str] = {}
        self._loaded: dict[tuple[Any, int], Part] = {}
        for kind in KINDS:
            self.rows[kind.name] = {}
            for row in self._load(kind, lab):
                self.add(kind, row)

    def _load(self, kind: Kind, lab: Lab) -> list[Any]:
        """References are put in from what is loaded already; nothing is asked for twice."""
        rows = list(kind.model.objects.filter(lab=lab).order_by("id"))
        self._loaded |= {(kind.model, row.pk): row for row in rows}
        references = [field for field in kind.model._meta.concrete_fields if field.related_model in BY_MODEL]
        for row in rows:
            for field in references:
                if other := self._loaded.get((field.related_model, getattr(row, field.attname))):
                    setattr(row, field.name, other)
        return rows

    def add(self, kind: Kind, row: Part) -> str:
        """Its key; the second of the same gets `#2`."""
        key = plain = wanted(kind, row)
        number = 1
        while key in self.rows[kind.name]:
            number += 1
            key = f"{plain}#{number}"
        self.rows[kind.name][key] = row
        if row.pk:
            self.keys[type(row), row.pk] = key
        return key

    def find(self, kind: Kind, key: str) -> Part | None:
        return self.rows[kind.name].get(key)


class Keys:
    """The same keys without the parts: those of some rows at a time. What is kept are numbers of rows that are not the first of their
    identity, which are few.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    @cached_property
    def _numbers(self) -> dict[str, dict[int, int]]:
        """One query for each kind that knows doubles."""
        return {kind.name: self._numbered(kind) for kind in KINDS if kind.doubles}

    def _numbered(self, kind: Kind) -> dict[int, int]:
        assert kind.doubles
        number = Window(RowNumber(), partition_by=[*kind.doubles.alike], order_by="id")
        found = kind.model.objects.filter(kind.doubles.may, lab=self.lab).annotate(number=number).filter(number__gt=1)
        return dict(found.order_by().values_list("id", "number"))

    def of(self, kind: Kind, row: Part) -> str:
        """Of a row that was read with what is `near` it."""
        number = self._numbers[kind.name].get(row.pk) if kind.doubles else None
        return f"{wanted(kind, row)}#{number}" if number else wanted(kind, row)

    def find(self, ids: Mapping[type[Any], Iterable[int]]) -> dict[tuple[type[Any], int], str]:
        """Model → numbers of its rows into (model, number) → key. One query for each model."""
        return {
            (model, row.pk): self.of(BY_MODEL[model], row)
            for model, some in ids.items()
            for row in model.objects.filter(lab=self.lab, pk__in=some).select_related(*BY_MODEL[model].near)
        }


def wanted(kind: Kind, row: Part) -> str:
    return key_of(kind.identity(row), slash_may_stay=kind.name not in ("arrays", "network-links"))
