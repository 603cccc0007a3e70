"""Keys by which rows are known outside of the database, such as `node7/md0` or `serial/ST4000/S1`.

The same row has the same key in every file, and in the lab that the file is imported into.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django.db.models import Window
from django.db.models.functions import RowNumber

from apps.inventory.exchange.registry import BY_MODEL, KINDS, FileKind
from apps.inventory.models import Part
from apps.labs.models import Lab


def key_of(identity: Iterable[str], slash_may_stay: bool) -> str:
    """Return the key made of an identity's parts, joined by `/`.

    A `/`, `#` or `%` inside a part is written as %2F, %23 or %25. In the last part a `/` stays readable if
    `slash_may_stay`, which is for kinds whose number of parts is always the same.
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

    def _load(self, kind: FileKind, lab: Lab) -> list[Any]:
        """Load the rows of a kind and set their references to rows that are loaded already, to avoid queries."""
        rows = list(kind.model.objects.filter(lab=lab).order_by("id"))
        self._loaded |= {(kind.model, row.pk): row for row in rows}
        references = [field for field in kind.model._meta.concrete_fields if field.related_model in BY_MODEL]
        for row in rows:
            for field in references:
                if other := self._loaded.get((field.related_model, getattr(row, field.attname))):
                    setattr(row, field.name, other)
        return rows

    def add(self, kind: FileKind, row: Part) -> str:
        """Add a row and return its key; the second one with the same key gets `#2`."""
        key = plain = wanted(kind, row)
        number = 1
        while key in self.rows[kind.name]:
            number += 1
            key = f"{plain}#{number}"
        self.rows[kind.name][key] = row
        if row.pk:
            self.keys[type(row), row.pk] = key
        return key

    def find(self, kind: FileKind, key: str) -> Part | None:
        return self.rows[kind.name].get(key)


class Keys:
    """The keys of some rows at a time, without loading all parts.

    Stored are only the numbers of rows that are not the first of their identity, which are few.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    @cached_property
    def _numbers(self) -> dict[str, dict[int, int]]:
        """Return the numbers of rows with equal keys, one query for each kind that can have them."""
        return {kind.name: self._numbered(kind) for kind in KINDS if kind.doubles}

    def _numbered(self, kind: FileKind) -> dict[int, int]:
        assert kind.doubles
        number = Window(RowNumber(), partition_by=[*kind.doubles.alike], order_by="id")
        result = kind.model.objects.filter(kind.doubles.may, lab=self.lab).annotate(number=number).filter(number__gt=1)
        return dict(result.order_by().values_list("id", "number"))

    def of(self, kind: FileKind, row: Part) -> str:
        """Return the key of a row that was loaded with what is `near` it."""
        number = self._numbers[kind.name].get(row.pk) if kind.doubles else None
        return f"{wanted(kind, row)}#{number}" if number else wanted(kind, row)

    def find(self, ids: Mapping[type[Any], Iterable[int]]) -> dict[tuple[type[Any], int], str]:
        """Return the key of each row, by (model, number), with one query for each model.

        The argument has the numbers of the rows by model.
        """
        return {
            (model, row.pk): self.of(BY_MODEL[model], row)
            for model, some in ids.items()
            for row in model.objects.filter(lab=self.lab, pk__in=some).select_related(*BY_MODEL[model].near)
        }


def wanted(kind: FileKind, row: Part) -> str:
    return key_of(kind.identity(row), slash_may_stay=kind.name not in ("arrays", "network-links"))
