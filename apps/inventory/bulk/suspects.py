"""Parts of a lab that may be there twice: only the columns that are compared are read, in one query for each kind."""

from typing import Any

from apps.inventory.bulk.duplicates import DuplicateCandidate, Likely, likely
from apps.inventory.bulk.merge import MERGED
from apps.inventory.models import Part
from apps.labs.models import Lab

COMPARED = ("serial", "wwn", "uuid", "model")
READ = ("id", "name", "round", "device_name", *COMPARED)
Row = dict[str, Any]


def likely_in(lab: Lab, kind: str) -> list[Likely]:
    model = MERGED[kind]
    has = {field.name for field in model._meta.concrete_fields}
    columns = [*(name for name in READ if name in has), *(("host_id", "host__name") if "host" in has else ())]
    rows = model.objects.filter(lab=lab).order_by("id").values(*columns)
    return likely([_candidate(kind, model, row) for row in rows], kind == "hosts")


def _candidate(kind: str, model: type[Part], row: Row) -> DuplicateCandidate:
    name = f"{row['name']} {row['round']}" if kind == "arrays" else row.get("name", "")
    place = row["host_id"] if kind not in ("hosts", "disks") else ""
    compared = {column: row[column] for column in COMPARED if column in row}
    return DuplicateCandidate(row["id"], _title(model, row), name=name, place=place, **compared)


def _title(model: type[Part], row: Row) -> str:
    """Return the part's own name and the host that it is in."""
    name = row.get("name") or row.get("device_name") or row.get("serial") or f"{model._meta.verbose_name} {row['id']}"
    return f"{name} in {row['host__name']}" if row.get("host__name") else str(name)
