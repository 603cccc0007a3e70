"""The form of one part: its fields by groups, why each empty one is empty, labels, notes, and members or sections."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import models
from django.http import QueryDict

from apps.inventory.editing.fields import WHY, has_why, input_for, kind_fields
from apps.inventory.editing.kinds import Kind
from apps.inventory.editing.rows_of_forms import PlaceRows, labels_of, read_rows, rearranged
from apps.inventory.editing.wanted import EditError, Problems, Wanted, is_empty
from apps.inventory.models import Host, Part
from apps.inventory.vocabulary import Absence
from apps.labs.models import Lab
from apps.lib.forms import SiteForm, dress

MOST_ALIKE = 500
LABEL = ("name", "value")


@dataclass(frozen=True)
class Input:
    """A field on the page, with the choice of why it is empty."""

    field: Any
    why: Any | None
    source: str


class PartForm(SiteForm):
    """`part` None makes a new one in `host`. `fixed` fields are not asked for: a part stays in its host, but for disks."""

    def __init__(self, kind: Kind, lab: Lab, part: Part | None, host: Host | None, data: Any = None) -> None:
        self.kind, self.lab, self.part, self.host = kind, lab, part, host
        self.fixed = _fixed(kind, part)
        self.places = PlaceRows(kind.places, lab, host) if kind.places else None
        super().__init__(data, initial=_initial(kind, part))
        for field in kind_fields(kind, self.fixed):
            moves = part is not None and kind.name == "disk"
            self.fields[field.name] = input_for(field, lab, host, moves)
            if has_why(field):
                self.fields[f"why-{field.name}"] = forms.ChoiceField(
                    choices=WHY, required=False, label=f"why {self.fields[field.name].label} is empty"
                )
        self.fields["notes"] = forms.CharField(
            required=False, widget=forms.Textarea(attrs={"rows": 3}), label="notes", max_length=20_000
        )
        if part is None and kind.alike:
            self.fields["how_many"] = forms.IntegerField(
                min_value=1, max_value=MOST_ALIKE, initial=1, required=False, label="how many like this",
                help_text=f"{' and '.join(kind.alike).replace('_', ' ')} count on from the first",
            )  # fmt: skip
        _dress(self)
        self.row_errors: dict[str, list[str]] = {}

    @property
    def groups(self) -> list[tuple[str, list[Input]]]:
        return [
            (title, inputs)
            for title, names in self.kind.groups
            if (inputs := [self._input(name) for name in names if name in self.fields])
        ]

    def _input(self, name: str) -> Input:
        why = self[f"why-{name}"] if f"why-{name}" in self.fields else None
        return Input(self[name], why, self.part.sources.get(name, "") if self.part else "")

    @property
    def label_rows(self) -> list[dict[str, str]]:
        if self.is_bound:
            return read_rows(self.data, "label", LABEL)
        labels = self.part.labels if self.part else {}
        return [{"name": name, "value": str(value)} for name, value in sorted(labels.items())]

    @property
    def place_rows(self) -> list[dict[str, str]]:
        if self.places is None:
            return []
        if self.is_bound:
            return read_rows(self.data, self.places.of.word, self.places.names)
        return self.places.texts_of(self.part)

    def wanted(self) -> Wanted | None:
        """What was typed, in base units; None where it is not valid, and then the form says why."""
        problems = Problems()
        labels = self._labels(problems)
        places = self.places.values_of(self.place_rows, problems) if self.places else None
        if not self.is_valid() or problems:
            self.refuse(EditError(problems.found))
            return None
        names = [name for name in self.kind.fields if name in self.fields]
        values = {name: self.cleaned_data[name] for name in names} | {
            "labels": labels,
            "notes": self.cleaned_data["notes"],
        }
        if self.part is None and "host" in self.fixed:
            values["host"] = self.host
        absent = {
            name: self.cleaned_data.get(f"why-{name}") or Absence.UNKNOWN
            for name in names
            if f"why-{name}" in self.fields and is_empty(values[name])
        }
        return Wanted(
            {name: _as_it_was(getattr(self.part, name, None), value) for name, value in values.items()}, absent, places
        )

    def _labels(self, problems: Problems) -> dict[str, Any]:
        """Numbers that scripts set stay numbers."""
        before = self.part.labels if self.part else {}
        return {
            name: before[name] if str(before.get(name)) == text else text
            for name, text in labels_of(self.label_rows, problems).items()
        }

    def refuse(self, error: EditError) -> None:
        """The errors beside the fields and rows that they are about."""
        for name, said in error.errors.items():
            if name in self.fields and self.is_bound and hasattr(self, "cleaned_data"):
                self.add_error(name, said)
            elif "." in name or name in ("labels", "members", "sections"):
                self.row_errors[name] = said
            elif said and hasattr(self, "cleaned_data"):
                self.add_error(None, [f"{name.replace('_', ' ')}: {one}" if name != "__all__" else one for one in said])

    @property
    def how_many(self) -> int:
        return int(self.cleaned_data.get("how_many") or 1)


def _fixed(kind: Kind, part: Part | None) -> tuple[str, ...]:
    if not kind.has_host:
        return ()
    return () if part is not None and kind.name == "disk" else ("host",)


def _initial(kind: Kind, part: Part | None) -> dict[str, Any]:
    if part is None:
        return {field.name: field.get_default() for field in kind_fields(kind, ()) if field.has_default()}
    initial = {field.name: _shown(field, getattr(part, field.attname)) for field in kind_fields(kind, ())}
    return initial | {f"why-{name}": why for name, why in part.absent.items()} | {"notes": part.notes}


def _shown(field: "models.Field[Any, Any]", value: Any) -> Any:
    return {True: "yes", False: "no"}.get(value, "") if field.null and isinstance(field, models.BooleanField) else value


def _as_it_was(before: Any, value: Any) -> Any:
    """A browser's line ends and cut blanks are no change."""
    if isinstance(value, str):
        value = value.replace("\r\n", "\n")
        if isinstance(before, str) and before.strip() == value.strip():
            return before
    return value


def _dress(form: PartForm) -> None:
    dress(form)
    for name, field in form.fields.items():
        if name.startswith("why-"):
            field.widget.attrs |= {
                "class": "form-select form-select-sm why",
                "data-why-of": f"id_{name.removeprefix('why-')}",
            }


def after_button(form: PartForm, data: QueryDict) -> QueryDict:
    """The form's data after one of the buttons that add, move and remove rows."""
    act, changed = data.get("act", ""), data.copy()
    for prefix, names, blank in _prefixes(form):
        rows = rearranged(read_rows(data, prefix, names), act, prefix, blank)
        changed[f"{prefix}-count"] = str(len(rows))
        for number, row in enumerate(rows):
            for name, text in row.items():
                changed[f"{prefix}-{number}-{name}"] = text
    return changed


def _prefixes(form: PartForm) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    found: list[tuple[str, tuple[str, ...], dict[str, str]]] = [("label", LABEL, dict.fromkeys(LABEL, ""))]
    if form.places:
        found.append((form.places.of.word, form.places.names, form.places.blank))
    return found


def has_rows_button(data: QueryDict) -> bool:
    return data.get("act", "save") not in ("save", "")
