"""Two people at one form: what was typed stays, what only the other changed is taken over, and the difference is shown."""

from typing import Any

from django.http import QueryDict

from apps.inventory.editing.form import PartForm
from apps.inventory.editing.kinds import Kind
from apps.inventory.models import Change, Part
from apps.labs.models import Lab


def rebased(form: PartForm, kind: Kind, lab: Lab, row: Part, since: list[Change]) -> PartForm:
    """The refused form on the newest version of the part. `since` are the others' changes, newest first."""
    row.refresh_from_db()
    fresh = PartForm(kind, lab, row, form.host)
    before = _as_it_was(since, kind)
    posted: Any = form.data
    data: QueryDict = posted.copy()
    for name in before:
        if name in fresh.fields and not _is_typed(form, name, before[name]):
            _take_over(data, fresh, name)
    if before.keys() & {"labels"} and form.label_rows == _label_rows(before["labels"]):
        _take_over_labels(data, fresh)
    return PartForm(kind, lab, row, form.host, data)


def _as_it_was(since: list[Change], kind: Kind) -> dict[str, Any]:
    """What the changed fields were when the form was made: the oldest change knows."""
    names = {kind.field(name).attname: name for name in (*kind.fields, "labels", "notes")}
    found: dict[str, Any] = {}
    for change in since:
        if change.row_kind == kind.name and change.act == Change.Act.CHANGED:
            found |= {names[column]: value for column, value in (change.before or {}).items() if column in names}
    return found


def _is_typed(form: PartForm, name: str, before: Any) -> bool:
    """Whether the person at this form has changed the field."""
    field = form.fields[name]
    return (
        str(form.data.get(name, "")).strip() != str(field.prepare_value(before) if before is not None else "").strip()
    )


def _take_over(data: QueryDict, fresh: PartForm, name: str) -> None:
    for each in (name, f"why-{name}"):
        if each in fresh.fields:
            value = fresh[each].value()
            data[each] = "" if value is None or value is False else str(value)


def _label_rows(labels: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": str(value)} for name, value in sorted((labels or {}).items())]


def _take_over_labels(data: QueryDict, fresh: PartForm) -> None:
    rows = fresh.label_rows
    data["label-count"] = str(len(rows))
    for number, row in enumerate(rows):
        data[f"label-{number}-name"], data[f"label-{number}-value"] = row["name"], row["value"]
