"""Making, changing and deleting parts: the one way, for pages, scripts and published studies.

Names of many alike parts, each after the former: `eth0`, `eth1` …; `sdy`, `sdz`, `sdaa` …; `HBA`, `HBA 2` …
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import IntegrityError, models, transaction

from apps.core.pubsub import ring
from apps.core.task_queue import send_on_commit
from apps.inventory.editing.edit_request import ALL, EditError, Problems, Wanted, is_empty
from apps.inventory.editing.places import check_places, write_places
from apps.inventory.editing.registry import PartKind, editable
from apps.inventory.editing.rules import problems_of, violated
from apps.inventory.models import Change, Enclosure, Host, Part, Target
from apps.inventory.vocabulary import Absence, Source
from apps.labs.models import Lab

_DEVICE = re.compile(r"((?:/dev/)?(?:sd|hd|vd|xvd))([a-z]+)")


def counted(name: str, number: int) -> str:
    """Return the name that comes `number` after this one; leading zeros are kept: `slot 09` → `slot 10`."""
    if number == 0:
        return name
    if device := _DEVICE.fullmatch(name):
        return device[1] + letters(ordinal(device[2]) + number)
    digits = len(name) - len(name.rstrip("0123456789"))
    if not digits:
        return f"{name} {number + 1}"
    return f"{name[:-digits]}{int(name[-digits:]) + number:0{digits}d}"


def ordinal(text: str) -> int:
    """Return the position of a disk's letters: `a` → 0, `z` → 25, `aa` → 26."""
    value = 0
    for letter in text:
        value = value * 26 + ord(letter) - ord("a") + 1
    return value - 1


def letters(value: int) -> str:
    """Return the letters of a disk at this position: 0 → `a`, 25 → `z`, 26 → `aa`."""
    text = ""
    value += 1
    while value:
        value, rest = divmod(value - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


_OURS = ("lab", "labels", "notes", "absent", "sources")  # checked by our own rules or not at all


class StaleError(EditError):
    """Somebody else changed the part first; `changes` are what happened since, newest first."""

    def __init__(self, changes: list[Change]) -> None:
        super().__init__({ALL: ["It was changed since this was read; nothing was saved."]})
        self.changes = changes


def version_of(kind: PartKind, row: Part) -> int:
    """Return a number that grows with every change of a part, its members or sections.

    It is 0 for a part that has not changed since history began.
    """
    newest: int | None = Change.objects.of_part(kind.name, row.pk).values_list("pk", flat=True).first()
    return newest or 0


def make(kind: PartKind, lab: Lab, wanted: Wanted) -> Part:
    """Make a new part of this lab.

    Raises:
        EditError: if the part would not be valid.
    """
    with transaction.atomic():
        return _saved(kind, kind.model(lab=lab), wanted)


def make_alike(kind: PartKind, lab: Lab, wanted: Wanted, count: int) -> list[Part]:
    """Make `count` parts of one kind, all or none; names get a number at the end, slots count on from the first.

    Raises:
        EditError: if any of the parts would not be valid.
    """
    with transaction.atomic():
        return [_saved(kind, kind.model(lab=lab), _numbered(kind, wanted, number)) for number in range(count)]


def change(kind: PartKind, row: Part, wanted: Wanted, version: int | None = None) -> Part:
    """Change a part to what is wanted and return it; `version` is the one that the wish was based on.

    Raises:
        EditError: if the part would not be valid.
        StaleError: if the part has changed since that version.
    """
    with transaction.atomic():
        held = kind.model.objects.select_for_update(no_key=True, of=("self",)).get(pk=row.pk)
        if version is not None:
            refuse_stale(kind, held, version)
        return _saved(kind, held, wanted)


def refuse_stale(kind: PartKind, row: Part, version: int) -> None:
    if since := list(Change.objects.of_part(kind.name, row.pk).filter(pk__gt=version)):
        raise StaleError(since)


def _saved(kind: PartKind, row: Part, wanted: Wanted) -> Part:
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
        # A host that comes out of maintenance takes what waits: an offer that is there, or its next run.
        transaction.on_commit(lambda: ring(f"host:{row.pk}"))
        send_on_commit("agents.dispatch_host", row.pk, expires=60)
    if isinstance(row, Target) and row.path and before != _state(row):
        send_on_commit("agents.look_at_targets", row.host_id, expires=60)
    return row


def _state(row: Part) -> dict[str, Any]:
    state = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return state | {name: dict(state[name]) for name in ("absent", "sources", "labels")}


def _fill(kind: PartKind, row: Part, wanted: Wanted, problems: Problems) -> None:
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
    """Set a field; a value that differs counts as typed, and an untouched default does not."""
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
    """Record why a field is empty; `none` and `not printed` are a person's word, unknown leaves it to discovery."""
    if why == Absence.UNKNOWN:
        row.absent.pop(name, None)
        row.sources.pop(name, None)
    elif row.absent.get(name) != why:
        row.absent[name], row.sources[name] = str(why), str(Source.TYPED)


def _check(kind: PartKind, row: Part, wanted: Wanted, problems: Problems) -> None:
    references = [field.name for field in row._meta.concrete_fields if field.is_relation]
    try:
        row.clean_fields(exclude=[*_OURS, *references])
    except ValidationError as error:
        for name, sentences in error.message_dict.items():
            problems.add(name, " ".join(sentences))
    if kind.has_host and not kind.field("host").null and getattr(row, "host_id", None) is None:
        problems.add("host", f"found nothing, expected the host that the {kind.word} is in")
    if problems:
        return  # the other checks would read the refused values
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
    """Turn a violated database constraint inside the block into an `EditError` with a sentence.

    This happens when two people save the same thing at once.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise EditError({ALL: [violated(error)]}) from None


def _numbered(kind: PartKind, wanted: Wanted, number: int) -> Wanted:
    values = dict(wanted.values)
    for name in kind.alike:
        value = values.get(name)
        if isinstance(value, int):
            values[name] = value + number
        elif isinstance(value, str) and value:
            values[name] = counted(value, number)
    return Wanted(values, wanted.absent, wanted.places, wanted.inferred)
