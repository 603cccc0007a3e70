"""What the samples of runs are of, for lists: the one thing that tells of a Bonnie, IOzone, dd or iperf what it did.

A run has a few dozen measures and up to millions of samples. The index `sample_once` has those in the order of their measures: of most runs a
short stretch of it says all; after that the statement takes one step along it for each measure. Of a run that says itself what it did
nothing is read.
"""

from collections.abc import Collection
from functools import cache

from apps.lib import sql
from apps.runs.metrics import DISK, OPERATIONS
from apps.runs.workload import SAID

FEW = 64  # samples: as quick to read as two or three steps
_OPERATIONS: dict[int, str] = {}  # by measure; a measure stays what it is


@cache
def measures(run: str) -> str:
    """An expression for a statement in which the runs are called so: an array of measures, NULL where there is nothing to say."""
    said = " OR ".join(f"coalesce({run}.facts ->> '{name}', '') <> ''" for name in SAID)
    return f"""(
    WITH RECURSIVE few AS MATERIALIZED (
        SELECT measure_id FROM runs_sample WHERE run_id = {run}.id AND NOT (
            {said} OR ({run}.tool = 'fio' AND {run}.sections <> '{{}}')
            OR EXISTS (SELECT FROM runs_workload WHERE id = {run}.workload_id AND jsonb_path_exists(spec, '$.jobs[*].rw')))
        ORDER BY measure_id LIMIT {FEW}
    ), step(measure_id) AS (
        SELECT max(measure_id) FROM few HAVING count(*) = {FEW}
        UNION ALL
        SELECT (SELECT min(measure_id) FROM runs_sample WHERE run_id = {run}.id AND measure_id > step.measure_id)
            FROM step WHERE step.measure_id IS NOT NULL
    )
    SELECT array_agg(DISTINCT measure_id) FROM (SELECT * FROM few UNION ALL SELECT * FROM step) AS found WHERE measure_id IS NOT NULL)"""  # noqa: S608


def measures_of(run: int) -> list[int] | None:
    [(found,)] = sql.rows(f"SELECT {measures('run')} FROM runs_run run WHERE id = %(run)s", {"run": run})  # noqa: S608
    return found  # type: ignore[no-any-return]


def operations_of(measures: Collection[int] | None) -> list[str]:
    """In the field's order and words. What the kernel counted at disks only where there is nothing else."""
    if not measures:
        return []
    if not _OPERATIONS.keys() >= set(measures):
        _OPERATIONS.update(sql.rows("SELECT id, operation FROM runs_measure"))
    found = {_OPERATIONS[measure] for measure in measures}
    ordered = [name for name in OPERATIONS if name in found and name != DISK]
    return [name.replace("_", " ") for name in ordered or found]
