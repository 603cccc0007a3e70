"""What a script says of a part, as JSON in base units, and the same the other way round.

Fields have the model's names; references are ids (null for none), an array's `members` are `{"disk": id}` or `{"array": id}` with `partition` and
`state`, a path's `sections` have their fields; `absent` says why fields are empty (`not_printed`, `unknown`, `none`), `labels` are names with values.
"""

from collections.abc import Mapping
from typing import Any

from django.db import models

from apps.core.text import LARGEST
from apps.inventory.editing.edit_request import Problems, Wanted
from apps.inventory.editing.registry import PartKind, Places
from apps.inventory.models import Part
from apps.inventory.vocabulary import Absence
from apps.labs.models import Lab

JSON_NAMES = {"member_array": "array"}


def wanted_of(kind: PartKind, lab: Lab, body: Any) -> Wanted:
    """Parse a REST request's body into the wanted values.

    Raises:
        EditError: with found and expected for each field that cannot be read.
    """
    problems = Problems()
    if not isinstance(body, Mapping):
        problems.add("body", f"found {type(body).__name__}, expected an object with fields of a {kind.word}")
        problems.raise_any()
    known = {*kind.fields, "labels", "notes", "absent", *([kind.places.name] if kind.places else [])}
    for name in body:
        if name not in known:
            problems.add(
                str(name)[:80], f"found a field that cannot be set, expected one of: {', '.join(sorted(known))}"
            )
    values = {name: _value(kind.field(name), body[name], lab, name, problems) for name in kind.fields if name in body}
    values |= {
        name: body[name] if body[name] is not None else empty
        for name, empty in (("labels", {}), ("notes", ""))
        if name in body
    }
    if not isinstance(values.get("notes", ""), str):
        problems.add("notes", f"found {type(values['notes']).__name__}, expected text")
    absent = _absent(body.get("absent"), problems)
    places = _places(kind.places, lab, body, problems) if kind.places else None
    problems.raise_any()
    return Wanted(values, absent, places)


def _absent(reported: object, problems: Problems) -> dict[str, str]:
    if reported is None:
        return {}
    if not isinstance(reported, Mapping) or not all(isinstance(why, str) for why in reported.values()):
        problems.add("absent", f"found {reported!r}, expected an object: field → {', '.join(Absence)}")
        return {}
    return dict(reported)


def _value(field: Any, value: Any, lab: Lab, at: str, problems: Problems) -> Any:
    if field.is_relation:
        return _reference(field, value, lab, at, problems)
    if value is None:
        if field.null:
            return None
        if isinstance(field, models.CharField | models.TextField):
            return ""
    is_list = isinstance(field, models.JSONField) and field.get_default() == []
    kinds: list[tuple[Any, Any, str]] = [
        (models.BooleanField, bool, "true or false"),
        (models.IntegerField, int, "a whole number in base units"),
        (models.JSONField, list if is_list else dict, "a list" if is_list else "an object"),
        (models.CharField | models.TextField, str, "text"),
    ]
    needed, word = next((python, word) for column, python, word in kinds if isinstance(field, column))
    if needed is int and isinstance(value, float) and abs(value) >= LARGEST:  # whole numbers beyond 64 bits
        problems.add(at, f"found {value:.4g}, expected a whole number less than or equal to {LARGEST}")
        return field.get_default()
    if not isinstance(value, needed) or (isinstance(value, bool) and needed is int):
        problems.add(at, f"found {value!r}, expected {word}{' or null' if field.null else ''}"[:300])
        return field.get_default()
    return value


def _reference(field: Any, value: Any, lab: Lab, at: str, problems: Problems) -> Part | None:
    if value is None:
        return None
    model = field.related_model
    part: Part | None = None
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63:
        part = model.objects.filter(lab=lab, pk=value).first()
    if part is None:
        problems.add(at, f"found {value!r}, expected the id of a {model._meta.verbose_name} of this lab, or null"[:300])
    return part


def _places(of: Places, lab: Lab, body: Mapping[str, object], problems: Problems) -> list[dict[str, Any]] | None:
    reported = body.get(of.name)
    if reported is None:
        return None
    if not isinstance(reported, list) or not all(isinstance(one, Mapping) for one in reported):
        problems.add(of.name, f"found {type(reported).__name__}, expected a list of objects")
        return None
    return [_place(of, lab, entry, f"{of.name}.{number}", problems) for number, entry in enumerate(reported)]


def _place(of: Places, lab: Lab, entry: Mapping[str, object], at: str, problems: Problems) -> dict[str, Any]:
    names = {JSON_NAMES.get(name, name): name for name in of.fields}
    for name in entry:
        if name not in names and name != "position":
            problems.add(
                f"{at}.{str(name)[:80]}", f"found a field that cannot be set, expected one of: {', '.join(names)}"
            )
    return {
        name: _value(of.model._meta.get_field(name), entry[json_name], lab, f"{at}.{json_name}", problems)
        for json_name, name in names.items()
        if json_name in entry
    }


def rows_of(kind: PartKind, rows: list[Any]) -> list[dict[str, Any]]:
    """Return the parts as rows for REST; the members or sections of all of them take one query."""
    places = _places_of(kind.places, rows) if kind.places else {}
    return [_row(kind, row) | ({kind.places.name: places.get(row.pk, [])} if kind.places else {}) for row in rows]


def _row(kind: PartKind, row: Part) -> dict[str, Any]:
    document: dict[str, Any] = {"id": row.pk}
    for name in kind.fields:
        value = getattr(row, kind.field(name).attname)
        document[name] = None if value == "" else value
    common = {"labels": row.labels, "notes": row.notes, "absent": row.absent, "sources": row.sources}
    return {**document, **common, "created_at": row.created_at, "updated_at": row.updated_at}


def _places_of(of: Places, rows: list[Any]) -> dict[int, list[dict[str, Any]]]:
    results: dict[int, list[dict[str, Any]]] = {}
    manager: Any = of.model._default_manager
    for one in manager.filter(**{f"{of.parent}__in": [row.pk for row in rows]}).order_by(of.parent, "position"):
        values = {JSON_NAMES.get(name, name): getattr(one, of.column(name)) for name in of.fields}
        place = {"position": one.position} | {name: None if value == "" else value for name, value in values.items()}
        results.setdefault(getattr(one, f"{of.parent}_id"), []).append(place)
    return results
