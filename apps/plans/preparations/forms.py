"""The part of the form of a new plan that asks for preparations: one line for each kind, off unless it is ticked."""

from typing import Any

from django import forms
from django.http import QueryDict

from apps.core.forms import SiteForm, dress
from apps.core.quantities import parse_size
from apps.plans.models import PreparationTime
from apps.plans.preparations import KINDS, PreparationKind
from apps.plans.preparations.preparation import PreparationParameter

SIZE = "file_size"


class PreparationForm(SiteForm):
    """One kind of preparation with its parameters."""

    is_wanted = forms.BooleanField(required=False)

    def __init__(self, kind: PreparationKind, data: QueryDict | None) -> None:
        super().__init__(data, prefix=f"prepare-{kind.kind}")
        self.kind = kind
        self.fields["is_wanted"].label = kind.label
        times = [(time.value, time.label) for time in PreparationTime if time.value in kind.times]
        self.fields["time"] = forms.ChoiceField(choices=times, required=False, label="When")
        for parameter in kind.parameters:
            self.fields[parameter.name] = _field_of(parameter)
        dress(self)

    @property
    def parameter_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("time", *(parameter.name for parameter in self.kind.parameters))]

    def clean_file_size(self) -> int | None:
        """Return the bytes of a typed size."""
        text = self.cleaned_data[SIZE]
        try:
            return parse_size(text) if text else None
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None

    def clean(self) -> dict[str, Any] | None:
        """Ask for what the kind needs, if it is wanted."""
        data = super().clean() or self.cleaned_data
        for parameter in self.kind.parameters:
            if data.get("is_wanted") and parameter.is_needed and data.get(parameter.name) is None:
                self.add_error(parameter.name, "A number is needed.")
        return data

    @property
    def written(self) -> dict[str, Any]:
        """Return the preparation as `read_preparations` takes it."""
        data = self.cleaned_data
        values = {name: data[name] for name in (parameter.name for parameter in self.kind.parameters)}
        given = {
            name: int(value) if isinstance(value, bool) else value
            for name, value in values.items()
            if value is not None
        }
        return {"kind": self.kind.kind, "time": data["time"] or self.kind.times[0], **given}


def _field_of(parameter: PreparationParameter) -> forms.Field:
    common: dict[str, Any] = {"required": False, "label": parameter.label, "initial": parameter.usual}
    if parameter.name == SIZE:
        return forms.CharField(max_length=40, help_text="16g; empty: that of the target's largest file", **common)
    if parameter.is_yes_or_no:
        return forms.BooleanField(**common)
    if parameter.is_whole:
        return forms.IntegerField(min_value=int(parameter.low), max_value=int(parameter.high), **common)
    return forms.FloatField(min_value=parameter.low, max_value=parameter.high, **common)


class PreparationForms:
    """The forms of all kinds together. `written` after `is_valid`."""

    def __init__(self, data: QueryDict | None = None) -> None:
        self.forms = [PreparationForm(kind, data) for kind in KINDS]

    def is_valid(self) -> bool:
        """Return whether those that are wanted are filled in as they should be."""
        valid = [form.is_valid() for form in self.forms]  # each of them, so that each shows its errors
        return all(valid)

    @property
    def errors(self) -> list[Any]:
        return [form.errors for form in self.forms if form.errors]

    @property
    def written(self) -> list[dict[str, Any]]:
        """Return the wanted preparations in the order in which they are done."""
        return [form.written for form in self.forms if form.cleaned_data["is_wanted"]]
