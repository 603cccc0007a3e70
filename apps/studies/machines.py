"""A published study's machines into the inventory, by the same rules that people and scripts enter theirs."""

from typing import Any

from django.db import transaction

from apps.inventory.editing.authors import by as done_by
from apps.inventory.editing.kinds import BY_NAME, Kind
from apps.inventory.editing.saving import change, make
from apps.inventory.editing.wanted import Wanted
from apps.inventory.models import NetworkLink, Part
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.studies.machine_payloads import Described, Entry, described

PLACED = ("disk", "member_array", "controller")


def enter_machines(lab: Lab, description: Entry, by: str) -> dict[str, Part]:
    """All machines of a study.yaml; key (`host x4500`, `array ext3-md1`) → row. A second time changes nothing. Raises `EditError`."""
    rows: dict[str, Part] = {}
    with lab_scope(lab.pk), done_by(Author.IMPORT, by), transaction.atomic():
        for one in described(description):
            rows[one.key] = _enter(lab, one, rows)
    return rows


def _enter(lab: Lab, one: Described, rows: dict[str, Part]) -> Part:
    kind = BY_NAME[one.kind]
    refers: dict[str, Any] = {name: rows[key] for name, key in one.refers.items()}
    row = _known(kind, lab, one, refers)
    wanted = Wanted({**one.identity, **one.values, **refers}, one.absent, _places(one, rows), frozenset(one.inferred))
    return make(kind, lab, wanted) if row is None else change(kind, row, wanted)


def _places(one: Described, rows: dict[str, Part]) -> list[dict[str, Any]] | None:
    if one.places is None:
        return None
    return [
        {name: rows[value] if name in PLACED and isinstance(value, str) else value for name, value in place.items()}
        for place in one.places
    ]


def _known(kind: Kind, lab: Lab, one: Described, refers: dict[str, Any]) -> Part | None:
    """The row of an earlier time."""
    found = kind.model.objects.filter(lab=lab, **one.identity)
    if "host" in refers:
        found = found.filter(host=refers["host"])
    elif kind.model is NetworkLink:
        found = found.filter(**refers)
    known: Part | None = found.first()
    return known
