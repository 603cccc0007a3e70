"""Taking back what a person did: the former values of exactly those fields, as a new change, or a reason why not."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, models, transaction

from apps.inventory.editing.edit_request import EditError
from apps.inventory.editing.rules import problems_of, violated
from apps.inventory.history.triggers import WATCHED
from apps.inventory.models import Change, Part
from apps.inventory.services import constraints_in_words
from apps.inventory.vocabulary import Absence, Source
from apps.labs.isolation import LabScoped

MODELS: dict[str, Any] = {str(watched.model._meta.model_name): watched.model for watched in WATCHED}
_SAYS = ("sources", "absent")  # these change along with the fields
Json = dict[str, Any]


class UndoError(ValueError):
    """Nothing was changed. `reasons` are sentences, `later` the changes that stand in the way."""

    def __init__(self, reasons: list[str], later: list[Change] | None = None) -> None:
        super().__init__(" ".join(reasons))
        self.reasons, self.later = reasons, later or []


def undone_with(change: Change) -> list[Change]:
    """Return the changes that are undone with a change, all those of the same request, newest first."""
    return list(Change.objects.done_together(change).order_by("-pk"))


def undo(change: Change) -> list[Change]:
    """Undo everything that the change's request did and return the changes that were undone.

    Raises:
        UndoError: if a tool made the change, or it can no longer be undone.
    """
    if not change.is_by_person:
        raise UndoError(["Only changes made by a person can be undone: the tools would report the same again."])
    changes = undone_with(change)
    try:
        with transaction.atomic(), constraints_in_words():
            for one in changes:
                _take_back(one)
    except EditError as error:
        raise UndoError([sentence for sentences in error.errors.values() for sentence in sentences]) from None
    return changes


def _take_back(change: Change) -> None:
    model = MODELS[change.row_kind]
    if change.act == Change.Act.DELETED:
        _bring_back(model, change)
    elif change.act == Change.Act.CHANGED:
        _restore(model, change)
    elif issubclass(model, Part):
        raise UndoError([f"Undoing would delete {change.part_name}, which was made then. Delete it on its page."])
    else:
        _refuse_later(change, _present(model, change), change.after or {})
        model.objects.filter(pk=change.row_id).delete()


def _present(model: Any, change: Change) -> Json | None:
    """Return the row as JSON, as the triggers see it, and lock it until the transaction ends."""
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT to_jsonb(t)::text FROM {table} t WHERE id = %s FOR UPDATE", [change.row_id])  # noqa: S608
        result = cursor.fetchone()
    return models.JSONField().from_db_value(result[0], None, connection) if result else None  # type: ignore[arg-type]


def _refuse_later(change: Change, present: Json | None, wanted: Json) -> None:
    """Refuse to undo a change if its fields are no longer as the change left them."""
    if present is None:
        raise UndoError([f"{change.part_name} was deleted since; bring that back first."], _later(change, {"id"}))
    differing = {name for name, value in wanted.items() if name not in _SAYS and present.get(name) != value}
    for name, _, after in _reasons(change):
        if present.get("absent", {}).get(name) != after:
            differing |= {name, "absent"}
    if differing:
        names = ", ".join(sorted(name.removesuffix("_id").replace("_", " ") for name in differing - {"absent"}))
        raise UndoError([f"{change.part_name} was changed again since: {names}."], _later(change, differing))


def _later(change: Change, names: set[str]) -> list[Change]:
    since = Change.objects.filter(row_kind=change.row_kind, row_id=change.row_id, pk__gt=change.pk)
    return [one for one in since if names & {*(one.before or {}), *(one.after or {})}]


def _reasons(change: Change) -> list[tuple[str, str | None, str | None]]:
    """Return (field, why it was empty before, why after) where the reason changed."""
    before, after = ((row or {}).get("absent", {}) for row in (change.before, change.after))
    return [
        (name, before.get(name), after.get(name))
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    ]


def _restore(model: Any, change: Change) -> None:
    before = change.before or {}
    _refuse_later(change, _present(model, change), change.after or {})
    row = model.objects.get(pk=change.row_id)
    columns = {field.attname for field in model._meta.concrete_fields}
    restored = [name for name in before if name in columns and name not in _SAYS]
    for name in restored:
        setattr(row, name, _field(model, name).to_python(before[name]))
    if isinstance(row, Part):
        for name in restored:
            _note_source(row, _field(model, name).name, before[name], before.get("sources"))
        for name, why, _ in _reasons(change):
            _note_absence(row, name, why)
    _check(row)
    row.save()


def _note_source(row: Part, name: str, value: object, sources: Json | None) -> None:
    """Give the source of a value back to the tool that had it, so that the next discovery may change it.

    `sources` are all sources before the change, None where the change left them as they were.
    """
    if sources is not None and name in sources and value not in (None, ""):
        row.sources[name] = sources[name]
    elif sources is not None or value in (None, ""):
        row.sources.pop(name, None)
    if value not in (None, ""):
        row.absent.pop(name, None)


def _note_absence(row: Part, name: str, why: str | None) -> None:
    if why in Absence and not getattr(row, name):
        row.absent[name], row.sources[name] = str(why), str(Source.TYPED)
    else:
        row.absent.pop(name, None)


def _bring_back(model: Any, change: Change) -> None:
    """Restore the row with its number, so that what referred to it may do so again."""
    if model.objects.filter(pk=change.row_id).exists():
        raise UndoError([f"{change.part_name} is there already."])
    before = change.before or {}
    known = {field.attname: field for field in model._meta.concrete_fields}
    row = model(**{name: known[name].to_python(value) for name, value in before.items() if name in known})
    _check(row)
    row.save(force_insert=True)


def _check(row: Any) -> None:
    """Refuse a restored row if what it refers to is gone or a rule is broken."""
    reasons = []
    for field in row._meta.concrete_fields:
        other, value = field.related_model, getattr(row, field.attname)
        refers = field.is_relation and value is not None and issubclass(other, LabScoped)
        if refers and not other.objects.filter(pk=value).exists():
            reasons.append(f"The {other._meta.verbose_name} that it refers to is gone.")
    if isinstance(row, Part) and not reasons:
        reasons += [f"{name}: {said}." for name, said in problems_of(row)]
    for constraint in row._meta.constraints if not reasons else ():
        try:
            constraint.validate(type(row), row, using="default")
        except ValidationError:
            reasons.append(f"{violated(constraint.name).capitalize()}.")
    if reasons:
        raise UndoError(reasons)


def _field(model: Any, attname: str) -> Any:
    return next(field for field in model._meta.concrete_fields if field.attname == attname)
