"""A lab whose runs are of a few hundred configurations at a few points: what questions and comparisons look at.

Made by INSERT … SELECT, seeded: a configuration has its level, a run differs from it by 3 %.
"""

import json
import math
from itertools import product
from typing import Any

from django.db import connection

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.runs.models import Measure, Point, Workload
from apps.runs.workload import checked, digest

GIB = 1024**3
MEASURES = (("write", "bandwidth"), ("read", "bandwidth"), ("randread", "iops"), ("randwrite", "iops"))
HOSTS = 10
FACTS = {
    "raid_level": ("0", "5"), "raid_implementation": ("hardware", "software"), "filesystem": ("ext4", "xfs", "btrfs"),
    "chunk_size": (64 << 10, 256 << 10),
}  # fmt: skip
EFFECTS = {"0": 1.9, "5": 2.2, "xfs": 1.2, "btrfs": 0.9}
SIZES = (128 * GIB, 256 * GIB, 512 * GIB, 1024 * GIB)

_RUNS = """
INSERT INTO runs_run (lab_id, host_id, target_id, workload_id, tool, tool_version, origin, state, repetition, facts,
    labels, problem, progress, created_by, created_at, started_at, finished_at)
SELECT %(lab)s, host, target, workload, 'fio', 'fio-3.33', 'dispatched', 'finished', 1,
    facts || jsonb_build_object('load_before', number %% 7), '{}', '', 1, 'nightly', at, at, at
FROM generate_series(%(first)s, %(last)s) AS number
    CROSS JOIN LATERAL (SELECT timestamptz '2024-01-01' + number * interval '5 minutes' AS at) AS moment
    JOIN unnest(%(hosts)s::bigint[], %(targets)s::bigint[], %(facts)s::jsonb[]) WITH ORDINALITY
        AS configuration(host, target, facts, place) ON place = number %% %(configurations)s + 1
    JOIN unnest(%(workloads)s::bigint[]) WITH ORDINALITY
        AS asked(workload, size) ON size = number / %(configurations)s %% %(sizes)s + 1
ORDER BY number"""
_SAMPLES = """
INSERT INTO runs_sample (run_id, measure_id, point_id, section, value)
SELECT run.id, measure, point, 0,
    usual * level * exp(0.03 * sqrt(-2 * ln(random() + 1e-12)) * cos(2 * pi() * random()))
FROM runs_run run
    JOIN unnest(%(targets)s::bigint[], %(levels)s::float8[]) AS configuration(target, level) ON target = target_id
    JOIN unnest(%(workloads)s::bigint[], %(points)s::bigint[]) AS place(workload, point) ON workload = workload_id,
    unnest(%(measures)s::smallint[], ARRAY[2e8, 3e8, 4e4, 2e4]) AS asked(measure, usual)
WHERE run.id > coalesce((SELECT max(run_id) FROM runs_sample), 0)"""


def configurations(lab: Lab) -> list[tuple[Target, dict[str, Any]]]:
    """Make hosts with a target for each combination of facts; return the targets with their facts."""
    made = []
    for number in range(HOSTS):
        host = Host.objects.create(lab=lab, name=f"node{number:02}", ram_bytes=64 * GIB)
        own = {
            "host": host.name, "ram": 64 * GIB, "cpu": f"Xeon {number // 3}", "kernel": f"6.{number % 2}.0-18",
            "os": "Debian 12", "interface": ("SATA", "SAS", "NVMe")[number % 3], "disk_model": f"HUS{number % 3}",
            "disk_count": 8, "environment": "native", "direct": 1, "mount_options": "rw,relatime",
        }  # fmt: skip
        for place, values in enumerate(product(*FACTS.values())):
            target = Target.objects.create(lab=lab, host=host, name=f"array{place}", path=f"/srv/{place}")
            made.append((target, own | dict(zip(FACTS, values, strict=True))))
    return made


def fill(lab: Lab, places: list[tuple[Target, dict[str, Any]]], runs: range) -> None:
    """Add runs, each with one sample of each measure; outside of a transaction."""
    values = {
        "lab": lab.pk, "first": runs.start, "last": runs.stop - 1, "configurations": len(places), "sizes": len(SIZES),
        "hosts": [target.host_id for target, _ in places], "targets": [target.pk for target, _ in places],
        "facts": [json.dumps(facts) for _, facts in places],
        "levels": [math.prod(EFFECTS.get(str(value), 1.0) for value in facts.values()) for _, facts in places],
        "workloads": [_workload(lab, size) for size in SIZES],
        "points": [
            Point.objects.get_or_create(file_size=size, block_size=1 << 20, threads=1, iodepth=16)[0].pk
            for size in SIZES
        ],
        "measures": [Measure.objects.get_or_create(operation=o, metric=m)[0].pk for o, m in MEASURES],
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")
        cursor.execute(_RUNS, values)
        cursor.execute(_SAMPLES, values)
        cursor.execute("VACUUM ANALYZE runs_sample, runs_run")


def _workload(lab: Lab, size: int) -> int:
    spec = checked(
        {"jobs": [{"rw": "write", "block_size": 1 << 20, "file_size": size, "ioengine": "libaio", "iodepth": 16}]}
    )
    made = Workload.objects.get_or_create(lab=lab, sha256=digest(spec), defaults={"tool": "fio", "spec": spec})
    return made[0].pk
