"""References of samples that the database does not check: the proof that the code which writes them keeps them.

for sentence in broken_references(): …        # nothing, if all is well
"""

from collections.abc import Iterator

from apps.lib.sql import one_row

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
