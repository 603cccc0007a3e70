"""The form of a change to many: each field with a box that says whether it is meant at all."""

from typing import Any

from django import forms

from apps.core.forms import SiteForm
from apps.inventory.bulk.edit import ManyEdit, fields_of
from apps.inventory.editing.edit_request import is_empty
from apps.inventory.editing.inputs import WHY, has_why, input_for
from apps.inventory.editing.registry import PartKind
from apps.inventory.vocabulary import Absence
from apps.labs.models import Lab


class ManyForm(SiteForm):
    labels_set = forms.CharField(
        required=False,
        label="Set labels",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="name=value, one to a line",
    )
    labels_removed = forms.CharField(
        required=False,
        label="Take labels off",
        help_text="names, with commas between",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, kind: PartKind, lab: Lab, data: object = None) -> None:
        super().__init__(data)
        self.kind = kind
        for name in fields_of(kind):
            field = kind.field(name)
            self.fields[f"on-{name}"] = forms.BooleanField(required=False)
            self.fields[name] = input_for(field, lab, None, True)
            self.fields[name].required = False
            if has_why(field):
                self.fields[f"why-{name}"] = forms.ChoiceField(choices=WHY, required=False)
        _dress(self)

    @property
    def groups(self) -> list[tuple[str, list[tuple[Any, Any, Any]]]]:
        """Return the sections of the form as (title, [(checkbox, field, select for why it is empty or None), …])."""
        groups = [
            (title, [self._row(name) for name in names if name in self.fields]) for title, names in self.kind.groups
        ]
        return [(title, rows) for title, rows in groups if rows]

    def _row(self, name: str) -> tuple[Any, Any, Any]:
        return self[f"on-{name}"], self[name], self[f"why-{name}"] if f"why-{name}" in self.fields else None

    def clean_labels_set(self) -> dict[str, str]:
        results = {}
        for number, line in enumerate(str(self.cleaned_data["labels_set"]).splitlines(), 1):
            name, sign, value = (part.strip() for part in line.partition("="))
            if line.strip() and not (name and sign and value):
                raise forms.ValidationError(f"line {number}: found {line.strip()[:80]!r}, expected name=value")
            if line.strip():
                results[name] = value
        return results

    def clean_labels_removed(self) -> list[str]:
        return [name.strip() for name in str(self.cleaned_data["labels_removed"]).split(",") if name.strip()]

    def edit(self) -> ManyEdit:
        """Return the edit that the form asks for; the form must be valid."""
        cleaned = self.cleaned_data
        values = {name: cleaned[name] for name in fields_of(self.kind) if cleaned[f"on-{name}"]}
        absent = {
            name: cleaned.get(f"why-{name}") or str(Absence.UNKNOWN)
            for name, value in values.items()
            if is_empty(value) and f"why-{name}" in self.fields
        }
        return ManyEdit(values, absent, cleaned["labels_set"], cleaned["labels_removed"])


def _dress(form: ManyForm) -> None:
    from apps.core.forms import dress

    dress(form)
    for name, field in form.fields.items():
        if name.startswith("why-"):
            of = name.removeprefix("why-")
            field.widget.attrs |= {
                "class": "form-select form-select-sm",
                "aria-label": f"why {form.fields[of].label} is empty",
            }
        elif name.startswith("on-"):
            of = name.removeprefix("on-")
            field.widget.attrs |= {"aria-label": f"change {form.fields[of].label}", "data-on": f"id_{of}"}


class InventoryFileForm(SiteForm):
    file = forms.FileField(
        label="File", help_text="JSON, a CSV file of one kind, or a zip of them; at most 20 MiB", max_length=200
    )
