"""Samples as flat rows with all facts, from `.values_list`: no model instance is made, so that millions can pass in
constant memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from django.db.models import Count, Max, Min, QuerySet

from apps.comparison.loading import COLUMNS, facts_of
from apps.publishing.renderers import to_json
from apps.runs.metrics import METRICS
from apps.runs.models import Sample

MORE = (*COLUMNS, "provenance__cpu", "run__state")
BATCH = 2000
# The facts of the domain have columns of their own in CSV; others are together in `other_facts`, as JSON.
FACT_COLUMNS = (
    "host", "target", "study", "configuration", "tool", "tool_version", "interface", "raid_level",
    "raid_implementation", "array", "controller", "controller_cache", "filesystem", "mkfs_options", "mount_options",
    "chunk_size", "disk_model", "disk_count", "ram", "kernel", "environment", "sync",
)  # fmt: skip
FIELDS = (
    "id", "run", "operation", "metric", "value", "unit", "printed", "quality", "missing_reason", "low", "high",
    "file_size", "block_size", "threads", "iodepth", "repetition", "cpu", "source_line", "section", "run_state",
    "note",
)  # fmt: skip


def rows(samples: QuerySet[Sample]) -> Iterator[dict[str, Any]]:
    """The samples in the order of the QuerySet, with their facts."""
    for found in samples.values_list(*MORE):
        yield _row(dict(zip(MORE, found, strict=True)))


def all_rows(samples: QuerySet[Sample], after: int = 0) -> Iterator[dict[str, Any]]:
    """By id, batch after batch: no long transaction, nothing kept. The scope is already in the QuerySet."""
    while batch := list(rows(samples.filter(id__gt=after).order_by("id")[:BATCH])):
        yield from batch
        after = batch[-1]["id"]


@dataclass(frozen=True)
class Extent:
    """Which samples there are. A sample never changes, so other samples have another extent."""

    count: int
    first: int
    last: int

    @classmethod
    def of(cls, samples: QuerySet[Sample]) -> Self:
        found = samples.order_by().aggregate(n=Count("id"), first=Min("id"), last=Max("id"))
        return cls(found["n"], found["first"] or 0, found["last"] or 0)

    def rows(self, samples: QuerySet[Sample]) -> Iterator[dict[str, Any]]:
        """Those that were counted, and none that came later."""
        return all_rows(samples.filter(id__lte=self.last), self.first - 1)

    def __str__(self) -> str:
        return f"{self.count}:{self.first}:{self.last}"


def _row(found: dict[str, Any]) -> dict[str, Any]:
    facts = facts_of(found)
    del facts["label"]
    metric = METRICS.get(found["measure__metric"])
    return {
        "id": found["id"],
        "run": found["run_id"],
        "operation": found["measure__operation"],
        "metric": found["measure__metric"],
        "value": found["value"],
        "unit": metric.unit if metric else None,
        "printed": found["printed"],
        "quality": found["provenance__quality"] or "exact",
        "missing_reason": _why_missing(found),
        "low": found["provenance__low"],
        "high": found["provenance__high"],
        **{name: found[f"point__{name}"] for name in ("file_size", "block_size", "threads", "iodepth")},
        "repetition": found["run__repetition"],
        "cpu": found["provenance__cpu"],
        "source_line": found["source_line"],
        "section": found["section"],
        "run_state": found["run__state"],
        "note": found["provenance__note"] or "",
        "facts": facts,
    }


def _why_missing(found: dict[str, Any]) -> str | None:
    """A null value always says why, or has a bound."""
    said: str | None = found["provenance__missing_reason"] or None
    bounded = found["provenance__low"] is not None or found["provenance__high"] is not None
    return said if said or found["value"] is not None or bounded else "unknown"


def flat(row: dict[str, Any]) -> list[Any]:
    """A row for CSV: its fields, then the facts' columns, then what other facts there are."""
    facts = row["facts"]
    others = {name: value for name, value in facts.items() if name not in FACT_COLUMNS}
    return [
        *(row[name] for name in FIELDS),
        *(_plain(facts.get(name)) for name in FACT_COLUMNS),
        to_json(others).decode(),
    ]


def _plain(fact: Any) -> Any:
    return fact if fact is None or isinstance(fact, str | int | float) else str(fact)


def header() -> list[str]:
    return [*FIELDS, *FACT_COLUMNS, "other_facts"]
