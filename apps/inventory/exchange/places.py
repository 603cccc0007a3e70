"""Members of arrays and sections of paths, as the list in a file says."""

from typing import Any

from apps.inventory.editing.kinds import BY_NAME as EDITED
from apps.inventory.editing.places import check_places
from apps.inventory.editing.saving import constraints_in_words
from apps.inventory.editing.wanted import EditError, Problems
from apps.inventory.exchange.files import Incoming
from apps.inventory.exchange.kinds import BY_MODEL, Places
from apps.inventory.exchange.matching import Matching
from apps.inventory.exchange.outcome import Entry, FieldChange
from apps.inventory.exchange.values import ValueProblem, checked
from apps.inventory.models import Part

Place = dict[str, Any]


class PlaceWriter:
    def __init__(self, matching: Matching) -> None:
        self.matching = matching

    def write(self, incoming: Incoming, entry: Entry, row: Part) -> None:
        places = incoming.kind.places
        assert places
        wanted = self._wanted(places, incoming.values[places.name], entry, row)
        if entry.problems:
            return
        problems = Problems()
        check_places(EDITED[str(row._meta.model_name)], row, wanted, problems)
        for name, said in problems.found.items():
            entry.refuse(name, " ".join(said))
        if not entry.problems:
            self._write(places, entry, row, wanted)

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
        manager: Any = places.model._default_manager
        present = {one.position: one for one in manager.filter(**{places.parent: row})}
        made = {one["position"]: places.model(**{places.parent: row}, **one) for one in wanted}
        before, after = (self._said(places, rows) for rows in (present, made))
        if before == after:
            return
        try:
            with constraints_in_words():
                _replace(places, present, made)
        except EditError as error:
            entry.refuse(places.name, str(error))
            return
        entry.note([FieldChange(places.name, before, after)])

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


def _replace(places: Places, present: dict[int, Any], wanted: dict[int, Any]) -> None:
    """Rows stay at their position; what is in them changes, so that history shows what moved."""
    manager: Any = places.model._default_manager
    manager.filter(pk__in=[row.pk for position, row in present.items() if position not in wanted]).delete()
    columns = [field.attname for field in places.fields]
    for position, row in wanted.items():
        values = {name: getattr(row, name) for name in columns}
        if position not in present:
            row.save()
        elif values != {name: getattr(present[position], name) for name in columns}:
            manager.filter(pk=present[position].pk).update(**values)
