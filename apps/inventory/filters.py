"""Finding parts in the lists by a word."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform

from apps.labs.models import Lab

Parts = QuerySet[Any]

SEARCHED = {
    "Host": ("name", "os", "kernel", "cpu_model", "role"),
    "Controller": ("name", "vendor", "model", "model_behind", "host__name"),
    "Disk": ("device_name", "vendor", "model", "serial", "wwn", "host__name"),
    "Array": ("name", "device_name", "software", "host__name"),
    "Filesystem": ("type", "mount_point", "device_name", "host__name"),
    "Target": ("name", "path", "host__name"),
    "Enclosure": ("name", "vendor", "model", "serial", "host__name"),
    "Nic": ("name", "vendor", "model", "driver", "mac", "host__name"),
    "Switch": ("name", "vendor", "model", "ports"),
    "Snapshot": ("sha256",),
}


def with_word(parts: Parts, word: str) -> Parts:
    """Parts in which any of the searched fields holds `word`, whatever its case."""
    if not word:
        return parts
    fields = SEARCHED[parts.model.__name__]
    return parts.filter(reduce(or_, (Q(**{f"{field}__icontains": word}) for field in fields)))


def with_label(parts: Parts, asked: Iterable[str]) -> Parts:
    """`room=B12` or `room`: parts that have all of these labels. Values are compared as text."""
    for text in filter(None, asked):
        name, equals, value = (word.strip() for word in text.partition("="))
        if equals:
            parts = parts.annotate(label_asked=KeyTextTransform(name, "labels")).filter(label_asked=value)
        else:
            parts = parts.filter(labels__has_key=name)
    return parts


def own_first(parts: Parts, lab: Lab) -> Parts:
    """The lab's own parts before those of published labs, each in the model's order."""
    rank = Case(When(lab=lab, then=Value(0)), default=Value(1), output_field=IntegerField())
    found: Parts = parts.annotate(rank=rank)
    return found.order_by("rank", *(parts.model._meta.ordering or ["-id"]))
