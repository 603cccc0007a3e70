"""A study's samples, as its tables and charts pick them. One query, whatever their number."""

from apps.runs.models import Sample
from apps.runs.states import State
from apps.studies.models import Study
from apps.studies.tables.found import Found, Samples

MOST_SAMPLES = 20_000
_COLUMNS = {
    "id": "id", "run": "run_id", "configuration": "run__study_run__configuration__name", "operation": "measure__operation",
    "metric": "measure__metric", "value": "value", "low": "provenance__low", "high": "provenance__high",
    "printed": "printed", "quality": "provenance__quality", "missing_reason": "provenance__missing_reason",
    "note": "provenance__note", "cpu": "provenance__cpu", "file_size": "point__file_size", "block_size": "point__block_size",
    "threads": "point__threads", "iodepth": "point__iodepth", "alternatives": "provenance__alternatives",
    "source_line": "source_line",
}  # fmt: skip
_WORDS = ("quality", "missing_reason", "note")


def samples_of(study: Study) -> Samples:
    """Of its finished runs; of very many the first, in the order of configurations."""
    found = Sample.objects.filter(run__study_run__configuration__study=study, run__state=State.FINISHED)
    ordered = found.order_by("run__study_run__configuration__position", "id")
    return Samples(_found(row) for row in ordered.values_list(*_COLUMNS.values())[:MOST_SAMPLES])


def _found(row: tuple[object, ...]) -> Found:
    fields = dict(zip(_COLUMNS, row, strict=True))
    fields |= {name: fields[name] or "" for name in _WORDS} | {"alternatives": fields["alternatives"] or ()}
    return Found(**{**fields, "quality": fields["quality"] or "exact"})  # type: ignore[arg-type]
