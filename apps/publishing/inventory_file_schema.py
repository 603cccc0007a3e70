"""Files of inventory as the REST interface shows them: the shapes, and what is said of one import."""

from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request

from apps.inventory.exchange.kinds import KINDS
from apps.inventory.exchange.outcome import UNCHANGED, Entry, Outcome
from apps.inventory.models import InventoryImport as Import


class InventoryDocument(s.Serializer[Any]):
    format = s.CharField(help_text="`spindle inventory`")
    version = s.IntegerField()

    def get_fields(self) -> dict[str, Any]:
        """A list of rows for each kind; the names of kinds have hyphens, which no attribute may have."""
        rows = {kind.name: s.ListField(child=s.DictField(), required=False) for kind in KINDS}
        return {**super().get_fields(), **rows}


class InventoryFile(s.Serializer[Any]):
    file = s.FileField()
    kind = s.ChoiceField([kind.name for kind in KINDS], required=False, help_text="of CSV whose name does not say it")


class Counts(s.Serializer[Any]):
    created = s.IntegerField()
    changed = s.IntegerField()
    unchanged = s.IntegerField()
    refused = s.IntegerField()


class InventoryImport(s.Serializer[Any]):
    id = s.IntegerField()
    url = s.URLField()
    name = s.CharField()
    kind = s.CharField(allow_blank=True)
    size = s.IntegerField(help_text="bytes")
    state = s.ChoiceField(["waiting", "applied"])
    created_by = s.CharField()
    created_at = s.DateTimeField()
    applied_by = s.CharField(allow_blank=True)
    applied_at = s.DateTimeField(allow_null=True)
    counts = Counts(
        allow_null=True, help_text="rows by what became or would become of them; null in lists before it is applied"
    )


class FieldChange(s.Serializer[Any]):
    field = s.CharField()
    before = s.JSONField(allow_null=True)
    after = s.JSONField(allow_null=True)


class RowProblem(s.Serializer[Any]):
    field = s.CharField(allow_blank=True, help_text="empty: the whole row")
    detail = s.CharField(help_text="what was found and what was expected")


class ImportedRow(s.Serializer[Any]):
    kind = s.CharField()
    where = s.CharField(help_text="`disks.csv line 7`, `disks[3]`")
    key = s.CharField(allow_blank=True)
    act = s.ChoiceField(["created", "changed", "refused"])
    changes = FieldChange(many=True, help_text="values in base units, references as keys")
    problems = RowProblem(many=True)


class InventoryPreview(InventoryImport):
    digest = s.CharField(allow_null=True, help_text="of exactly this outcome: to apply it")
    entries = ImportedRow(many=True, help_text="all rows but the unchanged ones")


class Digest(s.Serializer[Any]):
    digest = s.CharField(max_length=64)


def shown(request: Request, found: Import) -> dict[str, Any]:
    names = ("id", "name", "kind", "size", "created_by", "created_at", "applied_by", "applied_at")
    return {name: getattr(found, name) for name in names} | {
        "url": request.build_absolute_uri(f"/api/v1/inventory/imports/{found.pk}/"),
        "state": "applied" if found.applied_at else "waiting",
        "counts": found.counts or None,
    }


def of_outcome(outcome: Outcome | None) -> dict[str, Any]:
    """None: of one that was applied before, whose counts are kept."""
    if outcome is None:
        return {"digest": None, "entries": []}
    entries = [_entry(one) for one in outcome.entries if one.act != UNCHANGED]
    return {"counts": outcome.counts, "digest": outcome.digest, "entries": entries}


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "kind": entry.kind, "where": entry.where, "key": entry.key, "act": entry.act,
        "changes": [{"field": one.field, "before": one.before, "after": one.after} for one in entry.changes],
        "problems": [{"field": one.field, "detail": one.sentence} for one in entry.problems],
    }  # fmt: skip
