"""Import of a published study's machines into the inventory, through the inventory's own services."""

from typing import Any

from django.db import transaction

from apps.inventory.editing.edit_request import Wanted
from apps.inventory.editing.registry import BY_NAME, PartKind
from apps.inventory.history.authors import by as done_by
from apps.inventory.models import NetworkLink, Part
from apps.inventory.services import change, make
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.studies.machine_payloads import DescribedPart, Entry, described

PLACED = ("disk", "member_array", "controller")


def enter_machines(lab: Lab, description: Entry, by: str) -> dict[str, Part]:
    """Enter all machines of a study.yaml and return their rows by key (`host x4500`, `array ext3-md1`).

    Doing it again changes nothing.

    Raises:
        EditError: A part does not fit into the inventory.
    """
    rows: dict[str, Part] = {}
    with lab_scope(lab.pk), done_by(Author.IMPORT, by), transaction.atomic():
        for part in described(description):
            rows[part.key] = _enter(lab, part, rows)
    return rows


def _enter(lab: Lab, part: DescribedPart, rows: dict[str, Part]) -> Part:
    kind = BY_NAME[part.kind]
    refers: dict[str, object] = {name: rows[key] for name, key in part.refers.items()}
    row = _find_existing(kind, lab, part, refers)
    wanted = Wanted(
        {**part.identity, **part.values, **refers}, part.absent, _places(part, rows), frozenset(part.inferred)
    )
    return make(kind, lab, wanted) if row is None else change(kind, row, wanted)


def _places(part: DescribedPart, rows: dict[str, Part]) -> list[dict[str, Any]] | None:
    if part.places is None:
        return None
    return [
        {name: rows[value] if name in PLACED and isinstance(value, str) else value for name, value in place.items()}
        for place in part.places
    ]


def _find_existing(kind: PartKind, lab: Lab, part: DescribedPart, refers: dict[str, object]) -> Part | None:
    """Return the row that an earlier import made."""
    rows_found = kind.model.objects.filter(lab=lab, **part.identity)
    if "host" in refers:
        rows_found = rows_found.filter(host=refers["host"])
    elif kind.model is NetworkLink:
        rows_found = rows_found.filter(**refers)
    known: Part | None = rows_found.first()
    return known
