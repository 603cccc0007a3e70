"""Members of arrays and sections of paths, as the list in a file says."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from apps.inventory.editing.kinds import BY_NAME as EDITED
from apps.inventory.editing.places import Known, check_places
from apps.inventory.editing.wanted import Problems
from apps.inventory.exchange.files import Incoming
from apps.inventory.exchange.kinds import BY_MODEL, Places
from apps.inventory.exchange.matching import Matching
from apps.inventory.exchange.outcome import Entry, FieldChange
from apps.inventory.exchange.values import ValueProblem, checked
from apps.inventory.exchange.writing import Writing
from apps.inventory.models import ArrayMember, Part

Place = dict[str, Any]


class PlaceWriter:
    """`present`: parent's number → position → the place as it is by then; `arrays_in`: array → the arrays that are its members."""

    def __init__(self, matching: Matching, writing: Writing) -> None:
        self.matching, self.writing = matching, writing
        self.present: dict[Any, dict[int, dict[int, Any]]] = {}
        self.arrays_in: dict[int, set[int]] = defaultdict(set)

    def know(self, places: Places, parents: Iterable[int]) -> None:
        """The places of these parts, in one query; and of all arrays which lies on which, in another."""
        manager: Any = places.model._default_manager
        found = self.present[places.model] = defaultdict(dict)
        for place in manager.filter(**{f"{places.parent}__in": list(parents)}):
            found[getattr(place, f"{places.parent}_id")][place.position] = place
        if places.model is ArrayMember:
            below = manager.filter(array__lab=self.matching.lab, member_array__isnull=False)
            for array, member in below.values_list("array_id", "member_array_id"):
                self.arrays_in[array].add(member)

    def write(self, incoming: Incoming, entry: Entry, row: Part) -> None:
        places = incoming.kind.places
        assert places
        wanted = self._wanted(places, incoming.values[places.name], entry, row)
        if entry.problems:
            return
        problems, present = Problems(), self.present[places.model][row.pk]
        known = Known([present[position] for position in sorted(present)], self._members)
        check_places(EDITED[str(row._meta.model_name)], row, wanted, problems, known)
        for name, said in problems.found.items():
            entry.refuse(name, " ".join(said))
        if not entry.problems:
            self._write(places, entry, row, wanted)

    def _members(self, arrays: set[int]) -> set[int]:
        return set().union(*(self.arrays_in.get(one, ()) for one in arrays))

    def _wanted(self, places: Places, said: Any, entry: Entry, row: Part) -> list[Place]:
        if said in (None, ""):
            return []
        if not isinstance(said, list):
            entry.refuse(places.name, f"found {type(said).__name__}, expected a list")
            return []
        wanted = [self._place(places, one, number, entry, row) for number, one in enumerate(said)]
        positions = [one.get("position") for one in wanted]
        if len(set(positions)) != len(positions):
            entry.refuse(places.name, "found a position twice, expected each once")
        return wanted

    def _place(self, places: Places, said: Any, number: int, entry: Entry, row: Part) -> Place:
        fields = {field.name: field for field in places.fields}
        if not isinstance(said, dict) or set(said) - set(fields):
            found = type(said).__name__ if not isinstance(said, dict) else ", ".join(sorted(set(said) - set(fields)))
            entry.refuse(f"{places.name}.{number}", f"found {found}, expected names of: {', '.join(fields)}")
            return {"position": number}
        place: Place = {"position": number}
        for name, value in said.items():
            try:
                place[name] = self._value(fields[name], value, row)
            except ValueProblem as problem:
                entry.refuse(f"{places.name}.{number}.{name}", str(problem))
        return place

    def _value(self, field: Any, value: Any, row: Any) -> Any:
        if not field.is_relation:
            return checked(field, value)
        return None if value in (None, "") else self.matching.refer(field.related_model, value, row.host)

    def _write(self, places: Places, entry: Entry, row: Part, wanted: list[Place]) -> None:
        present = self.present[places.model][row.pk]
        made: dict[int, Any] = {one["position"]: places.model(**{places.parent: row}, **one) for one in wanted}
        before, after = (self._said(places, rows) for rows in (present, made))
        if before == after:
            return
        if sentence := self._replace(places, present, made):
            entry.refuse(places.name, sentence)
            return
        self.present[places.model][row.pk] = made
        if places.model is ArrayMember:
            self.arrays_in[row.pk] = {one.member_array_id for one in made.values() if one.member_array_id}
        entry.note([FieldChange(places.name, before, after)])

    def _replace(self, places: Places, present: dict[int, Any], wanted: dict[int, Any]) -> str:
        """Rows stay at their position; what is in them changes, so that history shows what moved."""
        columns = [field.attname for field in places.fields]
        gone = [row.pk for position, row in present.items() if position not in wanted]
        new = [row for position, row in wanted.items() if position not in present]
        changed = []
        for position in wanted.keys() & present.keys():
            row, old = wanted[position], present[position]
            row.pk = old.pk
            if any(getattr(row, name) != getattr(old, name) for name in columns):
                changed.append(row)
        return self.writing.replace(places.model, gone, changed, new)

    def _said(self, places: Places, rows: dict[int, Any]) -> list[Place]:
        """As in a file: references as keys, empty ones left out."""
        return [self._said_of(places, rows[position]) for position in sorted(rows)]

    def _said_of(self, places: Places, row: Any) -> Place:
        said = {}
        for field in places.fields:
            value = getattr(row, field.attname)
            if field.is_relation and value is not None:
                value = self.matching.ring.keys[BY_MODEL[field.related_model].model, value]
            if value not in (None, ""):
                said[field.name] = value
        return said
