"""Making, changing and deleting parts: the one way, for pages, scripts and published studies."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import IntegrityError, models, transaction

from apps.inventory.editing.kinds import Kind, editable
from apps.inventory.editing.numbering import counted
from apps.inventory.editing.places import check_places, write_places
from apps.inventory.editing.rules import problems_of, violated
from apps.inventory.editing.wanted import ALL, EditError, Problems, Wanted, is_empty
from apps.inventory.models import Change, Enclosure, Host, Part
from apps.inventory.vocabulary import Absence, Source
from apps.labs.models import Lab
from apps.lib.bell import ring

_OURS = ("lab", "labels", "notes", "absent", "sources")  # looked at by our own rules, or by nobody


class StaleError(EditError):
    """Somebody was faster. `changes` are what happened since, the newest first."""

    def __init__(self, changes: list[Change]) -> None:
        super().__init__({ALL: ["It was changed since this was read; nothing was saved."]})
        self.changes = changes


def version_of(kind: Kind, row: Part) -> int:
    """Grows with every change of a part, its members or sections; 0 for one that has not changed since history began."""
    newest: int | None = Change.objects.of_part(kind.name, row.pk).values_list("pk", flat=True).first()
    return newest or 0


def make(kind: Kind, lab: Lab, wanted: Wanted) -> Part:
    """A new part of this lab. Raises `EditError`."""
    with transaction.atomic():
        return _saved(kind, kind.model(lab=lab), wanted)


def make_alike(kind: Kind, lab: Lab, wanted: Wanted, count: int) -> list[Part]:
    """`count` parts of one kind, all or none: names get a number at the end, slots count on from the first."""
    with transaction.atomic():
        return [_saved(kind, kind.model(lab=lab), _numbered(kind, wanted, number)) for number in range(count)]


def change(kind: Kind, row: Part, wanted: Wanted, version: int | None = None) -> Part:
    """The part with what is wanted. `version`: what the wish was based on. Raises `EditError`, or `StaleError` where the part is newer."""
    with transaction.atomic():
        held = kind.model.objects.select_for_update(no_key=True, of=("self",)).get(pk=row.pk)
        if version is not None:
            refuse_stale(kind, held, version)
        return _saved(kind, held, wanted)


def refuse_stale(kind: Kind, row: Part, version: int) -> None:
    if since := list(Change.objects.of_part(kind.name, row.pk).filter(pk__gt=version)):
        raise StaleError(since)


def _saved(kind: Kind, row: Part, wanted: Wanted) -> Part:
    before = None if row.pk is None else _state(row)
    problems = Problems()
    _fill(kind, row, wanted, problems)
    _check(kind, row, wanted, problems)
    problems.raise_any()
    with constraints_in_words():
        if before != _state(row):
            row.save()
            if isinstance(row, Enclosure) and before:
                row.take_along(before["name"])
        if wanted.places is not None and kind.places and write_places(kind, row, wanted.places) and before is not None:
            row.save(update_fields=["updated_at"])
    if isinstance(row, Host):
        transaction.on_commit(lambda: ring(f"host:{row.pk}"))  # a host that comes out of maintenance takes what waits
    return row


def _state(row: Part) -> dict[str, Any]:
    state = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return state | {name: dict(state[name]) for name in ("absent", "sources", "labels")}


def _fill(kind: Kind, row: Part, wanted: Wanted, problems: Problems) -> None:
    for name, value in wanted.values.items():
        if not editable(kind, name):
            problems.add(
                name,
                f"found a field that a {kind.word} has not, expected one of: {', '.join(kind.fields)}, labels, notes",
            )
        elif name in ("labels", "notes"):
            setattr(row, name, value)
        else:
            _set(kind.field(name), row, value, Source.INFERRED if name in wanted.inferred else Source.TYPED)
    for name, why in wanted.absent.items():
        if name not in kind.fields or why not in Absence:
            problems.add("absent", f"found {name}: {why!r}, expected a field with one of: {', '.join(Absence)}")
        elif is_empty(getattr(row, name)):
            _say_why_empty(row, name, why)
        elif name not in wanted.values or why != Absence.UNKNOWN:
            problems.add(name, f"found a value and “{Absence(why).label}”, expected one of the two")


def _set(field: "models.Field[Any, Any]", row: Part, value: Any, source: Source) -> None:
    """What differs is typed from now on; a default that nobody changed says nothing."""
    before = getattr(row, field.attname)
    setattr(row, field.name, value)
    if getattr(row, field.attname) == before:
        return
    if is_empty(value):
        _say_why_empty(row, field.name, Absence.UNKNOWN)
    else:
        row.sources[field.name] = str(source)
        row.absent.pop(field.name, None)


def _say_why_empty(row: Part, name: str, why: str) -> None:
    """That there is none, or that it is not printed, is something that a person says. Unknown leaves the field to discovery."""
    if why == Absence.UNKNOWN:
        row.absent.pop(name, None)
        row.sources.pop(name, None)
    elif row.absent.get(name) != why:
        row.absent[name], row.sources[name] = str(why), str(Source.TYPED)


def _check(kind: Kind, row: Part, wanted: Wanted, problems: Problems) -> None:
    references = [field.name for field in row._meta.concrete_fields if field.is_relation]
    try:
        row.clean_fields(exclude=[*_OURS, *references])
    except ValidationError as error:
        for name, sentences in error.message_dict.items():
            problems.add(name, " ".join(sentences))
    if kind.has_host and not kind.field("host").null and getattr(row, "host_id", None) is None:
        problems.add("host", f"found nothing, expected the host that the {kind.word} is in")
    if problems:
        return  # the rest reads what has just been refused
    for name, said in problems_of(row):
        problems.add(name, said)
    if wanted.places is not None and kind.places:
        check_places(kind, row, wanted.places, problems)
    if not problems:
        _check_constraints(row, problems)


def _check_constraints(row: Part, problems: Problems) -> None:
    for constraint in row._meta.constraints:
        try:
            constraint.validate(type(row), row, using="default")
        except ValidationError:
            fields = [name for name in getattr(constraint, "fields", ()) if name not in ("lab", "host")]
            problems.add(fields[0] if fields else NON_FIELD_ERRORS, violated(constraint.name))


@contextmanager
def constraints_in_words() -> Iterator[None]:
    """Two who save the same at once: the second hears it in words."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise EditError({ALL: [violated(error)]}) from None


def _numbered(kind: Kind, wanted: Wanted, number: int) -> Wanted:
    values = dict(wanted.values)
    for name in kind.alike:
        value = values.get(name)
        if isinstance(value, int):
            values[name] = value + number
        elif isinstance(value, str) and value:
            values[name] = counted(value, number)
    return Wanted(values, wanted.absent, wanted.places, wanted.inferred)
