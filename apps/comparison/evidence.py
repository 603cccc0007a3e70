"""What is known of runs beside their values: one query for the runs, one for their snapshots, and for runs of studies
one for what their plans ask.
"""

from collections.abc import Collection, Mapping

from django.db.models import Exists, OuterRef

from apps.comparison.planned import PLACES, cache_rules
from apps.comparison.readings import Evidence, Machine
from apps.inventory.models import Snapshot
from apps.runs.models import Run, Series


def evidence_of(runs: Collection[int]) -> Mapping[int, Evidence]:
    logs = Series.objects.filter(run=OuterRef("pk"), source="fio_log")
    columns = ("id", "snapshot_id", "started_at", "finished_at", "workload__spec", "has_fio_logs", *PLACES)
    found = Run.objects.filter(pk__in=runs).annotate(has_fio_logs=Exists(logs))
    rows = list(found.order_by().values_list(*columns))
    snapshots = Snapshot.objects.filter(pk__in={row[1] for row in rows if row[1]})
    machines = {pk: Machine(content) for pk, content in snapshots.values_list("id", "content")}
    asked = cache_rules({row[0]: row[6:] for row in rows})
    return {
        pk: Evidence(machines.get(snapshot), began, ended, spec or {}, has_logs, asked.get(pk))
        for pk, snapshot, began, ended, spec, has_logs, *_ in rows
    }
