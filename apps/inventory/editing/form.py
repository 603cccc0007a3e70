"""The form of one part: its fields by groups, why each empty one is empty, labels, notes, and members or sections.

Rows inside an inventory form: labels, members and sections. They are added, moved and removed by buttons, without any script.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import models
from django.db.models import Q
from django.http import QueryDict

from apps.core import units
from apps.core.forms import SiteForm, dress
from apps.core.text import whole_number
from apps.inventory.editing.edit_request import EditError, Problems, Wanted, is_empty
from apps.inventory.editing.inputs import WHY, has_why, input_for, kind_fields
from apps.inventory.editing.registry import PartKind, Places
from apps.inventory.fields import spec_of, unit_of
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Host, Part
from apps.inventory.vocabulary import Absence, SectionKind
from apps.labs.models import Lab

MOST_ROWS = 2048
Data = Mapping[str, Any]
Texts = dict[str, str]


def read_rows(data: Data, prefix: str, names: tuple[str, ...]) -> list[Texts]:
    """Read the form's fields `member-0-disk`, `member-0-state` … as a list of rows of texts."""
    count = min(whole_number(data.get(f"{prefix}-count", "")) or 0, MOST_ROWS)
    return [{name: str(data.get(f"{prefix}-{number}-{name}", "")).strip() for name in names} for number in range(count)]


def rearranged(rows: list[Texts], act: str, prefix: str, blank: Texts) -> list[Texts]:
    """Return the rows after a button was pressed that adds, moves or removes one.

    `act` is `add-member`, `member-up-3`, `member-down-3` or `member-remove-3`; what is out of range changes nothing.
    """
    if act == f"add-{prefix}":
        return [*rows, dict(blank)]
    verb, _, digits = act.removeprefix(f"{prefix}-").partition("-")
    number = whole_number(digits, most=len(rows) - 1)
    if number is None:
        return rows
    rest = rows[:number] + rows[number + 1 :]
    if verb == "remove":
        return rest
    to = {"up": max(number - 1, 0), "down": number + 1}.get(verb, number)
    return rest[:to] + [rows[number]] + rest[to:]


def labels_of(rows: list[Texts], problems: Problems) -> dict[str, str]:
    labels: dict[str, str] = {}
    for row in rows:
        if not row["name"] and not row["value"]:
            continue
        if not row["name"] or not row["value"]:
            problems.add(
                "labels",
                f"found {row['name'] or '(no name)'} = {row['value'] or '(no value)'}, expected a name and a value",
            )
        elif row["name"] in labels:
            problems.add("labels", f"found {row['name']} twice, expected each name once")
        labels[row["name"]] = row["value"]
    return labels


@dataclass
class PlaceColumn:
    """One input of a row; `listed` are what may be typed there."""

    name: str
    label: str
    hint: str = ""
    is_number: bool = False
    choices: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    is_listed: bool = False


class PlaceRows:
    """Members or sections as texts, and back as values."""

    def __init__(self, of: Places, lab: Lab, host: Host | None) -> None:
        self.of, self.lab, self.host = of, lab, host
        self.is_members = of.model is ArrayMember
        self.names = ("what", "partition", "state") if self.is_members else of.fields
        self.blank: Texts = dict.fromkeys(self.names, "") | (
            {} if self.is_members else {"count": "1", "standby_count": "0"}
        )
        self._known: dict[str, list[Any]] | None = None

    @property
    def columns(self) -> list[PlaceColumn]:
        if self.is_members:
            return [
                PlaceColumn("what", "Disk or array", is_listed=True),
                PlaceColumn("partition", "Partition", "whole device"),
                PlaceColumn("state", "State", "in sync"),
            ]
        return [self._column(name) for name in self.of.fields]

    def _column(self, name: str) -> PlaceColumn:
        label = spec_of(str(self.of.model._meta.model_name), name).form_label.capitalize()
        if name == "kind":
            return PlaceColumn(name, label, choices=[("", "–"), *SectionKind.choices])
        hint = {"bytes_per_second": "200 MB/s", "link": "FC-2G", "name": "server – controller"}.get(name, "")
        return PlaceColumn(name, label, hint, name in ("count", "standby_count"), is_listed=name == "controller")

    @property
    def candidates(self) -> list[str]:
        """Return the names that may be entered, each of which means exactly one part."""
        return sorted(
            (name for name, found in self._by_name().items() if len(found) == 1 and found[0][1]), key=str.lower
        )

    def _by_name(self) -> dict[str, list[Any]]:
        """Map each name to (row, whether it is the name to offer) pairs.

        Disks can also be named by serial number and WWN.
        """
        if self._known is None:
            self._known = {}
            for row in self._rows():
                offered = spelled(row)
                for name in {offered, *_other_names(row)}:
                    self._known.setdefault(name, []).append((row, name == offered))
        return self._known

    def _rows(self) -> list[Any]:
        if not self.is_members:
            return list(Controller.objects.filter(lab=self.lab, host=self.host))
        disks = Disk.objects.filter(Q(host=self.host) | Q(host=None), lab=self.lab)
        return [*disks, *Array.objects.filter(lab=self.lab, host=self.host)]

    def texts_of(self, row: object) -> list[Texts]:
        """Return the members or sections of a part as texts for the form."""
        if row is None:
            return []
        references = ("disk", "member_array") if self.is_members else ("controller",)
        manager: Any = self.of.model._default_manager
        result = manager.filter(**{self.of.parent: row}).select_related(*references).order_by("position")
        return [self._texts(place) for place in result]

    def _texts(self, place: Any) -> Texts:
        if self.is_members:
            return {
                "what": spelled(place.disk or place.member_array),
                "partition": place.partition,
                "state": place.state,
            }
        return {name: _text(name, getattr(place, name)) for name in self.of.fields}

    def values_of(self, rows: list[Texts], problems: Problems) -> list[dict[str, object]]:
        """Return the values of the rows and add what is wrong to `problems`; rows left blank are skipped."""
        entered = [
            (number, row)
            for number, row in enumerate(rows)
            if any(row[name] != self.blank[name] for name in self.names)
        ]
        return [self._values(row, f"{self.of.name}.{number}", problems) for number, row in entered]

    def _values(self, row: Texts, at: str, problems: Problems) -> dict[str, object]:
        values: dict[str, object] = {name: text for name, text in row.items() if name not in ("what", "controller")}
        for name in ("count", "standby_count", "bytes_per_second"):
            if name in values:
                values[name] = self._number(name, row[name], at, problems)
        if not self.is_members:
            return values | {"controller": self._find(row["controller"], f"{at}.controller", problems)}
        result = self._find(row["what"], f"{at}.what", problems, "a disk or an array")
        key = "member_array" if isinstance(result, Array) else "disk"
        return values | ({key: result} if result else {})

    def _number(self, name: str, text: str, at: str, problems: Problems) -> int | None:
        try:
            return units.parse(text, unit_of(name)) if text else None if unit_of(name) else int(self.blank[name])
        except ValueError as error:
            problems.add(f"{at}.{name}", str(error))
            return None if unit_of(name) else int(self.blank[name])

    def _find(self, text: str, at: str, problems: Problems, needed: str = "") -> Any:
        if not text:
            return None
        result = self._by_name().get(text, [])
        if len(result) == 1:
            return result[0][0]
        number = text.rpartition("#")[2]
        exact = [row for row, _ in result if row.pk == whole_number(number)]
        if exact:
            return exact[0]
        expected = needed or "a controller"
        many = f"which means {len(result)} things" if result else f"expected {expected} of {self.host or 'this host'}"
        problems.add(at, f"found {text[:80]!r}, {many}")
        return None


def _text(name: str, value: object) -> str:
    if isinstance(value, int):
        return units.typed(value, unit_of(name))
    return spelled(value) if isinstance(value, Controller) else str(value or "")


def spelled(row: object) -> str:
    """Return what a part is called in a row of a form; a disk without a device name by its number."""
    if isinstance(row, Disk) and not row.device_name:
        return f"{row.serial or row.model or 'disk'} #{row.pk}"
    if isinstance(row, Array) and row.round:
        return f"{row.name} (round {row.round})"
    return str(row)


def _other_names(row: Any) -> set[str]:
    if isinstance(row, Disk):
        return {name for name in (row.serial, row.wwn, f"{row.device_name} #{row.pk}") if name}
    return {f"{row} #{row.pk}"}


MOST_ALIKE = 500
LABEL = ("name", "value")


@dataclass(frozen=True)
class Input:
    """A field on the page, with the choice of why it is empty."""

    field: Any
    why: Any | None
    source: str


class PartForm(SiteForm):
    """The form of a part, or of a new one in `host` if `part` is None.

    `fixed` fields are not asked for: a part stays in its host, except for disks.
    """

    def __init__(self, kind: PartKind, lab: Lab, part: Part | None, host: Host | None, data: object = None) -> None:
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
        """Return the values that were entered, in base units; None if any is invalid, which the form then explains."""
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

    def _labels(self, problems: Problems) -> dict[str, object]:
        """Return the labels; numbers that scripts set stay numbers."""
        before = self.part.labels if self.part else {}
        return {
            name: before[name] if str(before.get(name)) == text else text
            for name, text in labels_of(self.label_rows, problems).items()
        }

    def refuse(self, error: EditError) -> None:
        """Put the errors beside the fields and rows that they are about."""
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


def _fixed(kind: PartKind, part: Part | None) -> tuple[str, ...]:
    if not kind.has_host:
        return ()
    return () if part is not None and kind.name == "disk" else ("host",)


def _initial(kind: PartKind, part: Part | None) -> dict[str, object]:
    if part is None:
        return {field.name: field.get_default() for field in kind_fields(kind, ()) if field.has_default()}
    initial = {field.name: _shown(field, getattr(part, field.attname)) for field in kind_fields(kind, ())}
    return initial | {f"why-{name}": why for name, why in part.absent.items()} | {"notes": part.notes}


def _shown(field: "models.Field[Any, Any]", value: Any) -> Any:
    return {True: "yes", False: "no"}.get(value, "") if field.null and isinstance(field, models.BooleanField) else value


def _as_it_was(before: object, value: object) -> Any:
    """Return the former value if only line ends or outer blanks differ, which browsers change."""
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
    """Return the form's data after one of the buttons that add, move and remove rows."""
    act, changed = data.get("act", ""), data.copy()
    for prefix, names, blank in _prefixes(form):
        rows = rearranged(read_rows(data, prefix, names), act, prefix, blank)
        changed[f"{prefix}-count"] = str(len(rows))
        for number, row in enumerate(rows):
            for name, text in row.items():
                changed[f"{prefix}-{number}-{name}"] = text
    return changed


def _prefixes(form: PartForm) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    results: list[tuple[str, tuple[str, ...], dict[str, str]]] = [("label", LABEL, dict.fromkeys(LABEL, ""))]
    if form.places:
        results.append((form.places.of.word, form.places.names, form.places.blank))
    return results


def has_rows_button(data: QueryDict) -> bool:
    return data.get("act", "save") not in ("save", "")
