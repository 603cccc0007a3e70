"""The same change to many parts of a kind, by the rules of a single edit. A preview does it and takes it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models, transaction

from apps.inventory.editing.edit_request import EditError, Wanted
from apps.inventory.editing.registry import PartKind
from apps.inventory.exchange.outcome import CHANGED, FieldChange, Outcome, OutcomeEntry, StaleOutcomeError
from apps.inventory.models import Part
from apps.inventory.services import change
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

MOST = 1000


@dataclass(frozen=True)
class ManyEdit:
    """A change to many parts.

    `values` maps a field to its value in base units (references as rows, None to empty it); `absent` gives the reason
    for an emptied field.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    labels_set: Mapping[str, str] = field(default_factory=dict)
    labels_removed: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.values or self.labels_set or self.labels_removed)

    def wanted(self, row: Part) -> Wanted:
        values = dict(self.values)
        if self.labels_set or self.labels_removed:
            remaining = {name: value for name, value in row.labels.items() if name not in self.labels_removed}
            values["labels"] = remaining | dict(self.labels_set)
        return Wanted(values, self.absent)


def fields_of(kind: PartKind) -> list[str]:
    """Return the names of the fields that can be set to one value on many parts of this kind.

    Left out are the host (except for disks), fields with a page of their own, and fields that are individual to a part.
    """
    fixed = {*kind.elsewhere, *(() if kind.name == "disk" else ("host",))}
    fixed |= {spec.name for spec in kind.specs if spec.individual}
    return [name for name in kind.fields if name not in fixed]


def preview(kind: PartKind, lab: Lab, ids: Sequence[int], edit: ManyEdit) -> Outcome:
    with lab_scope(lab.pk), transaction.atomic():
        outcome = _done(kind, lab, ids, edit)
        transaction.set_rollback(True)
    return outcome


def edit_many(kind: PartKind, lab: Lab, ids: Sequence[int], edit: ManyEdit, digest: str) -> Outcome:
    """Write the edit that the preview with this digest showed, and return its outcome; refused parts stay unchanged.

    Raises:
        StaleOutcomeError: if the edit would now do anything else than the preview showed.
    """
    with lab_scope(lab.pk), transaction.atomic():
        outcome = _done(kind, lab, ids, edit)
        if outcome.digest != digest:
            raise StaleOutcomeError(outcome)
    return outcome


def _done(kind: PartKind, lab: Lab, ids: Sequence[int], edit: ManyEdit) -> Outcome:
    rows = kind.model.objects.filter(lab=lab, pk__in=ids).select_for_update(no_key=True, of=("self",)).order_by("id")
    return Outcome(tuple(_one(kind, row, edit) for row in rows[:MOST]))


def _one(kind: PartKind, row: Part, edit: ManyEdit) -> OutcomeEntry:
    entry = OutcomeEntry(kind.plural, str(row), str(row.pk))
    before = _state(kind, row)
    try:
        with transaction.atomic():
            after = _state(kind, change(kind, row, edit.wanted(row)))
    except EditError as error:
        for name, said in error.errors.items():
            entry.refuse("" if name == "__all__" else name, " ".join(said))
        return entry
    changes = [FieldChange(name, before[name], after[name]) for name in before if before[name] != after[name]]
    if changes:
        entry.act, entry.changes = CHANGED, changes
    return entry


def _state(kind: PartKind, row: Part) -> dict[str, object]:
    """Return the part's values as people read them: references by name, an empty field by why it is empty."""
    return {name: _said(row, name) for name in (*kind.fields, "labels", "notes")}


def _said(row: Part, name: str) -> Any:
    value = getattr(row, name)
    if isinstance(value, models.Model):
        return str(value)
    if value in (None, "", {}, []):
        return {"none": "(none)", "not_printed": "(not printed)"}.get(row.absent.get(name, ""))
    return dict(value) if isinstance(value, dict) else value
