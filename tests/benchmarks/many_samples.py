"""Millions of samples as months of nightly runs make them: seeded, so that every machine has the same.

Each configuration has its own level for each measure; a night varies by 3 %, some by much more (a backup ran), a level drifts, and at some
night a kernel changes it. COPY in binary from arrays; the foreign keys are taken off meanwhile and checked once at the end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO

import numpy as np
from django.db import connection

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.runs.models import Measure, Point

SEED = 20_061_029
OPERATIONS = ("write", "read", "randwrite", "randread", "rewrite", "reread", "char_write", "char_read")
METRICS = ("bandwidth", "iops", "clat_mean", "clat_p99", "cpu")
MEASURES = len(OPERATIONS) * len(METRICS)
LEVELS = {"bandwidth": 2e8, "iops": 4e4, "clat_mean": 5e5, "clat_p99": 4e6, "cpu": 0.4}
FIRST_NIGHT = datetime(2024, 1, 1, 2, tzinfo=UTC)
GIB = 1024**3
AT_ONCE = 500_000  # samples in memory


def targets(lab: Lab, number: int) -> list[Target]:
    hosts = [Host.objects.create(lab=lab, name=f"node{i:03}", ram_bytes=64 * GIB) for i in range(-(-number // 4))]
    return [
        Target.objects.create(lab=lab, host=hosts[i // 4], name=f"array{i % 4}", path=f"/srv/array{i % 4}")
        for i in range(number)
    ]


def fill(lab: Lab, places: list[Target], samples: int) -> int:
    """At least so many samples, evenly over the targets, one run a night each; the number made. Adds to what is there."""
    nights = -(-samples // (MEASURES * len(places)))
    runs = _runs(lab, places, nights)
    measures, points = _measures()
    with _without_foreign_keys():
        for start in range(0, nights, step := max(1, AT_ONCE // (MEASURES * len(places)))):
            _copy(runs[start : start + step], start, measures, points)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE runs_sample, runs_run")
    return nights * len(places) * MEASURES


def _runs(lab: Lab, places: list[Target], nights: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Ids of the new runs, one row a night and one column a target."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(finished_at), %s) FROM runs_run", [FIRST_NIGHT])
        begin = cursor.fetchone()[0] + timedelta(days=1)
        cursor.execute(
            """INSERT INTO runs_run (lab_id, host_id, target_id, tool, tool_version, origin, state, repetition, facts, labels, problem, progress,
                    created_by, created_at, started_at, finished_at)
                SELECT %s, t.host, t.id, 'fio', 'fio-3.33', 'dispatched', 'finished', 1,
                    jsonb_build_object('ram', %s::bigint, 'host', t.name, 'kernel', '6.1.' || (night / 30)), '{}', '', 1, 'nightly', at, at, at
                FROM generate_series(0, %s - 1) AS night,
                    LATERAL (SELECT %s::timestamptz + night * interval '1 day' AS at) AS moment,
                    unnest(%s::bigint[], %s::bigint[], %s::text[]) WITH ORDINALITY AS t(id, host, name, place)
                ORDER BY night, t.place RETURNING id""",
            [
                lab.pk,
                64 * GIB,
                nights,
                begin,
                [p.pk for p in places],
                [p.host_id for p in places],
                [p.host.name for p in places],
            ],
        )
        ids = np.array(cursor.fetchall(), dtype=np.int64)
    return np.sort(ids.reshape(nights, len(places)), axis=1)


def _measures() -> tuple[dict[str, list[int]], dict[str, int]]:
    """Ids of the measures by metric, in the operations' order, and of a point for each operation."""
    measures = {
        metric: [Measure.objects.get_or_create(operation=operation, metric=metric)[0].pk for operation in OPERATIONS]
        for metric in METRICS
    }
    shapes = {operation: 4096 if operation.startswith("rand") else 1024**2 for operation in OPERATIONS}
    points = {
        operation: Point.objects.get_or_create(file_size=256 * GIB, block_size=size, threads=1, iodepth=16)[0].pk
        for operation, size in shapes.items()
    }
    return measures, points


def _values(
    shape: tuple[int, int], first_night: int, metric: str
) -> "np.ndarray[tuple[int, int, int], np.dtype[np.float64]]":
    """Nights × targets × operations."""
    nights, places = shape
    own = np.random.default_rng([SEED, len(metric)])
    level = LEVELS[metric] * np.exp(own.normal(0, 0.6, (places, len(OPERATIONS))))
    change = own.integers(20, 2000, places)
    noise = np.random.default_rng([SEED, len(metric), first_night])
    spread = np.exp(noise.normal(0, 0.03, (nights, places, len(OPERATIONS))))
    spread[noise.random((nights, places)) < 0.01] *= 0.7  # a backup ran
    night = first_night + np.arange(nights)[:, None]
    slower = np.where(night > change, 0.92, 1.0) * (1 - 0.00002 * night)
    return level * spread * slower[:, :, None]


def _copy(
    runs: "np.ndarray[tuple[int, int], np.dtype[np.int64]]",
    first_night: int,
    measures: dict[str, list[int]],
    points: dict[str, int],
) -> None:
    row = np.dtype([
        ("columns", ">i2"), ("l1", ">i4"), ("run", ">i8"), ("l2", ">i4"), ("measure", ">i2"), ("l3", ">i4"), ("point", ">i8"),
        ("l4", ">i4"), ("section", ">i2"), ("l5", ">i4"), ("value", ">f8"),
    ])  # fmt: skip
    rows = np.zeros((*runs.shape, len(METRICS), len(OPERATIONS)), dtype=row)
    for name, value in (("columns", 5), ("l1", 8), ("l2", 2), ("l3", 8), ("l4", 2), ("l5", 8)):
        rows[name] = value
    rows["run"] = runs[:, :, None, None]
    rows["point"] = [points[operation] for operation in OPERATIONS]
    for place, metric in enumerate(METRICS):
        rows["measure"][:, :, place] = measures[metric]
        rows["value"][:, :, place] = _values((runs.shape[0], runs.shape[1]), first_night, metric)
    data = BytesIO(b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff")
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY runs_sample (run_id, measure_id, point_id, section, value) FROM STDIN (FORMAT BINARY)"
        ) as copy,
    ):
        while piece := data.read(1 << 20):
            copy.write(piece)


@contextmanager
def _without_foreign_keys() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'runs_sample'::regclass AND contype = 'f'"
        )
        keys = cursor.fetchall()
        for name, _ in keys:
            cursor.execute(f'ALTER TABLE runs_sample DROP CONSTRAINT "{name}"')
        try:
            yield
        finally:
            for name, definition in keys:
                cursor.execute(f'ALTER TABLE runs_sample ADD CONSTRAINT "{name}" {definition}')
