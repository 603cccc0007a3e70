"""Filters of the inventory's lists: one filter set for each kind of part, for its page and for REST."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import or_
from typing import Any

import django_filters
from django import forms
from django.db import models
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform

from apps.core.text import LARGEST, whole_number
from apps.inventory.editing.registry import PartKind
from apps.inventory.fields import FIELDS, label_of, unit_of
from apps.labs.models import Lab

Parts = QuerySet[Any]
NUMBERS = (models.IntegerField, models.FloatField, models.DecimalField)

SEARCHED_BESIDE = {  # fields of related rows that the search box looks in
    "networklink": ("nic__name", "far_nic__name", "switch__name", "far_switch__name"),
    "snapshot": ("sha256",),
}


def searched_in(kind: str) -> tuple[str, ...]:
    """Return the columns that a word is looked for in."""
    specs = FIELDS.get(kind, ())
    own = [spec.name for spec in specs if spec.searched]
    host = ["host__name"] if any(spec.name == "host" for spec in specs) else []
    return (*own, *host, *SEARCHED_BESIDE.get(kind, ()))


def with_word(parts: Parts, word: str) -> Parts:
    """Return the parts in which any of the searched fields contains `word`, whatever its case."""
    if not word:
        return parts
    fields = searched_in(str(parts.model._meta.model_name))
    return parts.filter(reduce(or_, (Q(**{f"{field}__icontains": word}) for field in fields)))


def with_label(parts: Parts, requested: Iterable[str]) -> Parts:
    """Return the parts that have all of these labels, each asked for as `room=B12` or `room`.

    Values are compared as text.
    """
    for text in filter(None, requested):
        name, equals, value = (word.strip() for word in text.partition("="))
        if equals:
            parts = parts.annotate(label_asked=KeyTextTransform(name, "labels")).filter(label_asked=value)
        else:
            parts = parts.filter(labels__has_key=name)
    return parts


def own_first(parts: Parts, lab: Lab) -> Parts:
    """Order the lab's own parts before those of published labs, each in the model's order."""
    rank = Case(When(lab=lab, then=Value(0)), default=Value(1), output_field=IntegerField())
    result: Parts = parts.annotate(rank=rank)
    return result.order_by("rank", *(parts.model._meta.ordering or ["-id"]))


class BooleanWordField(forms.ChoiceField):
    """A field whose value is `true` or `false`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[("true", "yes"), ("false", "no")], **options)

    def clean(self, value: Any) -> bool | None:
        word = super().clean(value)
        return word == "true" if word else None


class PartField(forms.CharField):
    """A field for the number of a part or the name of a host."""

    def __init__(self, *, is_host: bool, **options: Any) -> None:
        super().__init__(**options)
        self.is_host = is_host

    def clean(self, value: Any) -> int | str:
        text = str(super().clean(value))
        number = whole_number(text)
        if number is None and not self.is_host:
            raise forms.ValidationError("Enter the number of a part.")
        return text if number is None else number


class ListField(forms.Field):
    """A field with every value that an address gives to one name."""

    widget = forms.MultipleHiddenInput

    def __init__(self, *, each: forms.Field, **options: Any) -> None:
        super().__init__(**options)
        self.each = each

    def clean(self, value: Any) -> list[Any]:
        return [self.each.clean(one) for one in value or [] if one != ""]


class AnyOfFilter(django_filters.Filter):  # type: ignore[misc]
    """Keep the parts whose field has one of the values that are given."""

    field_class = ListField

    def filter(self, parts: Parts, values: list[Any]) -> Parts:
        return parts.filter(reduce(or_, map(self.condition, values))) if values else parts

    def condition(self, value: Any) -> Q:
        return Q(**{f"{self.field_name}__{self.lookup_expr}": value})


class PartReferenceFilter(AnyOfFilter):
    """Keep what belongs to one of the parts that are given by number, or to a host that is given by name."""

    def condition(self, value: Any) -> Q:
        return Q(**{f"{self.field_name}__name" if isinstance(value, str) else f"{self.field_name}_id": value})


class LabelFilter(AnyOfFilter):
    """Keep the parts that have all of the labels that are given."""

    def filter(self, parts: Parts, values: list[Any]) -> Parts:
        return with_label(parts, values)


class PartFilterSet(django_filters.FilterSet):  # type: ignore[misc]
    """What the filter sets of all kinds share. `filterset_of` adds the fields of a kind."""

    q = django_filters.CharFilter(method="search", label="a word in any of the searched fields, whatever its case")
    label = LabelFilter(
        each=forms.CharField(), label="`name=value`, or a name alone; may be repeated, then all are wanted"
    )

    def search(self, parts: Parts, name: str, word: str) -> Parts:
        return with_word(parts, word.strip())


@cache
def filterset_of(kind: PartKind) -> type[PartFilterSet]:
    """Return the filter set of a kind of part: a filter for each of its fields, with `_min` and `_max` of numbers."""
    filters: dict[str, object] = {}
    for name in kind.fields:
        filters |= _filters_of(name, kind.field(name))
    meta = type("Meta", (), {"model": kind.model, "fields": []})
    return type(f"{kind.model.__name__}FilterSet", (PartFilterSet,), {**filters, "Meta": meta})


def _filters_of(name: str, field: "models.Field[Any, Any]") -> dict[str, django_filters.Filter]:
    label, unit = label_of(name), unit_of(name)
    if isinstance(field, models.ForeignKey):
        is_host = field.related_model._meta.model_name == "host"
        words = f"{label}: its number{' or its name' if is_host else ''}"
        return {name: PartReferenceFilter(name, each=PartField(is_host=is_host), label=words)}
    if isinstance(field, models.BooleanField):
        return {name: AnyOfFilter(name, each=BooleanWordField(), label=f"{label}: `true` or `false`")}
    if field.choices:
        words = ", ".join(f"`{value}`" for value, _ in field.flatchoices if value)
        return {name: AnyOfFilter(name, each=forms.ChoiceField(choices=field.choices), label=f"{label}: {words}")}
    if isinstance(field, NUMBERS):
        number = forms.FloatField if isinstance(field, models.FloatField) else forms.IntegerField
        words = f"{label} in {unit}" if unit else label
        limits = {"each": number(min_value=-LARGEST, max_value=LARGEST)}
        return {
            name: AnyOfFilter(name, **limits, label=words),
            f"{name}_min": AnyOfFilter(name, "gte", **limits, label=f"{words}: at least"),
            f"{name}_max": AnyOfFilter(name, "lte", **limits, label=f"{words}: at most"),
        }
    if isinstance(field, models.CharField | models.TextField):
        return {name: AnyOfFilter(name, "iexact", each=forms.CharField(), label=f"{label}, whatever its case")}
    return {}


def describe_errors(filterset: django_filters.FilterSet) -> list[tuple[str, str, str]]:
    """Return the name of each filter that cannot be read, what was found, and what is wrong with it."""
    return [
        (name, ", ".join(filterset.data.getlist(name))[:200], " ".join(messages))
        for name, messages in filterset.errors.items()
    ]


@dataclass(frozen=True)
class FilterChoice:
    """A filter that a page offers as a list to choose from."""

    name: str
    label: str
    options: list[tuple[str, str]]
    value: str


@dataclass(frozen=True)
class ActiveFilter:
    """A filter that stands in the address, with the address of the list without it."""

    name: str
    label: str
    value: str
    shown: str  # the value in words
    without: str


class FilterForm:
    """A filter set as the page of a list shows it: what can be chosen, what is active, what is wrong."""

    def __init__(self, filterset: PartFilterSet) -> None:
        self.filterset = filterset

    @cached_property
    def choices(self) -> list[FilterChoice]:
        """Return the filters with few values to choose from, each with the chosen value."""
        results = []
        for name, one in self.filterset.filters.items():
            field = one.extra.get("each")
            if isinstance(field, forms.ChoiceField):
                options = [(str(key), str(words)) for key, words in field.widget.choices if key != ""]
                results.append(FilterChoice(name, label_of(name), options, str(self.filterset.data.get(name, ""))))
        return results

    @cached_property
    def active(self) -> list[ActiveFilter]:
        """Return the filters in use, without the word and the labels, which have inputs of their own."""
        results = []
        for name in self.filterset.filters:
            if name not in ("q", "label"):
                results += [self._active(name, value) for value in self.filterset.data.getlist(name) if value]
        return results

    @property
    def hidden(self) -> list[ActiveFilter]:
        """Return the filters in use that have no list to choose from; the form sends them as hidden inputs."""
        visible = {choice.name for choice in self.choices}
        return [one for one in self.active if one.name not in visible]

    @property
    def errors(self) -> list[tuple[str, str, str]]:
        """Return the errors of the filter set in the form of `describe_errors`."""
        return describe_errors(self.filterset)

    def _active(self, name: str, value: str) -> ActiveFilter:
        rest = self.filterset.data.copy()
        rest.setlist(name, [other for other in rest.getlist(name) if other != value])
        rest.pop("page", None)
        field, _, end = name.rpartition("_")
        words = {"min": f"{label_of(field)} at least", "max": f"{label_of(field)} at most"}
        is_limit = name.endswith(("_min", "_max"))
        named = {option: shown for choice in self.choices if choice.name == name for option, shown in choice.options}
        label = words[end] if is_limit else label_of(name)
        return ActiveFilter(name, label, value, named.get(value, value), f"?{rest.urlencode()}")
