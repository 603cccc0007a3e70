"""Samples as flat rows with all facts, from `.values_list`: no model instance is made, so that millions can pass in constant memory."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Self

from django.db.models import Count, Max, Min, QuerySet

from apps.comparison.queries.samples import facts_of
from apps.core.strict_json import to_json
from apps.runs.metrics import METRICS
from apps.runs.models import Run, Sample
from apps.runs.sections import name_of, names_of

OF_SAMPLE = (
    "id", "run_id", "value", "printed", "source_line", "section", "measure__operation", "measure__metric",
    "point__file_size", "point__block_size", "point__threads", "point__iodepth", "provenance__quality",
    "provenance__missing_reason", "provenance__low", "provenance__high", "provenance__cpu", "provenance__note",
)  # fmt: skip
# What is the same for all samples of a run is asked for once a run: with each sample it would be nine tenths of the time.
OF_RUN = (
    "id", "repetition", "state", "facts", "labels", "tool", "tool_version", "host__name", "target__name",
    "study_run__configuration__label", "study_run__configuration__study__slug", "sections", "workload__spec",
)  # fmt: skip
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
    "note", "section_name",
)  # fmt: skip


@dataclass(frozen=True)
class SampleBatch:
    """Some samples as `OF_SAMPLE` has them, and what their runs say by the run's id."""

    found: list[tuple[Any, ...]]
    runs: dict[int, dict[str, Any]]

    @classmethod
    def of(cls, rows: list[tuple[Any, ...]]) -> Self:
        """Read the facts of a part's runs in one statement."""
        runs = _runs({run for _, run, *_ in rows})
        # A run that has gone between the two statements took its samples along.
        return cls([row for row in rows if row[1] in runs], runs)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the samples; those of one run share its facts."""
        return [_row(row, self.runs[row[1]]) for row in self.found]


def rows(samples: QuerySet[Sample]) -> list[dict[str, Any]]:
    """Return the samples in the order of the QuerySet, with their facts, in two statements."""
    return SampleBatch.of(list(samples.values_list(*OF_SAMPLE))).rows()


def parts(samples: QuerySet[Sample], after: int = 0) -> Iterator[SampleBatch]:
    """Yield the samples by id in parts: no long transaction, and nothing stays in memory.

    The QuerySet is in the lab's scope already.
    """
    while rows_found := list(samples.filter(id__gt=after).order_by("id").values_list(*OF_SAMPLE)[:BATCH]):
        yield SampleBatch.of(rows_found)
        after = rows_found[-1][0]


def all_rows(samples: QuerySet[Sample], after: int = 0) -> Iterator[dict[str, object]]:
    return chain.from_iterable(part.rows() for part in parts(samples, after))


@dataclass(frozen=True)
class Extent:
    """Which samples there are. A sample never changes, so other samples have another extent."""

    count: int
    first: int
    last: int

    @classmethod
    def of(cls, samples: QuerySet[Sample]) -> Self:
        totals = samples.order_by().aggregate(n=Count("id"), first=Min("id"), last=Max("id"))
        return cls(totals["n"], totals["first"] or 0, totals["last"] or 0)

    def rows(self, samples: QuerySet[Sample]) -> Iterator[dict[str, Any]]:
        """Yield the samples that were counted, and none that came later."""
        return all_rows(samples.filter(id__lte=self.last), self.first - 1)

    def __str__(self) -> str:
        return f"{self.count}:{self.first}:{self.last}"


def _runs(ids: Collection[int]) -> dict[int, dict[str, object]]:
    """Return the runs' columns by id.

    Whoever may see a sample may see its run, and a stream goes on when the request's scope has ended.
    """
    runs = Run._base_manager.filter(pk__in=ids).values(*OF_RUN)
    return {row["id"]: {**row, "facts": _facts(row), "names": _names(row)} for row in runs}


def _names(run: Mapping[str, Any]) -> dict[int, str]:
    return names_of(run["sections"], (run["workload__spec"] or {}).get("jobs", ()))


def _facts(run: Mapping[str, object]) -> dict[str, object]:
    facts = facts_of({f"run__{name}": value for name, value in run.items()})
    del facts["label"]
    return facts


def _row(values: tuple[Any, ...], run: Mapping[str, Any]) -> dict[str, Any]:
    (
        pk, run_id, value, printed, source_line, section, operation, metric, file_size, block_size, threads, iodepth,
        quality, missing_reason, low, high, cpu, note,
    ) = values  # fmt: skip
    return {
        "id": pk,
        "run": run_id,
        "operation": operation,
        "metric": metric,
        "value": value,
        "unit": unit_of(metric),
        "printed": printed,
        "quality": quality_of(quality),
        "missing_reason": why_missing(missing_reason, (value, low, high)),
        "low": low,
        "high": high,
        "file_size": file_size,
        "block_size": block_size,
        "threads": threads,
        "iodepth": iodepth,
        "repetition": run["repetition"],
        "cpu": cpu,
        "source_line": source_line,
        "section": section,
        "run_state": run["state"],
        "note": note or "",
        "section_name": section_name(run, operation, section),
        "facts": run["facts"],
    }


def unit_of(metric: str) -> str | None:
    known = METRICS.get(metric)
    return known.unit if known else None


def quality_of(quality: str | None) -> str:
    """Return the quality of a sample, also of one without provenance."""
    return quality or "exact"


def section_name(run: Mapping[str, Any], operation: str, section: int) -> str:
    return name_of(run["names"], operation, section)


def why_missing(reason: str | None, numbers: tuple[float | None, ...]) -> str | None:
    """Return why a value is missing; a null value always has a reason or a bound."""
    return reason or ("unknown" if numbers == (None, None, None) else None)


def flat(row: Mapping[str, Any]) -> list[Any]:
    """Return a row for CSV: its fields, then its facts."""
    return [*_fields(row), *fact_cells(row["facts"])]


_fields = itemgetter(*FIELDS)


def fact_cells(facts: Mapping[str, object]) -> list[Any]:
    """Return the cells of the facts' columns, then the remaining facts in one cell."""
    others = {name: value for name, value in facts.items() if name not in FACT_COLUMNS}
    return [*(_plain(facts.get(name)) for name in FACT_COLUMNS), to_json(others).decode()]


def _plain(fact: object) -> Any:
    return fact if fact is None or isinstance(fact, str | int | float) else str(fact)


def header() -> list[str]:
    return [*FIELDS, *FACT_COLUMNS, "other_facts"]
