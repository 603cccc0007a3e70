"""The same change to many parts of a kind, by the rules of a single edit. A preview does it and takes it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models, transaction

from apps.inventory.editing.kinds import Kind
from apps.inventory.editing.saving import change
from apps.inventory.editing.wanted import EditError, Wanted
from apps.inventory.exchange.outcome import CHANGED, Entry, FieldChange, Outcome, StaleOutcomeError
from apps.inventory.models import Part
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

MOST = 1000
# What one part is known by, and what only its tools can say, is not the same for many.
OF_ONE = {
    "name", "fqdn", "serial", "wwn", "uuid", "mount_point", "device_name", "address", "mac", "slot_number", "sysctl",
    "disk", "array", "nic", "switch", "far_nic", "far_switch", "used_bytes", "free_bytes", "path", "filesystem",
}  # fmt: skip


@dataclass(frozen=True)
class ManyEdit:
    """`values`: field → value in base units, references as rows, None to empty; `absent`: why an emptied field is empty."""

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
            kept = {name: value for name, value in row.labels.items() if name not in self.labels_removed}
            values["labels"] = kept | dict(self.labels_set)
        return Wanted(values, self.absent)


def fields_of(kind: Kind) -> list[str]:
    """What many may be given alike. Parts stay in their host, but for disks; what has a page of its own is changed there."""
    fixed = {*kind.elsewhere, *(() if kind.name == "disk" else ("host",))}
    return [name for name in kind.fields if name not in OF_ONE | fixed]


def preview(kind: Kind, lab: Lab, ids: Sequence[int], edit: ManyEdit) -> Outcome:
    with lab_scope(lab.pk), transaction.atomic():
        outcome = _done(kind, lab, ids, edit)
        transaction.set_rollback(True)
    return outcome


def edit_many(kind: Kind, lab: Lab, ids: Sequence[int], edit: ManyEdit, digest: str) -> Outcome:
    """Writes what the preview of this digest showed; what it refused stays as it is. Raises `StaleOutcomeError` if anything differs now."""
    with lab_scope(lab.pk), transaction.atomic():
        outcome = _done(kind, lab, ids, edit)
        if outcome.digest != digest:
            raise StaleOutcomeError(outcome)
    return outcome


def _done(kind: Kind, lab: Lab, ids: Sequence[int], edit: ManyEdit) -> Outcome:
    rows = kind.model.objects.filter(lab=lab, pk__in=ids).select_for_update(no_key=True, of=("self",)).order_by("id")
    return Outcome(tuple(_one(kind, row, edit) for row in rows[:MOST]))


def _one(kind: Kind, row: Part, edit: ManyEdit) -> Entry:
    entry = Entry(kind.plural, str(row), str(row.pk))
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


def _state(kind: Kind, row: Part) -> dict[str, Any]:
    """As people read it: references by name, an empty field by why it is empty."""
    return {name: _said(row, name) for name in (*kind.fields, "labels", "notes")}


def _said(row: Part, name: str) -> Any:
    value = getattr(row, name)
    if isinstance(value, models.Model):
        return str(value)
    if value in (None, "", {}, []):
        return {"none": "(none)", "not_printed": "(not printed)"}.get(row.absent.get(name, ""))
    return dict(value) if isinstance(value, dict) else value
