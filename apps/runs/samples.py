"""Parsed samples into the database, by COPY: a few rows cost as little as `bulk_create`, a million an eighth of it."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any

from django.db import IntegrityError, connection, transaction

from apps.lib.copying import copy, ids_asked
from apps.lib.few_rows import array
from apps.lib.pipelined import Asking, abreast
from apps.parsers.shape import ParsedHistogram, ParsedSample, ParsedSeries
from apps.runs.columns import SAYS_NOTHING, Key, Word, said_of
from apps.runs.metrics import OPERATIONS, metric
from apps.runs.models import Artefact, Histogram, Provenance, Quality, Run, Sample, Series
from apps.runs.packing import overview, pack

LONGEST_PRINTED = 80
Shape = tuple[bool, bool, bool, bool]  # which of a key's four are None
_MEASURES = """
SELECT measure.id, measure.operation, measure.metric
FROM unnest(%(operations)s::text[], %(metrics)s::text[]) AS wanted(operation, metric) JOIN runs_measure measure USING (operation, metric)"""
_ADD_MEASURES = """
INSERT INTO runs_measure (operation, metric) SELECT * FROM unnest(%(operations)s::text[], %(metrics)s::text[])
ON CONFLICT DO NOTHING RETURNING id"""
_POINT_COLUMNS = ("file_size", "block_size", "threads", "iodepth")
_POINTS = """
SELECT point.id, point.file_size, point.block_size, point.threads, point.iodepth
FROM unnest(%(file_size{n})s::int8[], %(block_size{n})s::int8[], %(threads{n})s::int8[], %(iodepth{n})s::int8[])
    AS wanted(file_size, block_size, threads, iodepth)
JOIN runs_point point ON {on}"""
_ADD_POINTS = """
INSERT INTO runs_point (file_size, block_size, threads, iodepth)
SELECT * FROM unnest(%(file_size)s::int8[], %(block_size)s::int8[], %(threads)s::int4[], %(iodepth)s::int4[])
ON CONFLICT DO NOTHING RETURNING id"""
SAMPLE_COLUMNS = (
    "id", "run_id", "measure_id", "point_id", "section", "value", "printed", "source_line", "artefact_id",
)  # fmt: skip
SAMPLE_TYPES = ("int8", "int8", "int2", "int8", "int2", "float8", "varchar", "int4", "int8")
_PROVENANCE_COLUMNS = ("sample_id", "quality", "missing_reason", "low", "high", "cpu", "note", "alternatives")
_PROVENANCE_TYPES = ("int8", "varchar", "varchar", "float8", "float8", "float8", "text", "float8[]")


def save_samples(run: Run, parsed: Sequence[ParsedSample], artefact: Artefact | None = None) -> int:
    """Add samples to a run, and where they come from. Returns how many. One (operation, metric, point, section) may
    come once.
    """
    return save_all_samples([(run.pk, artefact.pk if artefact else None, parsed)])


def save_all_samples(
    parts: Iterable[tuple[int, int | None, Sequence[ParsedSample]]],
    *,
    are_new: bool = False,
    numbers: Sequence[Any] | None = None,
) -> int:
    """The same for many runs at once: (the run's id, the artefact's, its samples) each. `are_new`: nobody else sees the runs
    yet. `numbers`: what `numbers_asked` came to for the samples in their order, where it is known.
    """
    every = [(run, artefact, one) for run, artefact, parsed in parts for one in parsed]
    if not every:
        return 0
    samples = [one for _, _, one in every]
    measures, points, ids = numbers or abreast(*numbers_asked(samples))
    with transaction.atomic(savepoint=False):
        if not are_new:
            _hold({run for run, _, _ in every})
        copy(Sample._meta.db_table, SAMPLE_COLUMNS, SAMPLE_TYPES, (
            (
                pk, run, measures[one.operation, one.metric], points[_key(one)], one.section, one.value,
                one.printed[:LONGEST_PRINTED], one.line, artefact,
            )
            for pk, (run, artefact, one) in zip(ids, every, strict=True)
        ), count=len(every))  # fmt: skip
        save_provenance([
            (pk, *found) for pk, one in zip(ids, samples, strict=True) if (found := said_of(one)) != SAYS_NOTHING
        ])  # fmt: skip
    return len(every)


def save_provenance(said: Iterable[tuple[Any, ...]]) -> None:
    """Of (a sample's id, what `said_of` it was) each."""
    rows = [
        (pk, Quality(quality).value, reason[:120], low, high, cpu, note, list(alternatives))
        for pk, quality, reason, low, high, cpu, note, alternatives in said
    ]
    copy(Provenance._meta.db_table, _PROVENANCE_COLUMNS, _PROVENANCE_TYPES, rows, count=len(rows))


def numbers_asked(samples: Sequence[ParsedSample]) -> tuple[Asking[Any], Asking[Any], Asking[Any]]:
    """Numbers of the measures, of the points, and of the samples to be."""
    measures = measures_asked({(one.operation, one.metric) for one in samples})
    return measures, points_asked({_key(one) for one in samples}), ids_asked(Sample._meta.db_table, len(samples))


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


def measure_ids(wanted: Collection[Word]) -> dict[Word, int]:
    (found,) = abreast(measures_asked(wanted))
    return found  # type: ignore[no-any-return]


def measures_asked(wanted: Collection[Word]) -> Asking[dict[Word, int]]:
    """Each (operation, metric) with its number. A word nobody declared is a ValueError. Safe beside others who add the
    same.
    """
    words = sorted(set(wanted))
    known = _measures((yield _MEASURES, _words(words)))
    if missing := [word for word in words if word not in known]:
        for operation, name in missing:
            if operation not in OPERATIONS:
                raise ValueError(f"Unknown operation {operation!r}, expected one of: {', '.join(OPERATIONS)}")
            metric(name)
        # only what is missing: every conflict would use up one of the 32,767 numbers
        yield _ADD_MEASURES, _words(missing)
        known = _measures((yield _MEASURES, _words(words)))
    return known


def _words(words: Sequence[Word]) -> dict[str, str]:
    return {"operations": array("text", [o for o, _ in words]), "metrics": array("text", [m for _, m in words])}


def _measures(found: Iterable[tuple[Any, ...]]) -> dict[Word, int]:
    return {(operation, name): pk for pk, operation, name in found}


def point_ids(wanted: Collection[Key]) -> dict[Key, int]:
    (found,) = abreast(points_asked(wanted))
    return found  # type: ignore[no-any-return]


def points_asked(wanted: Collection[Key]) -> Asking[dict[Key, int]]:
    """Each workload point with its number; made where it is new. Safe beside others who add the same."""
    every = sorted(set(wanted), key=repr)
    found = _points((yield _points_held(every))) if every else {}
    if missing := [key for key in every if key not in found]:
        yield _ADD_POINTS, _columns(missing)
        found |= _points((yield _points_held(missing)))
    return found


def _points_held(keys: Sequence[Key]) -> tuple[str, dict[str, str]]:
    """One walk along the index for each way of having some of the four."""
    shapes: dict[Shape, list[Key]] = {}
    for key in keys:
        shapes.setdefault((key[0] is None, key[1] is None, key[2] is None, key[3] is None), []).append(key)
    shapes = dict(sorted(shapes.items()))
    values = [_columns(some, str(place)) for place, some in enumerate(shapes.values())]
    return _points_sql(tuple(shapes)), {name: text for one in values for name, text in one.items()}


@cache
def _points_sql(shapes: tuple[Shape, ...]) -> str:
    return " UNION ALL ".join(
        _POINTS.format(n=place, on=" AND ".join(_is_same(*one) for one in zip(_POINT_COLUMNS, shape, strict=True)))
        for place, shape in enumerate(shapes)
    )


def _is_same(column: str, is_null: bool) -> str:
    return f"point.{column} IS NULL" if is_null else f"point.{column} = wanted.{column}"


def _points(found: Iterable[tuple[Any, ...]]) -> dict[Key, int]:
    return {(size, block, threads, depth): pk for pk, size, block, threads, depth in found}


def _columns(keys: Sequence[Key], suffix: str = "") -> dict[str, str]:
    return {f"{name}{suffix}": array("int8", [key[n] for key in keys]) for n, name in enumerate(_POINT_COLUMNS)}


def _key(one: ParsedSample) -> Key:
    return one.file_size, one.block_size, one.threads, one.iodepth
