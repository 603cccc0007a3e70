"""History as people read it: field by field what was before and after, with units, names for numbers, and words for what is empty."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models

from apps.core import units
from apps.inventory.editing.registry import BY_NAME
from apps.inventory.fields import label_of, unit_of
from apps.inventory.history.undo import MODELS
from apps.inventory.models import Change
from apps.inventory.vocabulary import Absence, Author

_SILENT = ("id", "lab_id", "created_at", "sources", "absent", "position", "array_id", "path_id")
NOTHING = "–"
Json = dict[str, Any]
Names = dict[tuple[str, int], str]


@dataclass(frozen=True)
class HistoryLine:
    """One field; `exact` are the same values with all digits where they are rounded."""

    label: str
    before: str
    after: str
    exact: str = ""


@dataclass
class HistoryEntry:
    """What one request did to one part; `can_undo` means that a person did it and something can be restored."""

    change: Change
    kind_word: str
    lines: list[HistoryLine]
    can_undo: bool

    @property
    def at(self) -> datetime:
        return self.change.at

    @property
    def who(self) -> str:
        return who(self.change)

    @property
    def is_whole(self) -> bool:
        """Return whether the entry is about a whole part that was made or deleted, with many values at once."""
        return (
            bool(self.lines) and self.change.act != Change.Act.CHANGED and self.change.row_kind == self.change.part_kind
        )

    @property
    def history_name(self) -> str:
        return f"{self.change.part_kind}-history"


def who(change: Change) -> str:
    """Return the author of a change: `agent of node7`, `engineer@example.org`, `token nightly`, `the system` …."""
    name = str((change.who or {}).get("name", ""))
    prefix = {Author.AGENT: "agent of ", Author.TOKEN: "token ", Author.COMMAND: "command ", Author.IMPORT: "import "}
    return prefix.get(Author(change.by), "") + name if name and change.by in Author else Author.SYSTEM.label


def told(changes: Iterable[Change]) -> list[HistoryEntry]:
    """Return the changes as entries of the history, merging neighbours of one request and part.

    Takes one query for each kind of part that is referred to.
    """
    results = list(changes)
    names, positions = _names(results), _positions(results)
    entries: list[HistoryEntry] = []
    for change in results:
        last = entries[-1].change if entries else None
        lines = _lines(change, names, positions)
        if last is not None and change.together and _key(last) == _key(change):
            entries[-1].lines = lines + entries[-1].lines
            entries[-1].can_undo |= _can_undo(change)
            if change.row_kind == change.part_kind:
                entries[-1].change = change
        elif lines or change.act != Change.Act.CHANGED:
            kind = BY_NAME.get(change.part_kind)
            entries.append(HistoryEntry(change, kind.word if kind else change.part_kind, lines, _can_undo(change)))
    return entries


def _key(change: Change) -> tuple[Any, ...]:
    return change.together, change.part_kind, change.part_id


def _can_undo(change: Change) -> bool:
    return change.is_by_person and not (change.act == Change.Act.MADE and change.row_kind in BY_NAME)


def _lines(change: Change, names: Names, positions: dict[tuple[str, int], int]) -> list[HistoryLine]:
    before, after = change.before or {}, change.after or {}
    place = "" if change.row_kind == change.part_kind else _place(change, positions)
    if place and change.act != Change.Act.CHANGED:
        return [HistoryLine(place, _summary(change, before, names), _summary(change, after, names))]
    model = MODELS[change.row_kind]
    lines = []
    for field in model._meta.concrete_fields:
        if field.attname not in _SILENT and (field.attname in before or field.attname in after):
            lines += _of_field(field, change, names, f"{place}, " if place else "")
    return lines + _of_absence(change)


def _place(change: Change, positions: dict[tuple[str, int], int]) -> str:
    word = "member" if change.row_kind == "arraymember" else "section"
    position = (change.before or {}).get("position", (change.after or {}).get("position"))
    position = positions.get((change.row_kind, change.row_id)) if position is None else position
    return word if position is None else f"{word} {position}"


def _summary(change: Change, row: Json, names: Names) -> str:
    """Describe a member in one line: `sda, sda1, in sync`."""
    if not row:
        return NOTHING
    places = [
        _text(field, row[field.attname], names)
        for field in MODELS[change.row_kind]._meta.concrete_fields
        if field.attname not in _SILENT and row.get(field.attname) not in (None, "", 0, 1)
    ]
    return ", ".join(places) or NOTHING


def _of_field(field: Any, change: Change, names: Names, place: str) -> list[HistoryLine]:
    before, after = change.before or {}, change.after or {}
    old, new = before.get(field.attname), after.get(field.attname)
    if field.name in ("labels", "sysctl") and isinstance(old or new, dict):
        return _of_mapping(field.name, old or {}, new or {})
    if change.act != Change.Act.CHANGED and _is_default(field, new if old is None else old):
        return []
    texts = [
        _text(field, value, names) or _why(change, row, field.name) for value, row in ((old, before), (new, after))
    ]
    exact = _exact(field.name, old, new)
    return [HistoryLine(place + label_of(field.name), texts[0], texts[1], exact)]


def _is_default(field: Any, value: Any) -> bool:
    return value in (None, "", {}, []) or (field.has_default() and value == field.get_default())


def _of_mapping(name: str, old: Json, new: Json) -> list[HistoryLine]:
    word = "label" if name == "labels" else name
    keys = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    return [HistoryLine(f"{word} {key}", str(old.get(key, NOTHING)), str(new.get(key, NOTHING))) for key in keys]


def _of_absence(change: Change) -> list[HistoryLine]:
    """Return lines for fields of which only the reason for being empty changed."""
    before, after = change.before or {}, change.after or {}
    old, new = before.get("absent") or {}, after.get("absent") or {}
    silent = {name for name in old.keys() | new.keys() if name in after or f"{name}_id" in after or name in before}
    keys = sorted(name for name in (old.keys() | new.keys()) - silent if old.get(name) != new.get(name))
    if change.act != Change.Act.CHANGED:
        return []
    return [HistoryLine(label_of(key), _reason(old.get(key)), _reason(new.get(key))) for key in keys]


def _reason(why: str | None) -> str:
    return str(Absence(why).label if why and why in Absence else Absence.UNKNOWN.label)


def _why(change: Change, row: Json, name: str) -> str:
    """Return the word for an empty field; a part that was made or deleted has none."""
    if change.act != Change.Act.CHANGED:
        return NOTHING
    return _reason((row.get("absent") or {}).get(name))


def _text(field: Any, value: Any, names: Names) -> str:
    if value is None or value == "":
        return ""
    if field.is_relation:
        kind = str(field.related_model._meta.model_name)
        return names.get((kind, value), f"{field.related_model._meta.verbose_name} {value}")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field.choices:
        return str(dict(field.flatchoices).get(value, value))
    unit = unit_of(field.name)
    if unit == "B":
        return units.size(value)
    return units.typed(value, unit) if unit and isinstance(value, int) else str(value)


def _exact(name: str, *values: Any) -> str:
    unit = unit_of(name)
    return " → ".join(units.exact(value, unit) for value in values) if unit == "B" else ""


def _names(changes: list[Change]) -> Names:
    """Return the names of the rows that changes refer to, present ones or, for deleted rows, the last ones."""
    wanted: dict[Any, set[int]] = defaultdict(set)
    for change in changes:
        for field in MODELS[change.row_kind]._meta.concrete_fields:
            if field.is_relation and field.attname not in _SILENT:
                results = [(row or {}).get(field.attname) for row in (change.before, change.after)]
                wanted[field.related_model] |= {value for value in results if value is not None}
    names: Names = {}
    for model, keys in wanted.items():
        kind = str(model._meta.model_name)
        names |= {(kind, row.pk): str(row) for row in model.objects.filter(pk__in=keys)} if keys else {}
    gone = {key for model, keys in wanted.items() for key in keys if (str(model._meta.model_name), key) not in names}
    return _former_names(gone, wanted) | names if gone else names


def _former_names(gone: set[int], wanted: dict[type[models.Model], set[int]]) -> Names:
    kinds = [str(model._meta.model_name) for model in wanted]
    last = Change.objects.filter(part_kind__in=kinds, part_id__in=gone)
    rows = last.order_by("part_kind", "part_id", "-pk").distinct("part_kind", "part_id")
    return {(kind, pk): f"{name} (deleted)" for kind, pk, name in rows.values_list("part_kind", "part_id", "part_name")}


def _positions(changes: list[Change]) -> dict[tuple[str, int], int]:
    """Return the present positions of members and sections, for changes that do not record them."""
    results: dict[tuple[str, int], int] = {}
    for kind in ("arraymember", "pathsection"):
        keys = {change.row_id for change in changes if change.row_kind == kind and change.act == Change.Act.CHANGED}
        if keys:
            rows = MODELS[kind].objects.filter(pk__in=keys).values_list("pk", "position")
            results |= {(kind, pk): position for pk, position in rows}
    return results
