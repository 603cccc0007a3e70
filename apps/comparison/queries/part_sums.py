"""Runs with several values at one point: fio's jobs of one time, streams beside their sum.

Their values are put together as everywhere (`aggregates`) before the runs are held against others: four processes that
each write 150 MB/s are as fast as one report of 600 MB/s.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from apps.comparison.queries.aggregates import summed, without_parts
from apps.comparison.queries.samples import as_dicts, rates_beside
from apps.comparison.readings import MOST, POINT
from apps.core import sql
from apps.runs.models import Sample

# Only a run that has samples of a second section can have several at one point, which leaves few runs to look at.
_RUNS = """
SELECT DISTINCT run_id FROM (
    SELECT sample.run_id FROM runs_sample sample
    JOIN runs_run run ON run.id = sample.run_id JOIN runs_point point ON point.id = sample.point_id
    WHERE run.lab_id = ANY(%(labs)s::bigint[]) AND run.state = 'finished'
        AND sample.measure_id = ANY(%(measures)s::smallint[]) AND sample.run_id IN (
            SELECT run_id FROM runs_sample WHERE section > 0 AND measure_id = ANY(%(measures)s::smallint[]))
    GROUP BY sample.run_id, sample.measure_id, point.file_size, point.block_size, point.iodepth
    HAVING count(*) > 1
) AS several"""
_COLUMNS = (
    "run_id", "value", "section", "run__sections", "run__tool", "measure_id", "measure__operation", "measure__metric",
    "point_id", *(f"point__{name}" for name in POINT), "provenance__cpu",
)  # fmt: skip


@dataclass(frozen=True)
class WholeValue:
    """What one run measured of one measure: the mean logarithm over its points.

    `part` are facts of values that could not be put together: each is of a job by itself.
    """

    run: int
    measure: int
    log: float
    points: tuple[Mapping[str, int | None], ...]
    part: tuple[tuple[str, str], ...]


def find_runs_of_parts(labs: Collection[int], measures: Collection[int]) -> list[int]:
    """Return the finished runs of these labs that have several values of a measure at one point."""
    return [run for (run,) in sql.rows(_RUNS, {"labs": list(labs), "measures": list(measures)})]


def load_wholes(runs: Collection[int], measures: Collection[int]) -> Iterator[WholeValue]:
    """Yield the values of these runs, put together; takes two statements, none for no runs."""
    if not runs:
        return
    samples = Sample.objects.filter(run__in=list(runs), measure__in=list(measures)).order_by("run_id", "section")
    rows = as_dicts(samples.values_list(*_COLUMNS), _COLUMNS)
    values: dict[tuple[int, int, tuple[tuple[str, str], ...]], list[dict[str, Any]]] = defaultdict(list)
    for row in summed(without_parts(rows), rates_beside):
        if row["value"] is not None and 0 < row["value"] < MOST:
            part = tuple(sorted((name, str(value)) for name, value in row.get("part", {}).items()))
            values[row["run_id"], row["measure_id"], part].append(row)
    for (run, measure, part), some in values.items():
        points = tuple({name: row[f"point__{name}"] for name in POINT} for row in some)
        yield WholeValue(run, measure, fmean(math.log(row["value"]) for row in some), points, part)
