"""One row of a file onto one part: checked by the rules of every other edit, written if it differs."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from apps.inventory.editing.rules import problems_of
from apps.inventory.exchange.files import Incoming
from apps.inventory.exchange.kinds import PART_FIELDS, Kind
from apps.inventory.exchange.matching import Matching
from apps.inventory.exchange.outcome import CREATED, Entry, FieldChange
from apps.inventory.exchange.places import PlaceWriter
from apps.inventory.exchange.values import ValueProblem, checked
from apps.inventory.exchange.writing import Writing
from apps.inventory.models import Host, Part, Target
from apps.inventory.vocabulary import Source
from apps.labs.models import Lab
from apps.lib.bell import ring as ring_bell

EMPTY: tuple[Any, ...] = (None, "", {}, [])
Values = dict[str, Any]


class RowWriter:
    """Checks rows one after the other, each against all before it; `writing` has them until it is flushed."""

    def __init__(self, lab: Lab, matching: Matching, writing: Writing) -> None:
        self.lab, self.matching, self.writing = lab, matching, writing
        self.places = PlaceWriter(matching, writing)

    def take(self, incoming: Incoming) -> tuple[Entry, Part | None]:
        """What became of the row, and the part; None where it was refused."""
        entry = Entry(incoming.kind.name, incoming.where, str(incoming.values.get("key") or ""))
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

    def know_places(self, rows: Sequence[tuple[Kind, Part]]) -> None:
        """Of these rows, before their members and sections are taken."""
        for kind in {kind.name: kind for kind, _ in rows if kind.places}.values():
            assert kind.places
            self.places.know(kind.places, [row.pk for of, row in rows if of is kind])

    def take_late(self, incoming: Incoming, entry: Entry, row: Part) -> None:
        """References among rows of one kind, and members and sections, which refer to any."""
        late = {name: incoming.values[name] for name in incoming.kind.late if name in incoming.values}
        if late:
            values = self._checked(
                Incoming(incoming.kind, incoming.where, late), entry, late=True, host=getattr(row, "host", None)
            )
            if not entry.problems:
                is_told = entry.act == CREATED and "sources" in incoming.values
                self._write(incoming.kind, entry, row, values, keeps_sources=is_told)
        if incoming.kind.places and incoming.kind.places.name in incoming.values and not entry.problems:
            self.places.write(incoming, entry, row)

    def _checked(self, incoming: Incoming, entry: Entry, late: bool = False, host: Any = None) -> Values:
        for name, problem in incoming.problems:
            entry.refuse(name, str(problem))
        values: Values = {}
        fields = incoming.kind.fields
        for name in sorted(
            incoming.values, key=lambda one: one != "host"
        ):  # the host first: others are named within it
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

    def _made(self, incoming: Incoming, entry: Entry, values: Values) -> Part | None:
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
        self._note_offered(row)
        return row

    def _changed(self, incoming: Incoming, entry: Entry, row: Part, values: Values) -> Part | None:
        if not self._write(incoming.kind, entry, row, values):
            return None
        self.matching.note(incoming, row, entry.key, is_new=False)
        return row

    def _write(self, kind: Kind, entry: Entry, row: Part, values: Values, keeps_sources: bool = False) -> bool:
        """False if it was refused; then the part in memory is as it was."""
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
        entry.note([one for one in changes if one.before != one.after])
        return True

    def _said(self, kind: Kind, name: str, value: Any) -> Any:
        """A reference as its key, nothing as None."""
        model: Any = kind.fields[name].related_model
        if model is not None and value is not None:
            return self.matching.ring.keys.get((model, _stored(value)), f"a new {model._meta.verbose_name}")
        return None if value in EMPTY else value

    def _wrong(self, kind: Kind, row: Part, before: Values | None) -> list[tuple[str, str]]:
        relations = [name for name, field in kind.fields.items() if field.is_relation]
        try:
            row.clean_fields(exclude=["lab", *relations])
        except ValidationError as error:
            return [(name, " ".join(said)) for name, said in error.message_dict.items()]
        is_moved = before is not None and before.get("host") != getattr(row, "host_id", None)
        if is_moved:
            self.writing.flush(kind.model)  # what hangs on it is asked of the database
        return [*problems_of(row, is_moved), *(self._offered(row, before) if isinstance(row, Target) else [])]

    @staticmethod
    def _stands(entry: Entry, sentence: str) -> bool:
        """Whether the database takes it; if not, the entry says why."""
        if sentence:
            entry.refuse("", sentence)
        return not sentence

    @cached_property
    def offering(self) -> set[int]:
        """The hosts whose agents offer a directory."""
        targets: Any = self.matching.ring.rows["targets"].values()
        return {one.host_id for one in targets if one.is_agents_own}

    def _note_offered(self, row: Part) -> None:
        if isinstance(row, Target) and row.is_agents_own:
            self.offering.add(row.host_id)

    def _offered(self, target: Target, before: Values | None) -> list[tuple[str, str]]:
        """Only an agent offers a directory; a file may bring back what is known of one."""
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
    """Where values come from, and why fields are empty, after a row of a file.

    What differs was typed, unless the file names another source than the part had: then somebody said so.
    """
    said, absent = values.get("sources"), dict(values.get("absent", row.absent))
    sources = dict(row.sources if said is None else said)
    for name in (one for one in differs if one not in PART_FIELDS):
        if getattr(row, name) in EMPTY:
            sources.pop(name, None)
            continue
        if said is None or said.get(name) in (None, row.sources.get(name)):
            sources[name] = str(Source.TYPED)
        if absent.get(name) == row.absent.get(name):
            absent.pop(name, None)
    return sources, absent
