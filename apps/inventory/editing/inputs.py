"""The inputs of an inventory form: one for each field of a kind, in people's units."""

from typing import Any

from django import forms
from django.db import models

from apps.core import units
from apps.inventory.editing.registry import PartKind
from apps.inventory.fields import COMMON, spec_of
from apps.inventory.models import Host, Part
from apps.inventory.vocabulary import Absence
from apps.labs.models import Lab

EXAMPLES = {"B": "4 MiB, 250 GB", "B/s": "200 MB/s", "bit/s": "10 Gb/s"}
WHY = [(Absence.UNKNOWN, "unknown"), (Absence.NOT_PRINTED, "not reported"), (Absence.NONE, "none")]


class QuantityField(forms.CharField):
    """A whole number as people write it; its unit is never guessed."""

    def __init__(self, unit: str, **more: Any) -> None:
        super().__init__(max_length=60, **more)
        self.unit = unit
        example = EXAMPLES.get(unit, "")
        self.widget.attrs |= {"inputmode": "text" if unit else "numeric", "autocomplete": "off", "placeholder": example}

    def clean(self, value: object) -> Any:
        text = super().clean(value)
        try:
            return units.parse(text, self.unit) if text else None
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None

    def prepare_value(self, value: object) -> Any:
        return units.typed(value, self.unit) if isinstance(value, int) else value


class SettingsField(forms.CharField):
    """A field for settings, `name = value`, one to a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def to_python(self, value: object) -> Any:
        results = {}
        for number, line in enumerate((super().to_python(value) or "").splitlines(), 1):
            name, equals, reported = (word.strip() for word in line.partition("="))
            if line.strip() and not (name and equals and reported):
                raise forms.ValidationError(f"line {number}: found {line.strip()[:80]!r}, expected name = value")
            if line.strip():
                results[name] = reported
        return results

    def prepare_value(self, value: object) -> Any:
        return (
            "\n".join(f"{name} = {said}" for name, said in sorted(value.items())) if isinstance(value, dict) else value
        )


class PartChoiceField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A field for a part of this lab; parts of the host `home` can be entered without the host's name."""

    home: int | None = None

    def label_from_instance(self, obj: Any) -> str:
        host_id = getattr(obj, "host_id", None)
        return str(obj) if host_id in (None, self.home) or isinstance(obj, Host) else f"{obj.host}: {obj}"


def has_why(field: "models.Field[Any, Any]") -> bool:
    """Return whether the field may be empty and asks why it is."""
    if field.name in COMMON or not spec_of(str(field.model._meta.model_name), field.name).explains_absence:
        return False
    return (bool(field.null or field.blank) and not isinstance(field, models.BooleanField)) or bool(field.null)


def input_for(
    field: "models.Field[Any, Any]", lab: Lab, host: Host | None, with_all_hosts: bool = False
) -> forms.Field:
    """Return the form field for a model field.

    `with_all_hosts` offers parts of every host: a disk may move, so its controller may be in another host.
    """
    spec = spec_of(str(field.model._meta.model_name), field.name)
    common: dict[str, Any] = {
        "label": spec.form_label,
        "required": not (field.blank or field.null or field.has_default()),
        "help_text": str(field.help_text),
    }
    if field.is_relation:
        return _choice_of_part(field, lab, host, common, with_all_hosts)
    if isinstance(field, models.JSONField):
        return SettingsField(**common)
    if isinstance(field, models.BooleanField):
        return _yes_or_no(field, common)
    if field.choices:
        empty = [] if field.has_default() else [("", "–")]
        return forms.ChoiceField(choices=[*empty, *field.flatchoices], **common)
    if isinstance(field, models.IntegerField):
        return QuantityField(spec.unit, **common)
    widget = forms.Textarea(attrs={"rows": 2}) if spec.is_long else forms.TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(max_length=field.max_length, widget=widget, **common)


def _yes_or_no(field: "models.Field[Any, Any]", common: dict[str, Any]) -> forms.Field:
    if not field.null:
        return forms.BooleanField(**(common | {"required": False}))
    choices = [("", "–"), ("yes", "yes"), ("no", "no")]
    return forms.TypedChoiceField(choices=choices, coerce=lambda word: word == "yes", empty_value=None, **common)


def _choice_of_part(
    field: Any, lab: Lab, host: Host | None, common: dict[str, Any], with_all_hosts: bool
) -> forms.Field:
    model: type[Part] = field.related_model
    result = model.objects.filter(lab=lab)
    has_host = any(one.name == "host" for one in model._meta.concrete_fields)
    if has_host:
        result = result.select_related("host").order_by("host__name", *(model._meta.ordering or []))
        result = result if host is None or with_all_hosts else result.filter(host=host)
    choice = PartChoiceField(queryset=result, empty_label="–", **common)
    choice.home = host.pk if host else None
    return choice


def kind_fields(kind: PartKind, fixed: tuple[str, ...]) -> list["models.Field[Any, Any]"]:
    return [kind.field(name) for name in kind.fields if name not in (*fixed, *kind.elsewhere)]
