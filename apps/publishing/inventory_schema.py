"""The shapes of inventory parts, made from the kinds that can be edited, so that a field that is added there is described here."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import models
from rest_framework import serializers as s

from apps.inventory.editing.kinds import Kind, Places
from apps.inventory.editing.payload import JSON_NAMES
from apps.inventory.field_words import unit_of

_SAID: dict[str, Callable[[], Any]] = {
    "labels": lambda: s.DictField(required=False, help_text="name → value"),
    "notes": lambda: s.CharField(required=False, allow_blank=True),
    "absent": lambda: s.DictField(required=False, help_text="why a field is empty: not_printed, unknown, none"),
}


@cache
def shape_of(kind: Kind, more: type[s.Serializer[Any]] = s.Serializer, name: str = "") -> type[s.Serializer[Any]]:
    """What is read. `more`: what is shown beside the fields."""
    fields: dict[str, s.Field[Any, Any, Any, Any]] = {"id": s.IntegerField()} | _fields(kind)
    fields |= {"sources": s.DictField(help_text="where values come from: discovered, typed, inferred")}
    fields |= {"created_at": s.DateTimeField(), "updated_at": s.DateTimeField()}
    return type(name or _name(kind), (more,), fields)


@cache
def body_of(kind: Kind) -> type[s.Serializer[Any]]:
    """What may be set; `PATCH` takes any part of it."""
    return type(f"{_name(kind)}Wanted", (s.Serializer,), _fields(kind))


def _name(kind: Kind) -> str:
    return f"{kind.model.__name__}Part"


def _fields(kind: Kind) -> dict[str, Any]:
    fields = {name: _field(kind.field(name)) for name in kind.fields} | {name: make() for name, make in _SAID.items()}
    if kind.places:
        fields[kind.places.name] = _place(kind.places)(many=True, required=False, help_text="all of them, in order")
    return fields


@cache
def _place(of: Places) -> type[s.Serializer[Any]]:
    return type(of.model.__name__, (s.Serializer,), _place_fields(of))


def _place_fields(of: Places) -> dict[str, Any]:
    fields = {JSON_NAMES.get(name, name): _field(of.model._meta.get_field(name)) for name in of.fields}
    return {
        "position": s.IntegerField(required=False, help_text="counted from 0; the order of the list decides")
    } | fields


def _field(field: Any) -> s.Field[Any, Any, Any, Any]:
    unit = unit_of(field.name)
    text = ", ".join(filter(None, [str(field.help_text), {"bit/s": "bit/s", "B": "bytes", "B/s": "bytes/s"}.get(unit)]))
    more: dict[str, Any] = {"required": False, "help_text": text or None}
    if field.is_relation:
        return s.IntegerField(**more, allow_null=True)
    if isinstance(field, models.BooleanField):
        return s.BooleanField(**more, allow_null=field.null)
    if isinstance(field, models.IntegerField):
        return s.IntegerField(**more, allow_null=field.null)
    if isinstance(field, models.JSONField) and field.get_default() == []:
        return s.ListField(**more)
    if isinstance(field, models.JSONField):
        return s.DictField(**more)
    if field.choices:
        words = ", ".join(value for value, _ in field.flatchoices)
        more["help_text"] = f"{text}: {words}" if text else words
    return s.CharField(**more, allow_null=True, max_length=field.max_length)
