"""Parsed samples into the database, by COPY: a few rows cost as little as `bulk_create`, a million an eighth of it."""

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection, transaction
from django.db.models import Q

from apps.parsers.shape import ParsedHistogram, ParsedSample, ParsedSeries
from apps.runs.metrics import OPERATIONS, metric
from apps.runs.models import Artefact, Histogram, Measure, Point, Provenance, Quality, Run, Sample, Series
from apps.runs.packing import overview, pack

Key = tuple[int | None, int | None, int | None, int | None]
_POINTS_AT_ONCE = 100
_SAMPLE_COLUMNS = ("id", "run_id", "measure_id", "point_id", "section", "value")
_SAMPLE_TYPES = ("int8", "int8", "int2", "int8", "int2", "float8")
_PROVENANCE_COLUMNS = (
    "sample_id", "printed", "quality", "missing_reason", "low", "high", "cpu", "note", "source_line", "artefact_id",
    "alternatives",
)  # fmt: skip
_PROVENANCE_TYPES = (
    "int8",
    "varchar",
    "varchar",
    "varchar",
    "float8",
    "float8",
    "float8",
    "text",
    "int4",
    "int8",
    "float8[]",
)


def save_samples(run: Run, parsed: Sequence[ParsedSample], artefact: Artefact | None = None) -> int:
    """Add samples to a run, and where they come from. Returns how many. One (operation, metric, point, section) may
    come once.
    """
    return save_all_samples([(run.pk, artefact.pk if artefact else None, parsed)])


def save_all_samples(parts: Iterable[tuple[int, int | None, Sequence[ParsedSample]]]) -> int:
    """The same for many runs at once: (the run's id, the artefact's, its samples) each."""
    every = [(run, artefact, one) for run, artefact, parsed in parts for one in parsed]
    if not every:
        return 0
    measures = measure_ids({(one.operation, one.metric) for _, _, one in every})
    points = point_ids({_key(one) for _, _, one in every})
    with transaction.atomic(savepoint=False):
        ids = _new_ids(len(every))
        _copy(Sample._meta.db_table, _SAMPLE_COLUMNS, _SAMPLE_TYPES, (
            (pk, run, measures[one.operation, one.metric], points[_key(one)], one.section, one.value)
            for pk, (run, _, one) in zip(ids, every, strict=True)
        ))  # fmt: skip
        _copy(Provenance._meta.db_table, _PROVENANCE_COLUMNS, _PROVENANCE_TYPES, (
            _provenance(pk, one, artefact)
            for pk, (_, artefact, one) in zip(ids, every, strict=True) if _says_something(one)
        ))  # fmt: skip
    return len(every)


def save_series(run: Run, parsed: Iterable[ParsedSeries]) -> None:
    Series.objects.bulk_create(
        Series(
            run=run, operation=one.operation, metric=one.metric, section=one.section, source=one.source,
            count=len(one.values), packed=pack(one.times_s, one.values), overview=overview(one.times_s, one.values),
        )
        for one in parsed
    )  # fmt: skip


def save_histograms(run: Run, parsed: Iterable[ParsedHistogram]) -> None:
    Histogram.objects.bulk_create(
        Histogram(
            run=run, operation=one.operation, kind=one.kind, section=one.section, bins=[list(pair) for pair in one.bins]
        )
        for one in parsed
    )


def drop_values(run: Run) -> None:
    """Everything that was read from the run's output, so that it can be read again."""
    for model in (Sample, Series, Histogram):
        model.objects.filter(run=run).delete()


def measure_ids(wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Each (operation, metric) with its number. A word nobody declared is a ValueError. Safe beside others who add the
    same.
    """
    known = _measures()
    if missing := sorted(set(wanted) - known.keys()):
        for operation, name in missing:
            if operation not in OPERATIONS:
                raise ValueError(f"Unknown operation {operation!r}, expected one of: {', '.join(OPERATIONS)}")
            metric(name)
        # only what is missing: every conflict would use up one of the 32,767 numbers
        Measure.objects.bulk_create([Measure(operation=o, metric=m) for o, m in missing], ignore_conflicts=True)
        known = _measures()
    return known


def _measures() -> dict[tuple[str, str], int]:
    return {(operation, name): pk for pk, operation, name in Measure.objects.values_list("id", "operation", "metric")}


def point_ids(wanted: Collection[Key]) -> dict[Key, int]:
    """Each workload point with its number; made where it is new. Safe beside others who add the same."""
    every = sorted(set(wanted), key=repr)
    found: dict[Key, int] = {}
    for start in range(0, len(every), _POINTS_AT_ONCE):
        some = every[start : start + _POINTS_AT_ONCE]
        found |= _points(some)
        if missing := [key for key in some if key not in found]:
            Point.objects.bulk_create([_point(key) for key in missing], ignore_conflicts=True)
            found |= _points(missing)
    return found


def _points(keys: Sequence[Key]) -> dict[Key, int]:
    asked = (Q(file_size=key[0], block_size=key[1], threads=key[2], iodepth=key[3]) for key in keys)
    rows = Point.objects.filter(reduce(or_, asked))
    return {
        (f, b, t, d): pk for pk, f, b, t, d in rows.values_list("id", "file_size", "block_size", "threads", "iodepth")
    }


def _point(key: Key) -> Point:
    return Point(file_size=key[0], block_size=key[1], threads=key[2], iodepth=key[3])


def _key(one: ParsedSample) -> Key:
    return one.file_size, one.block_size, one.threads, one.iodepth


def _says_something(one: ParsedSample) -> bool:
    bounds = (one.low, one.high, one.cpu, one.line)
    return bool(
        one.printed
        or one.note
        or one.missing_reason
        or one.quality != Quality.EXACT
        or any(b is not None for b in bounds)
    )


def _provenance(pk: int, one: ParsedSample, artefact_id: int | None) -> tuple[Any, ...]:
    return (
        pk, one.printed[:80], Quality(one.quality).value, one.missing_reason[:120], one.low, one.high, one.cpu,
        one.note, one.line, artefact_id, list(one.alternatives), )  # fmt: skip


def _new_ids(count: int) -> list[int]:
    table = Sample._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count])
        return [row[0] for row in cursor.fetchall()]


def _copy(table: str, columns: Sequence[str], types: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    names = ", ".join(columns)
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)
