"""Parsed samples into the database, by COPY: a few rows cost as little as `bulk_create`, a million an eighth of it."""

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from apps.lib.copying import copy, new_ids
from apps.lib.sql import rows
from apps.parsers.shape import ParsedHistogram, ParsedSample, ParsedSeries
from apps.runs.metrics import OPERATIONS, metric
from apps.runs.models import Artefact, Histogram, Measure, Point, Provenance, Quality, Run, Sample, Series
from apps.runs.packing import overview, pack

Key = tuple[int | None, int | None, int | None, int | None]
_POINTS_AT_ONCE = 100
_SAMPLE_COLUMNS = (
    "id", "run_id", "measure_id", "point_id", "section", "value", "printed", "source_line", "artefact_id",
)  # fmt: skip
_SAMPLE_TYPES = ("int8", "int8", "int2", "int8", "int2", "float8", "varchar", "int4", "int8")
_PROVENANCE_COLUMNS = ("sample_id", "quality", "missing_reason", "low", "high", "cpu", "note", "alternatives")
_PROVENANCE_TYPES = ("int8", "varchar", "varchar", "float8", "float8", "float8", "text", "float8[]")
_SAYS_NOTHING = ("exact", "", None, None, None, "", ())


def save_samples(run: Run, parsed: Sequence[ParsedSample], artefact: Artefact | None = None) -> int:
    """Add samples to a run, and where they come from. Returns how many. One (operation, metric, point, section) may
    come once.
    """
    return save_all_samples([(run.pk, artefact.pk if artefact else None, parsed)])


def save_all_samples(parts: Iterable[tuple[int, int | None, Sequence[ParsedSample]]], *, are_new: bool = False) -> int:
    """The same for many runs at once: (the run's id, the artefact's, its samples) each. `are_new`: nobody else sees the runs
    yet.
    """
    every = [(run, artefact, one) for run, artefact, parsed in parts for one in parsed]
    if not every:
        return 0
    measures = measure_ids({(one.operation, one.metric) for _, _, one in every})
    points = point_ids({_key(one) for _, _, one in every})
    with transaction.atomic(savepoint=False):
        if not are_new:
            _hold({run for run, _, _ in every})
        ids = new_ids(Sample._meta.db_table, len(every))
        copy(Sample._meta.db_table, _SAMPLE_COLUMNS, _SAMPLE_TYPES, (
            (
                pk, run, measures[one.operation, one.metric], points[_key(one)], one.section, one.value,
                one.printed[:80], one.line, artefact,
            )
            for pk, (run, artefact, one) in zip(ids, every, strict=True)
        ))  # fmt: skip
        copy(Provenance._meta.db_table, _PROVENANCE_COLUMNS, _PROVENANCE_TYPES, (
            (pk, Quality(said[0]).value, said[1][:120], *said[2:6], list(said[6]))
            for pk, (_, _, one) in zip(ids, every, strict=True) if (said := _said(one)) != _SAYS_NOTHING
        ))  # fmt: skip
    return len(every)


def _hold(runs: Collection[int]) -> None:
    """Until the transaction ends nobody deletes them: what a foreign key would do for every sample, once for each run."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM runs_run WHERE id = ANY(%s) FOR KEY SHARE", [list(runs)])
        gone = set(runs) - {pk for (pk,) in cursor.fetchall()}
    if gone:
        raise IntegrityError(f"found no run {min(gone)}, expected the run that the samples are of")


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
    return {(operation, name): pk for pk, operation, name in rows("SELECT id, operation, metric FROM runs_measure")}


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
    here = Point.objects.filter(reduce(or_, asked))
    return {
        (f, b, t, d): pk for pk, f, b, t, d in here.values_list("id", "file_size", "block_size", "threads", "iodepth")
    }


def _point(key: Key) -> Point:
    return Point(file_size=key[0], block_size=key[1], threads=key[2], iodepth=key[3])


def _key(one: ParsedSample) -> Key:
    return one.file_size, one.block_size, one.threads, one.iodepth


def _said(one: ParsedSample) -> tuple[Any, ...]:
    """How far it can be trusted; `_SAYS_NOTHING` of most."""
    return one.quality, one.missing_reason, one.low, one.high, one.cpu, one.note, one.alternatives
