"""An inventory part as people read it: each field with its unit, its source, and why it is empty if it is."""

from dataclasses import dataclass
from typing import Any

from django.db import models

from apps.inventory.fields import label_of, unit_of
from apps.inventory.models import Part
from apps.inventory.vocabulary import Absence, Source


@dataclass(frozen=True)
class Fact:
    """A field to show.

    `value` is ready to print unless `unit` is `B`, `B/s` or `bit/s`; where it is None, `absence` says why.
    """

    label: str
    value: Any
    unit: str
    source: str
    absence: str

    @property
    def absence_label(self) -> str:
        return Absence(self.absence).label


def described(part: Part, *fields: str) -> list[Fact]:
    return [_fact(part, name) for name in fields]


def _fact(part: Part, name: str) -> Fact:
    field = part._meta.get_field(name)
    assert isinstance(field, models.Field)
    value = _printable(part, field)
    source = part.sources.get(name, "") if value is not None else ""
    absence = part.absent.get(name, Absence.UNKNOWN) if value is None else ""
    return Fact(label_of(name), value, unit_of(name), Source(source).label if source in Source else "", absence)


def _printable(part: Part, field: "models.Field[Any, Any]") -> Any:
    value = getattr(part, field.name)
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return getattr(part, f"get_{field.name}_display")() if field.choices else value
