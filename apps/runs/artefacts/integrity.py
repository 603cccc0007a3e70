"""Checks of what the database does not check: references of samples, and the bytes of artefacts.

for sentence in broken_references(): …
for sentence in lost_artefacts(): …
"""

from collections.abc import Iterator

from django.db.models import Count, Exists, Min, Model, OuterRef

from apps.labs.isolation import all_labs
from apps.runs.artefacts.store import LostBytesError, open_stream
from apps.runs.models import Artefact, Measure, Point, Provenance, Run, RunArtefact, Sample

REFERENCES: tuple[tuple[type[Model], str, type[Model]], ...] = (
    (Sample, "run_id", Run),
    (Sample, "measure_id", Measure),
    (Sample, "point_id", Point),
    (Sample, "artefact_id", Artefact),
    (Provenance, "sample_id", Sample),
)


def broken_references() -> Iterator[str]:
    """Yield one sentence for each kind of reference that leads nowhere. Reads whole tables: for the night."""
    with all_labs():
        for model, column, other in REFERENCES:
            leads_somewhere = Exists(other._default_manager.filter(pk=OuterRef(column)))
            lost = model._default_manager.filter(~leads_somewhere, **{f"{column}__isnull": False})
            count, first = lost.aggregate(count=Count("pk"), first=Min(column)).values()
            if count:
                result = (
                    f"found {count} that lead nowhere, the first to {first}; expected rows of {other._meta.db_table}"
                )
                yield f"{model._meta.db_table}.{column}: {result}"


def lost_artefacts() -> Iterator[str]:
    """Yield a sentence for each stored artefact whose bytes are lost or altered. Reads all bytes of all artefacts."""
    with all_labs():
        for artefact in Artefact.objects.select_related("small", "lab").order_by("id").iterator(chunk_size=100):
            try:
                for _ in open_stream(artefact):
                    pass
            except LostBytesError as error:
                yield f"{artefact.lab}, {_of_runs(artefact)}: {error}."


def _of_runs(artefact: Artefact) -> str:
    parts = RunArtefact.objects.filter(artefact=artefact).order_by("run_id").values_list("run_id", "name")
    named = [f"{name} of run {run}" for run, name in parts[:3]]
    more = parts.count() - len(named)
    return ", ".join([*named, *([f"{more} more"] if more else [])]) or f"a file of {artefact.size} bytes without a run"
