"""Differences between what a discovery finds and what a person typed: they are recorded here, never decided."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models import Q

from apps.inventory.models import Difference, Host, Part
from apps.inventory.vocabulary import Decision

Key = tuple[str, int, str]  # part kind, id, field
MAX_KEPT = 5000
# People round: a disk sold as 4 TB has 4,000,787,030,016 bytes, and of 64 GiB of memory the kernel keeps some to itself.
ROUNDED = {"capacity_bytes": 0.005, "size_bytes": 0.005, "ram_bytes": 0.05}


class Ledger:
    """The comparisons of one rebuild of a host; a field about which the tools say nothing is not compared."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.differing: dict[Key, tuple[Part, Any, Any]] = {}
        self.agreeing: set[Key] = set()

    def compare(self, row: Part, field: str, discovered: Any) -> None:
        """Note whether a field's stored value differs from the discovered one.

        `discovered` is the value as the column would hold it; for a reference its primary key.
        """
        if row.pk is None:
            return
        column = row._meta.get_field(field)
        assert isinstance(column, models.Field)
        self.note(row, field, getattr(row, column.attname), discovered)

    def note(self, row: Part, field: str, typed: Any, discovered: Any) -> None:
        key = (str(row._meta.model_name), row.pk, field)
        if _alike(typed, discovered, ROUNDED.get(field, 0.0)):
            self.agreeing.add(key)
        elif len(self.differing) < MAX_KEPT:
            self.differing[key] = (row, typed, discovered)

    def write(self) -> None:
        """Store the noted differences: open new ones, reopen changed ones, delete those on which both sides agree now.

        Nothing is written for a difference that is as it was.
        """
        kept = {(one.part_kind, one.part_id, one.field): one for one in Difference.objects.filter(self._mine())}
        gone = [one.pk for key, one in kept.items() if key in self.agreeing and one.decision != Decision.DISCOVERED]
        if gone:
            Difference.objects.filter(pk__in=gone).delete()
        shown = self._shown()
        fresh, changed = [], []
        for key, (row, _, _) in self.differing.items():
            typed, discovered = shown[key]
            known = kept.get(key)
            if known is None:
                fresh.append(self._opened(key, row, typed, discovered))
            elif (known.typed, known.discovered) != (typed, discovered):
                known.typed, known.discovered, known.part_name = typed, discovered, str(row)[:255]
                known.decision, known.decided_by, known.host = Decision.OPEN, "", self.host
                changed.append(known)
        Difference.objects.bulk_create(fresh)
        for one in changed:
            one.save()

    def _mine(self) -> Q:
        """Return the filter for the differences of this host, and of parts that came here from another."""
        ids = defaultdict(set)
        for kind, pk, _ in (*self.differing, *self.agreeing):
            ids[kind].add(pk)
        wanted = Q(host=self.host)
        for kind, pks in ids.items():
            wanted |= Q(part_kind=kind, part_id__in=pks)
        return wanted & Q(lab_id=self.host.lab_id)

    def _opened(self, key: Key, row: Part, typed: Any, discovered: Any) -> Difference:
        kind, pk, field = key
        return Difference(
            lab_id=self.host.lab_id, host=self.host, part_kind=kind, part_id=pk, part_name=str(row)[:255], field=field,
            typed=typed, discovered=discovered,
        )  # fmt: skip

    def _shown(self) -> dict[Key, tuple[Any, Any]]:
        """Return both sides of each difference as JSON; references as `{"id", "name"}`."""
        names = _names((row, field, value) for (_, _, field), (row, *pair) in self.differing.items() for value in pair)
        found = {}
        for key, (row, typed, discovered) in self.differing.items():
            target = related(type(row), key[2])
            if target:
                typed, discovered = (_reference(target, value, names) for value in (typed, discovered))
            found[key] = (typed, discovered)
        return found


def related(model: type[models.Model], field: str) -> type[models.Model] | None:
    """Return the model that a field refers to; None for a plain field and for `members`, which is no column."""
    if field == "members":
        return None
    found = model._meta.get_field(field).related_model
    return found if isinstance(found, type) else None


def model_of(kind: str) -> type[Part]:
    found: type[Part] = apps.get_model("inventory", kind)
    return found


def _names(values: Iterable[tuple[Part, str, Any]]) -> dict[tuple[type[models.Model], int], str]:
    wanted: dict[type[models.Model], set[int]] = defaultdict(set)
    for row, field, value in values:
        if (target := related(type(row), field)) and value:
            wanted[target].add(value)
    return {
        (target, one.pk): str(one)
        for target, pks in wanted.items()
        for one in target._default_manager.filter(pk__in=pks)
    }


def _reference(target: type[models.Model], value: Any, names: dict[tuple[type[models.Model], int], str]) -> Any:
    return {"id": value, "name": names.get((target, value), "")} if value else None


def _alike(typed: Any, discovered: Any, share: float) -> bool:
    if share and isinstance(typed, int) and isinstance(discovered, int):
        return abs(typed - discovered) <= share * discovered
    if isinstance(typed, str) and isinstance(discovered, str):
        return (
            typed.split() == discovered.split() or "".join(typed.split()).lower() == "".join(discovered.split()).lower()
        )
    return bool(typed == discovered)
