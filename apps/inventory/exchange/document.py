"""A lab's inventory, or one host's, as plain data, row by row: what the JSON file holds, and what the CSV files are tables of."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Q, QuerySet

from apps.inventory.exchange.keys import Keys
from apps.inventory.exchange.registry import BY_MODEL, KINDS, ExchangePlaces, FileKind
from apps.inventory.models import Host, NetworkLink, Part, Switch
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

ALWAYS = ("absent", "sources")  # written even if empty: an import keeps what a file does not name
FORMAT, VERSION = "spindle inventory", 1
AT_ONCE = 500  # rows in memory
Row = dict[str, Any]
Names = dict[tuple[type[Any], int], str]


@dataclass
class Outgoing:
    """The export of a lab.

    `host`: only what is in it, and the switches that its NICs are plugged into. `kinds`: only these, all if there are
    none. `only`: only these rows of the one kind. `count`: the number of rows written so far.
    """

    lab: Lab
    host: Host | None = None
    kinds: Sequence[str] = ()
    only: QuerySet[Any] | None = None
    count: int = field(default=0, init=False)

    @property
    def wanted(self) -> list[FileKind]:
        return [kind for kind in KINDS if not self.kinds or kind.name in self.kinds]

    def rows(self, kind: FileKind) -> Iterator[Row]:
        """Yield the rows of a kind by id.

        Sizes are in bytes, rates in bytes/s or bits/s, references are keys; empty fields are left out, except for
        absent and sources. `AT_ONCE` rows are in memory, whatever the size of the lab, with a query for them, for their
        places and for each kind that they refer to. What is deleted meanwhile is left out.
        """
        some = self._some(kind, 0)
        while some:
            self.count += len(some)
            yield from (row for _, row in some)
            some = self._some(kind, some[-1][0]) if len(some) == AT_ONCE else []

    @cached_property
    def _keys(self) -> Keys:
        return Keys(self.lab)

    def _some(self, kind: FileKind, after: int) -> list[tuple[int, Row]]:
        """Return (number, row) of the next rows.

        This has a lab scope of its own, as the request may be over when a streamed response asks for rows.
        """
        with lab_scope(self.lab.pk):
            result = self._found(kind).filter(pk__gt=after).select_related(*kind.near).order_by("pk")[:AT_ONCE]
            parts = list(result)
            places = _places(kind.places, parts) if kind.places else {}
            names = self._keys.find(_references(kind, parts, places))
            return [
                (part.pk, {"key": self._keys.of(kind, part), **_shown(kind, part, places.get(part.pk, ()), names)})
                for part in parts
            ]

    def _found(self, kind: FileKind) -> QuerySet[Any]:
        result: QuerySet[Any] = kind.model.objects.filter(lab=self.lab)
        if self.only is not None:
            result = result.filter(pk__in=self.only.order_by().values("pk"))
        return result.filter(_in_host(kind, self.host)) if self.host else result


def _in_host(kind: FileKind, host: Host) -> Q:
    at_host = Q(nic__host=host) | Q(far_nic__host=host)
    if kind.model is Host:
        return Q(pk=host.pk)
    if kind.model is NetworkLink:
        return at_host
    if kind.model is Switch:
        links = NetworkLink.objects.filter(at_host, lab=host.lab_id)
        return Q(pk__in=links.values("switch")) | Q(pk__in=links.values("far_switch"))
    return Q(host=host)


def _places(places: ExchangePlaces, parts: Iterable[Part]) -> dict[int, list[Any]]:
    results = defaultdict(list)
    manager: Any = places.model._default_manager
    parent = f"{places.parent}_id"
    for row in manager.filter(**{f"{parent}__in": [part.pk for part in parts]}).order_by(parent, "position"):
        results[getattr(row, parent)].append(row)
    return results


def _references(kind: FileKind, parts: Iterable[Part], places: dict[int, list[Any]]) -> dict[type[Any], set[int]]:
    """Return the numbers of the rows that are referred to, by model."""
    results: dict[type[Any], set[int]] = defaultdict(set)
    of_places = kind.places.fields if kind.places else ()
    all_places = [place for some in places.values() for place in some]
    for fields, rows in ((kind.fields.values(), parts), (of_places, all_places)):
        for column in (column for column in fields if column.is_relation):
            model: Any = column.related_model
            results[BY_MODEL[model].model] |= {getattr(row, column.attname) for row in rows} - {None}
    return {model: ids for model, ids in results.items() if ids}


def _shown(kind: FileKind, row: Part, places: Sequence[object], names: Names) -> Row:
    visible: Row = {}
    for name, column in kind.fields.items():
        value = _value(column, row, names)
        if value not in (None, "", {}, []) or name in ALWAYS:
            visible[name] = value
    if kind.places:
        visible[kind.places.name] = [_place(kind.places, place, names) for place in places]
    return visible


def _place(places: ExchangePlaces, row: object, names: Names) -> Row:
    values = {column.name: _value(column, row, names) for column in places.fields}
    return {name: value for name, value in values.items() if value not in (None, "")}


def _value(field: Any, row: Any, names: Names) -> Any:
    value = getattr(row, field.attname)
    return names.get((field.related_model, value)) if field.is_relation and value is not None else value
