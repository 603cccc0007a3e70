"""Writing what was found onto inventory rows: only what changed, never over what a person typed, in few queries."""

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from django.db import models
from django.utils import timezone

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.models import NOTHING
from apps.inventory.discovery.tool_values import MAX_WHOLE
from apps.inventory.models import Part
from apps.inventory.vocabulary import Absence, Source

Row = TypeVar("Row", bound=Part)
MAX_INTEGER = 2**31 - 1
UNCOMPARED = (
    "is_present",
    "is_agents_own",
    "lies_on",
    "gone_at",
    "gone_reason",
    "used_bytes",
    "free_bytes",
    "device_name",
    "address",
)  # of the moment, or our own


def is_typed(row: Part, field: str) -> bool:
    return bool(row.sources.get(field) == Source.TYPED)


def was_discovered(row: Part) -> bool:
    """Return whether discovery has seen the part, so that discovery may say that it is gone.

    What only a person typed stays as it is.
    """
    return row.sources.get("is_present") in (Source.DISCOVERED, Source.INFERRED)


def fill(
    row: Part,
    values: Mapping[str, Any],
    inferred: Iterable[str] = (),
    exact: Iterable[str] = (),
    ledger: Ledger | None = None,
) -> bool:
    """Set the fields that differ and return whether any did.

    Typed fields are left alone; where the tools say otherwise, the ledger notes it.

    None and '' mean "not reported" and leave what is known, except for fields in `exact`. `NOTHING` empties a field and
    notes that there is none.
    """
    before = (dict(row.sources), dict(row.absent))
    changed = False
    for name, value in values.items():
        field = row._meta.get_field(name)
        assert isinstance(field, models.Field)
        fitted = _fitted(field, value)
        is_told = fitted not in (None, "") or value is NOTHING
        if is_typed(row, name):
            if ledger and is_told and name not in UNCOMPARED:
                ledger.compare(row, name, fitted)
            continue
        if not is_told and name not in exact:
            continue
        if getattr(row, field.attname) != fitted:
            setattr(row, field.attname, fitted)
            changed = True
        _note(row, name, value, Source.INFERRED if name in inferred else Source.DISCOVERED)
    return changed or before != (row.sources, row.absent)


def _column(row: Part, name: str) -> str:
    field = row._meta.get_field(name)
    assert isinstance(field, models.Field)
    return str(field.attname)


def _note(row: Part, name: str, value: object, source: Source) -> None:
    row.sources[name] = str(source)
    if value is NOTHING:
        row.absent[name] = str(Absence.NONE)
    elif value not in (None, ""):
        row.absent.pop(name, None)


def _fitted(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Return the value as the column can hold it: text cut to its length, numbers that are too large dropped."""
    if value is NOTHING:
        return None if field.null else ""
    if isinstance(value, str) and field.max_length:
        return value[: field.max_length]
    if isinstance(value, int) and not isinstance(value, bool):
        return (
            value if value <= (MAX_INTEGER if isinstance(field, models.PositiveIntegerField) else MAX_WHOLE) else None
        )
    return value


class Sheet(Generic[Row]):
    """The rows of one model that a rebuild makes or changes; written together."""

    def __init__(self, model: type[Row], ledger: Ledger | None = None) -> None:
        self.model = model
        self.ledger = ledger
        self.new: dict[int, Row] = {}
        self.changed: dict[int, Row] = {}
        self.fields: set[str] = {"sources", "absent", "updated_at"}

    def put(self, row: Row, values: Mapping[str, Any], inferred: Iterable[str] = (), exact: Iterable[str] = ()) -> Row:
        before = [(name, getattr(row, _column(row, name))) for name in values]
        differs = fill(row, values, inferred, exact, self.ledger)
        if row.pk is not None and differs:
            self.fields.update(name for name, value in before if getattr(row, _column(row, name)) != value)
        if row.pk is None:
            self.new[id(row)] = row
        elif differs:
            row.updated_at = timezone.now()  # bulk_update does not set it
            self.changed[row.pk] = row
        return row

    def write(self) -> None:
        """Write the collected rows, changed ones first: a row that leaves its place makes room for a new one."""
        if self.changed:
            self.model.objects.bulk_update(list(self.changed.values()), sorted(self.fields), batch_size=500)
        if self.new:
            self.model.objects.bulk_create(self.new.values())
        self.new, self.changed = {}, {}
