"""Readings of runs part by part: a run may have more samples than memory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice

from apps.comparison.loading import OWN_COLUMNS, PLACE, Beside, Row, as_dicts, by_place, readings_of
from apps.comparison.readings import Reading
from apps.lib import sql
from apps.runs.metrics import DISK
from apps.runs.models import Sample

AT_ONCE = 5_000  # samples in memory
_AT_PLACES = """
SELECT place.run, place.operation, place.section, place.point, measure.metric, sample.value
FROM unnest(%(run)s::bigint[], %(operation)s::text[], %(section)s::smallint[], %(point)s::bigint[])
    AS place(run, operation, section, point)
JOIN runs_measure measure ON measure.operation = place.operation
JOIN runs_sample sample ON sample.run_id = place.run AND sample.measure_id = measure.id
    AND sample.point_id = place.point AND sample.section = place.section
UNION ALL
SELECT sample.run_id, measure.operation, sample.section, sample.point_id, measure.metric, sample.value
FROM runs_measure measure JOIN runs_sample sample ON sample.measure_id = measure.id
WHERE measure.operation = %(disk)s AND sample.run_id = ANY(%(run)s::bigint[])
"""


def by_parts(runs: Iterable[int]) -> Iterator[list[Reading]]:
    """All samples of these runs by id, whatever they measure; each knows what lies beside it in other parts too."""
    wanted = Sample.objects.filter(run__in=list(runs)).order_by("id")
    found = wanted.values_list(*OWN_COLUMNS).iterator(AT_ONCE)
    for number in count():
        rows = as_dicts(islice(found, AT_ONCE))
        if rows:
            is_all = number == 0 and len(rows) < AT_ONCE
            yield readings_of(rows, _beside_in(rows) if is_all else _beside(rows))
        if len(rows) < AT_ONCE:
            return


def _beside_in(rows: Sequence[Row]) -> Beside:
    return by_place((*(row[name] for name in PLACE), row["measure__metric"], row["value"]) for row in rows)


def _beside(rows: Sequence[Row]) -> Beside:
    """What lies at the places of these rows, and at their runs' disks, from the index of a run's samples: the rest of a long run is not read."""
    places = zip(*{tuple(row[name] for name in PLACE) for row in rows}, strict=True)
    columns = dict(zip(("run", "operation", "section", "point"), map(list, places), strict=True))
    return by_place(sql.rows(_AT_PLACES, {**columns, "disk": DISK}))
