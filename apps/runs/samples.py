"""Storage of parsed samples, series and histograms in the database."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from django.db import IntegrityError, connection, transaction

from apps.core.sql import copy_rows, reserve_ids
from apps.parsers.core.models import ParsedHistogram, ParsedHistory, ParsedSample, ParsedSeries
from apps.runs.metrics import OPERATIONS, metric
from apps.runs.models import Artefact, Histogram, Measure, Point, Provenance, Quality, Run, Sample, Series
from apps.runs.series.arrays import overview, pack
from apps.runs.series.intervals import pack_intervals

LONGEST_PRINTED = 80
_LONGEST_REASON = 120
_POINTS_AT_ONCE, _ROWS_AT_ONCE = 200, 1000
_POINT_FIELDS = ("file_size", "block_size", "threads", "iodepth")
_SAMPLE_COLUMNS = (
    "id", "run_id", "measure_id", "point_id", "section", "value", "printed", "source_line", "artefact_id",
)  # fmt: skip
_PROVENANCE_COLUMNS = ("sample_id", "quality", "missing_reason", "low", "high", "cpu", "note", "alternatives")
MeasureKey = tuple[str, str]  # operation and metric
PointKey = tuple[int | None, int | None, int | None, int | None]  # file size, block size, threads, depth
SamplesOfRun = tuple[int, int | None, Sequence[ParsedSample]]  # the run's id, the artefact's, what was measured


def save_samples(run: Run, parsed: Sequence[ParsedSample], artefact: Artefact | None = None) -> int:
    """Add samples to a run, and where they come from. One (operation, metric, point, section) may come once.

    Returns:
        How many samples were added.
    """
    return save_all_samples([(run.pk, artefact.pk if artefact else None, parsed)])


def save_all_samples(parts: Sequence[SamplesOfRun]) -> int:
    """Add samples to many runs at once, and return how many."""
    count = sum(len(samples) for _, _, samples in parts)
    if not count:
        return 0
    measures = measure_ids({(sample.operation, sample.metric) for _, _, sample in _each(parts)})
    points = point_ids({_point_key(sample) for _, _, sample in _each(parts)})
    ids = reserve_ids(Sample, count)  # not while they are copied, when the connection answers nothing else
    provenance: list[tuple[Any, ...]] = []

    def rows() -> Iterator[tuple[Any, ...]]:
        for pk, (run_id, artefact_id, sample) in zip(ids, _each(parts), strict=True):
            if row := _provenance(pk, sample):
                provenance.append(row)
            measure, point = measures[sample.operation, sample.metric], points[_point_key(sample)]
            yield (
                pk, run_id, measure, point, sample.section, sample.value, sample.printed[:LONGEST_PRINTED], sample.line,
                artefact_id,
            )  # fmt: skip

    with transaction.atomic(savepoint=False):
        _hold({run_id for run_id, _, _ in parts})
        copy_rows(Sample, _SAMPLE_COLUMNS, rows())
        copy_rows(Provenance, _PROVENANCE_COLUMNS, provenance)
    return count


def _each(parts: Iterable[SamplesOfRun]) -> Iterator[tuple[int, int | None, ParsedSample]]:
    return ((run_id, artefact_id, sample) for run_id, artefact_id, samples in parts for sample in samples)


def _provenance(sample_id: int, sample: ParsedSample) -> tuple[Any, ...] | None:
    """Return the row that says how far a sample can be trusted, where there is anything to say."""
    has_more = sample.missing_reason or sample.note or sample.alternatives
    if sample.quality == Quality.EXACT.value and not has_more and sample.low is sample.high is sample.cpu is None:
        return None
    return (
        sample_id, Quality(sample.quality).value, sample.missing_reason[:_LONGEST_REASON], sample.low, sample.high, sample.cpu,
        sample.note, list(sample.alternatives),
    )  # fmt: skip


def _hold(runs: Collection[int]) -> None:
    """Let nobody delete the runs until the transaction ends: what a foreign key would do for every sample, once for each run.

    The ORM has no word for FOR KEY SHARE; its stronger locks would make whoever changes a run's state wait.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM runs_run WHERE id = ANY(%s) FOR KEY SHARE", [list(runs)])
        gone = set(runs) - {pk for (pk,) in cursor.fetchall()}
    if gone:
        raise IntegrityError(f"found no run {min(gone)}, expected the run that the samples are of")


def save_series(run: Run, parsed: Iterable[ParsedSeries]) -> None:
    Series.objects.bulk_create(
        Series(
            run=run, operation=series.operation, metric=series.metric, section=series.section, source=series.source,
            count=len(series.values), packed=pack(series.times_s, series.values), overview=overview(series.times_s, series.values),
        )
        for series in parsed
    )  # fmt: skip


def save_histograms(run: Run, parsed: Iterable[ParsedHistogram], histories: Iterable[ParsedHistory] = ()) -> None:
    """Add histograms to a run, each with its intervals where it was logged over time."""
    over_time = {
        (each.operation, each.kind, each.section): pack_intervals(each.times_s, each.bins, each.counts)
        for each in histories
    }
    Histogram.objects.bulk_create(
        Histogram(
            run=run,
            operation=histogram.operation,
            kind=histogram.kind,
            section=histogram.section,
            bins=[list(pair) for pair in histogram.bins],
            intervals=over_time.get((histogram.operation, histogram.kind, histogram.section)),
        )
        for histogram in parsed
    )


def drop_values(run: Run) -> None:
    """Delete everything that was read from the run's output, so that it can be read again."""
    for model in (Sample, Series, Histogram):
        model.objects.filter(run=run).delete()


def measure_ids(wanted: Collection[MeasureKey]) -> dict[MeasureKey, int]:
    """Return the id of each measure; those that are new are created, also beside others who add the same.

    Raises:
        ValueError: Nobody declared the operation or the metric.
    """
    ids = _find_measures(wanted)
    if missing := sorted(set(wanted) - ids.keys()):
        for operation, name in missing:
            if operation not in OPERATIONS:
                raise ValueError(f"Unknown operation {operation!r}, expected one of: {', '.join(OPERATIONS)}")
            metric(name)
        # only what is missing: every conflict would use up one of the 32,767 numbers
        new = [Measure(operation=operation, metric=name) for operation, name in missing]
        Measure.objects.bulk_create(new, ignore_conflicts=True)
        ids |= _find_measures(missing)
    return ids


def _find_measures(wanted: Collection[MeasureKey]) -> dict[MeasureKey, int]:
    operations, metrics = {operation for operation, _ in wanted}, {name for _, name in wanted}
    rows = Measure.objects.filter(operation__in=operations, metric__in=metrics).values_list("operation", "metric", "id")
    return {(operation, name): pk for operation, name, pk in rows if (operation, name) in wanted}


def point_ids(wanted: Collection[PointKey]) -> dict[PointKey, int]:
    """Return the id of each workload point; those that are new are created, also beside others who add the same."""
    ids = _find_points(wanted)
    if missing := sorted(set(wanted) - ids.keys(), key=repr):
        new = [Point(**dict(zip(_POINT_FIELDS, key, strict=True))) for key in missing]
        Point.objects.bulk_create(new, ignore_conflicts=True, batch_size=_ROWS_AT_ONCE)
        ids |= _find_points(missing)
    return ids


def _find_points(wanted: Collection[PointKey]) -> dict[PointKey, int]:
    """Ask for the keys of each way of having some of the four at once, for NULL equals nothing."""
    ids: dict[PointKey, int] = {}
    by_shape = sorted(set(wanted), key=lambda key: (_shape(key), [number or 0 for number in key]))
    for shape, group in groupby(by_shape, key=_shape):
        keys = list(group)
        for start in range(0, len(keys), _POINTS_AT_ONCE):
            some = keys[start : start + _POINTS_AT_ONCE]
            query: dict[str, Any] = {}
            for place, (name, is_null) in enumerate(zip(_POINT_FIELDS, shape, strict=True)):
                query |= {f"{name}__isnull": True} if is_null else {f"{name}__in": {key[place] for key in some}}
            for pk, *key in Point.objects.filter(**query).values_list("id", *_POINT_FIELDS):
                ids[key[0], key[1], key[2], key[3]] = pk  # also combinations of the four that nobody asked for
    return ids


def _shape(key: PointKey) -> tuple[bool, ...]:
    return tuple(number is None for number in key)


def _point_key(sample: ParsedSample) -> PointKey:
    return sample.file_size, sample.block_size, sample.threads, sample.iodepth
