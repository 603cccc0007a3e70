"""Deleting a part: what is deleted with it, what loses its reference to it, and which evidence forbids it."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import models, transaction
from django.db.models.deletion import Collector, ProtectedError, RestrictedError

from apps.inventory.editing.edit_request import ALL, EditError
from apps.inventory.editing.registry import PartKind
from apps.inventory.models import Part
from apps.inventory.services import refuse_stale

MOST_NAMED = 8


@dataclass
class Loss:
    """What deleting a part would lose, in sentences.

    `forbidden`: why it may not be deleted at all; `lost`: what is deleted with it; `freed`: what stays without it.
    """

    forbidden: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)


def loss_of(row: Part) -> Loss:
    collector = Collector(using="default", origin=row)
    try:
        collector.collect([row])
    except ProtectedError as error:
        return Loss(forbidden=[_evidence(said, model) for said, model in _said(error.protected_objects)])
    except RestrictedError as error:
        return Loss(forbidden=[_member_of(one) for one in _some(error.restricted_objects)])
    return Loss(lost=_lost(collector, row), freed=_freed(collector))


def delete(kind: PartKind, row: Part, version: int | None = None) -> None:
    """Delete a part.

    Raises:
        EditError: with everything that forbids it.
        StaleError: if the part is newer than `version`.
    """
    with transaction.atomic():
        held = kind.model.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if version is not None:
            refuse_stale(kind, held, version)
        if forbidden := loss_of(held).forbidden:
            raise EditError({ALL: forbidden})
        held.delete()


def _evidence(message: str, model: type[models.Model]) -> str:
    ending = (
        "parts with runs cannot be deleted"
        if model._meta.app_label == "runs"
        else "parts that it refers to cannot be deleted"
    )
    return f"{message}: {ending}."


def _member_of(item: object) -> str:
    array = getattr(item, "array", None)
    return f"It is a member of {array} in {array.host}; take it out of there first." if array else f"{item} needs it."


def _some(rows: Iterable[object]) -> list[Any]:
    return list(rows)[:MOST_NAMED]


def _said(rows: Iterable[models.Model]) -> list[tuple[str, type[models.Model]]]:
    """Return a count in words, such as `12 runs`, with the model for each kind of row."""
    counts = Counter(type(row) for row in rows)
    return [(_counted(count, model), model) for model, count in counts.items()]


def _counted(count: int, model: type[models.Model]) -> str:
    return f"{count} {model._meta.verbose_name if count == 1 else model._meta.verbose_name_plural}"


def _lost(collector: Collector, row: Part) -> list[str]:
    rows: dict[type[models.Model], int] = defaultdict(int)
    names: dict[type[models.Model], list[str]] = defaultdict(list)
    for model, found in collector.data.items():
        others = [one for one in found if one != row]
        rows[model] += len(others)
        names[model] += sorted(str(other) for other in others if isinstance(other, Part))
    for queryset in collector.fast_deletes:
        rows[queryset.model] += queryset.count()
    return [_counted(count, model) + _named(names[model]) for model, count in rows.items() if count]


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f": {', '.join(names[:MOST_NAMED])}{more}" if names else ""


def _freed(collector: Collector) -> list[str]:
    """Return sentences such as `3 disks lose their controller` about rows that stay."""
    going = {one for found in collector.data.values() for one in found}
    sentences = []
    for (changed, _), found in collector.field_updates.items():
        rows = [
            one for each in found for one in (each if isinstance(each, models.QuerySet) else [each]) if one not in going
        ]
        if rows:
            verb = "loses its" if len(rows) == 1 else "lose their"
            named = _named(sorted(str(row) for row in rows if isinstance(row, Part)))
            sentences.append(f"{_counted(len(rows), changed.model)} {verb} {changed.name.replace('_', ' ')}{named}")
    return sentences
