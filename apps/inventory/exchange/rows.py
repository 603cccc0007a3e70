"""One row of a file onto one part: checked by the rules of every other edit, written if it differs.

Members of arrays and sections of paths, as the list in a file says.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from apps.core.pubsub import ring as ring_bell
from apps.inventory.editing.edit_request import Problems
from apps.inventory.editing.places import KnownPlaces, check_places
from apps.inventory.editing.registry import BY_NAME as EDITED
from apps.inventory.editing.rules import problems_of
from apps.inventory.exchange.files import IncomingFile
from apps.inventory.exchange.outcome import CREATED, FieldChange, OutcomeEntry
from apps.inventory.exchange.registry import BY_MODEL, PART_FIELDS, ExchangePlaces, FileKind
from apps.inventory.exchange.row_matching import Matching
from apps.inventory.exchange.row_writer import Writing
from apps.inventory.exchange.values import ValueProblem, checked
from apps.inventory.models import ArrayMember, Host, Part, Target
from apps.inventory.vocabulary import Source
from apps.labs.models import Lab

Place = dict[str, Any]


class PlaceWriter:
    """Writes members and sections.

    `present` maps a parent's number and a position to the place as it is by then; `arrays_in` maps an array to the
    arrays that are its members.
    """

    def __init__(self, matching: Matching, writing: Writing) -> None:
        self.matching, self.writing = matching, writing
        self.present: dict[Any, dict[int, dict[int, Any]]] = {}
        self.arrays_in: dict[int, set[int]] = defaultdict(set)

    def know(self, places: ExchangePlaces, parents: Iterable[int]) -> None:
        """Load the places of these parts in one query and, for array members, which arrays lie on which in another."""
        manager: Any = places.model._default_manager
        results = self.present[places.model] = defaultdict(dict)
        for place in manager.filter(**{f"{places.parent}__in": list(parents)}):
            results[getattr(place, f"{places.parent}_id")][place.position] = place
        if places.model is ArrayMember:
            below = manager.filter(array__lab=self.matching.lab, member_array__isnull=False)
            for array, member in below.values_list("array_id", "member_array_id"):
                self.arrays_in[array].add(member)

    def write(self, incoming: IncomingFile, entry: OutcomeEntry, row: Part) -> None:
        places = incoming.kind.places
        assert places
        wanted = self._wanted(places, incoming.values[places.name], entry, row)
        if entry.problems:
            return
        problems, present = Problems(), self.present[places.model][row.pk]
        known = KnownPlaces([present[position] for position in sorted(present)], self._members)
        check_places(EDITED[str(row._meta.model_name)], row, wanted, problems, known)
        for name, said in problems.found.items():
            entry.refuse(name, " ".join(said))
        if not entry.problems:
            self._write(places, entry, row, wanted)

    def _members(self, arrays: set[int]) -> set[int]:
        return set().union(*(self.arrays_in.get(array, ()) for array in arrays))

    def _wanted(self, places: ExchangePlaces, reported: Any, entry: OutcomeEntry, row: Part) -> list[Place]:
        if reported in (None, ""):
            return []
        if not isinstance(reported, list):
            entry.refuse(places.name, f"found {type(reported).__name__}, expected a list")
            return []
        wanted = [self._place(places, one, number, entry, row) for number, one in enumerate(reported)]
        positions = [wanted_place.get("position") for wanted_place in wanted]
        if len(set(positions)) != len(positions):
            entry.refuse(places.name, "found a position twice, expected each once")
        return wanted

    def _place(self, places: ExchangePlaces, reported: Any, number: int, entry: OutcomeEntry, row: Part) -> Place:
        fields = {field.name: field for field in places.fields}
        if not isinstance(reported, dict) or set(reported) - set(fields):
            text = (
                type(reported).__name__
                if not isinstance(reported, dict)
                else ", ".join(sorted(set(reported) - set(fields)))
            )
            entry.refuse(f"{places.name}.{number}", f"found {text}, expected names of: {', '.join(fields)}")
            return {"position": number}
        place: Place = {"position": number}
        for name, value in reported.items():
            try:
                place[name] = self._value(fields[name], value, row)
            except ValueProblem as problem:
                entry.refuse(f"{places.name}.{number}.{name}", str(problem))
        return place

    def _value(self, field: Any, value: Any, row: Any) -> Any:
        if not field.is_relation:
            return checked(field, value)
        return None if value in (None, "") else self.matching.refer(field.related_model, value, row.host)

    def _write(self, places: ExchangePlaces, entry: OutcomeEntry, row: Part, wanted: list[Place]) -> None:
        present = self.present[places.model][row.pk]
        made: dict[int, Any] = {
            wanted_place["position"]: places.model(**{places.parent: row}, **wanted_place) for wanted_place in wanted
        }
        before, after = (self._said(places, rows) for rows in (present, made))
        if before == after:
            return
        if sentence := self._replace(places, present, made):
            entry.refuse(places.name, sentence)
            return
        self.present[places.model][row.pk] = made
        if places.model is ArrayMember:
            self.arrays_in[row.pk] = {place.member_array_id for place in made.values() if place.member_array_id}
        entry.note([FieldChange(places.name, before, after)])

    def _replace(self, places: ExchangePlaces, present: dict[int, Any], wanted: dict[int, Any]) -> str:
        """Replace the places; rows stay at their position and change in place, so that history shows what moved."""
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

    def _said(self, places: ExchangePlaces, rows: dict[int, Any]) -> list[Place]:
        """Return the places as they stand in a file: references as keys, empty ones left out."""
        return [self._said_of(places, rows[position]) for position in sorted(rows)]

    def _said_of(self, places: ExchangePlaces, row: Any) -> Place:
        values = {}
        for field in places.fields:
            value = getattr(row, field.attname)
            if field.is_relation and value is not None:
                value = self.matching.ring.keys[BY_MODEL[field.related_model].model, value]
            if value not in (None, ""):
                values[field.name] = value
        return values


EMPTY: tuple[Any, ...] = (None, "", {}, [])
Values = dict[str, Any]


class RowWriter:
    """Checks rows one after the other, each against all before it; `writing` has them until it is flushed."""

    def __init__(self, lab: Lab, matching: Matching, writing: Writing) -> None:
        self.lab, self.matching, self.writing = lab, matching, writing
        self.places = PlaceWriter(matching, writing)

    def take(self, incoming: IncomingFile) -> tuple[OutcomeEntry, Part | None]:
        """Write an incoming row and return its outcome with the part, or with None where it was refused."""
        entry = OutcomeEntry(incoming.kind.name, incoming.where, str(incoming.values.get("key") or ""))
        values = self._checked(incoming, entry)
        if entry.problems:
            return entry, None
        try:
            entry.key, row = self.matching.known(incoming, lambda: incoming.kind.model(lab=self.lab, **values))
        except ValueProblem as problem:
            entry.refuse("host" if problem.found == "nothing" else "key", str(problem))
            return entry, None
        return entry, self._made(incoming, entry, values) if row is None else self._changed(
            incoming, entry, row, values
        )

    def know_places(self, rows: Sequence[tuple[FileKind, Part]]) -> None:
        """Load the members and sections of these rows, which is needed before `take_late` writes them."""
        for kind in {kind.name: kind for kind, _ in rows if kind.places}.values():
            assert kind.places
            self.places.know(kind.places, [row.pk for of, row in rows if of is kind])

    def take_late(self, incoming: IncomingFile, entry: OutcomeEntry, row: Part) -> None:
        """Write references among rows of one kind, and members and sections, once every row exists."""
        late = {name: incoming.values[name] for name in incoming.kind.late if name in incoming.values}
        if late:
            values = self._checked(
                IncomingFile(incoming.kind, incoming.where, late), entry, late=True, host=getattr(row, "host", None)
            )
            if not entry.problems:
                is_told = entry.act == CREATED and "sources" in incoming.values
                self._write(incoming.kind, entry, row, values, keeps_sources=is_told)
        if incoming.kind.places and incoming.kind.places.name in incoming.values and not entry.problems:
            self.places.write(incoming, entry, row)

    def _checked(self, incoming: IncomingFile, entry: OutcomeEntry, late: bool = False, host: Any = None) -> Values:
        for name, problem in incoming.problems:
            entry.refuse(name, str(problem))
        values: Values = {}
        fields = incoming.kind.fields
        for name in sorted(
            incoming.values, key=lambda item: item != "host"
        ):  # the host comes first, as other names are within it
            if name not in fields or (name in incoming.kind.late) != late:
                continue
            try:
                values[name] = self._value(fields[name], incoming.values[name], host or values.get("host"))
            except ValueProblem as problem:
                entry.refuse(name, str(problem))
        return values

    def _value(self, field: Any, value: Any, host: Any) -> Any:
        if not field.is_relation:
            return checked(field, value)
        if value in EMPTY:
            if not field.null:
                raise ValueProblem("nothing", f"the key of a {field.related_model._meta.verbose_name}")
            return None
        return self.matching.refer(field.related_model, value, host if field.name != "host" else None)

    def _made(self, incoming: IncomingFile, entry: OutcomeEntry, values: Values) -> Part | None:
        kind = incoming.kind
        row = kind.model(lab=self.lab, **values)
        if "sources" not in values:
            row.sources = {
                name: str(Source.TYPED) for name in values if name not in PART_FIELDS and values[name] not in EMPTY
            }
        entry.act = CREATED
        entry.changes = [
            FieldChange(name, None, self._said(kind, name, value))
            for name, value in values.items()
            if value not in EMPTY
        ]
        for name, sentence in self._wrong(kind, row, None):
            entry.refuse(name, sentence)
        if entry.problems or not self._stands(entry, self.writing.make(row)):
            return None
        self.matching.note(incoming, row, entry.key, is_new=True)
        return row

    def _changed(self, incoming: IncomingFile, entry: OutcomeEntry, row: Part, values: Values) -> Part | None:
        if not self._write(incoming.kind, entry, row, values):
            return None
        self.matching.note(incoming, row, entry.key, is_new=False)
        return row

    def _write(
        self, kind: FileKind, entry: OutcomeEntry, row: Part, values: Values, keeps_sources: bool = False
    ) -> bool:
        """Write values to a part; False if that was refused, and then the part in memory is as it was."""
        before = {name: getattr(row, field.attname) for name, field in kind.fields.items()}
        plain = {name: value for name, value in values.items() if name not in ("sources", "absent")}
        differs = [name for name in plain if before[name] != _stored(plain[name])]
        for name in differs:
            setattr(row, name, plain[name])
        sources, row.absent = _reasons(row, differs, values)
        row.sources = row.sources if keeps_sources else sources
        differs += [name for name in ("sources", "absent") if getattr(row, name) != before[name]]
        if not differs:
            return True
        after = {name: getattr(row, name) if name in ("sources", "absent") else plain[name] for name in differs}
        changes = [
            FieldChange(name, self._said(kind, name, before[name]), self._said(kind, name, after[name]))
            for name in differs
        ]
        for name, sentence in self._wrong(kind, row, before):
            entry.refuse(name, sentence)
        if entry.problems or not self._stands(
            entry, self.writing.change(row, {*differs, "sources", "absent", "updated_at"})
        ):
            for name, field in kind.fields.items():
                setattr(row, field.attname, before[name])
            return False
        if isinstance(row, Host) and "is_in_maintenance" in differs:
            transaction.on_commit(lambda: ring_bell(f"host:{row.pk}"))  # what waits may start
        entry.note([change for change in changes if change.before != change.after])
        return True

    def _said(self, kind: FileKind, name: str, value: Any) -> Any:
        """Return a value as it stands in a file: a reference as its key, an empty value as None."""
        model: Any = kind.fields[name].related_model
        if model is not None and value is not None:
            return self.matching.ring.keys.get((model, _stored(value)), f"a new {model._meta.verbose_name}")
        return None if value in EMPTY else value

    def _wrong(self, kind: FileKind, row: Part, before: Values | None) -> list[tuple[str, str]]:
        relations = [name for name, field in kind.fields.items() if field.is_relation]
        try:
            row.clean_fields(exclude=["lab", *relations])
        except ValidationError as error:
            return [(name, " ".join(said)) for name, said in error.message_dict.items()]
        is_moved = before is not None and before.get("host") != getattr(row, "host_id", None)
        if is_moved:
            self.writing.flush(kind.model)  # the database is queried for what refers to it
        return [*problems_of(row, is_moved), *(self._offered(row, before) if isinstance(row, Target) else [])]

    @staticmethod
    def _stands(entry: OutcomeEntry, sentence: str) -> bool:
        """Return whether the database accepts the row; if not, the entry says why."""
        if sentence:
            entry.refuse("", sentence)
        return not sentence

    @cached_property
    def offering(self) -> set[int]:
        """Return the ids of the hosts whose agents offered a directory before this file was read."""
        targets: Any = self.matching.ring.rows["targets"].values()
        return {target.host_id for target in targets if target.is_agents_own}

    def _offered(self, target: Target, before: Values | None) -> list[tuple[str, str]]:
        """Refuse a change of whether the host's own agent offers the target; a file may restore a known one."""
        was = before["is_agents_own"] if before else False
        is_known_again = before is None and target.host_id not in self.offering
        if target.is_agents_own == was or is_known_again:
            return []
        return [
            ("is_agents_own", f"found {target.is_agents_own}, expected {was}: the host's own agent says what it offers")
        ]


def _stored(value: Any) -> Any:
    return value.pk if isinstance(value, models.Model) else value


def _reasons(row: Part, differs: list[str], values: Values) -> tuple[dict[str, str], dict[str, str]]:
    """Return the sources of values and the reasons for empty fields after a row of a file.

    What differs counts as typed, unless the file names another source than the part had.
    """
    reported, absent = values.get("sources"), dict(values.get("absent", row.absent))
    sources = dict(row.sources if reported is None else reported)
    for name in (differ for differ in differs if differ not in PART_FIELDS):
        if getattr(row, name) in EMPTY:
            sources.pop(name, None)
            continue
        if reported is None or reported.get(name) in (None, row.sources.get(name)):
            sources[name] = str(Source.TYPED)
        if absent.get(name) == row.absent.get(name):
            absent.pop(name, None)
    return sources, absent
