"""What the database does not check: the proof that the code which writes it keeps it, and that the disk does.

for sentence in broken_references(): …        # of samples; nothing, if all is well
for sentence in lost_artefacts(): …           # the same of kept files
"""

from collections.abc import Iterator

from apps.labs.isolation import all_labs
from apps.lib.sql import one_row
from apps.runs.artefact_store import LostBytesError, open_stream
from apps.runs.models import Artefact, RunArtefact

_COUNT = """
SELECT count(*), min({column}) FROM {table} AS held
WHERE {column} IS NOT NULL AND NOT EXISTS (SELECT FROM {other} AS other WHERE other.id = held.{column})"""
REFERENCES = (
    ("runs_sample", "run_id", "runs_run"),
    ("runs_sample", "measure_id", "runs_measure"),
    ("runs_sample", "point_id", "runs_point"),
    ("runs_sample", "artefact_id", "runs_artefact"),
    ("runs_provenance", "sample_id", "runs_sample"),
)


def broken_references() -> Iterator[str]:
    """One sentence for each kind of reference that leads nowhere. Reads whole tables: for the night."""
    for table, column, other in REFERENCES:
        count, first = one_row(_COUNT.format(table=table, column=column, other=other)) or (0, None)
        if count:
            yield f"{table}.{column}: found {count} that lead nowhere, the first to {first}; expected rows of {other}"


def lost_artefacts() -> Iterator[str]:
    """One sentence for each kept file whose bytes are gone or are others now. Reads all of them, one after the other."""
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
