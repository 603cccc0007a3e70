"""What is known of runs beside their values: one query for the runs, one for their snapshots, one for what was counted at their
disks, and for runs of studies one for what their plans ask.
"""

from collections.abc import Collection, Mapping

from django.db.models import Exists, OuterRef, Sum

from apps.comparison.planned import PLACES, cache_rules
from apps.comparison.readings import Evidence, Machine
from apps.inventory.models import Snapshot
from apps.runs.models import Run, Sample, Series

COUNTS = ("disk_reads", "disk_writes", "disk_bytes_read", "disk_bytes_written")


def evidence_of(runs: Collection[int]) -> Mapping[int, Evidence]:
    logs = Series.objects.filter(run=OuterRef("pk"), source="fio_log")
    columns = ("id", "snapshot_id", "started_at", "finished_at", "workload__spec", "has_fio_logs", *PLACES)
    found = Run.objects.filter(pk__in=runs).annotate(has_fio_logs=Exists(logs))
    rows = list(found.order_by().values_list(*columns))
    snapshots = Snapshot.objects.filter(pk__in={row[1] for row in rows if row[1]})
    machines = {pk: Machine(content) for pk, content in snapshots.values_list("id", "content")}
    asked = cache_rules({row[0]: row[6:] for row in rows})
    counted = _at_disks(runs)
    return {
        pk: Evidence(machines.get(snapshot), began, ended, spec or {}, has_logs, asked.get(pk), counted.get(pk, {}))
        for pk, snapshot, began, ended, spec, has_logs, *_ in rows
    }


def _at_disks(runs: Collection[int]) -> Mapping[int, Mapping[str, float]]:
    """Of each run, by metric, what all its disks did together."""
    found: dict[int, dict[str, float]] = {}
    counts = Sample.objects.filter(run__in=runs, measure__operation="disk", measure__metric__in=COUNTS)
    for run, metric, together in counts.order_by().values_list("run", "measure__metric").annotate(Sum("value")):
        if together is not None:
            found.setdefault(run, {})[metric] = together
    return found
