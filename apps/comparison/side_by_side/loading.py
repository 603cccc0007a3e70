"""Columns and their sums, each in one statement whatever the number of columns, runs and samples, and both in one round trip."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.urls import reverse

from apps.comparison.side_by_side.asked import MOST_COLUMNS, Asked
from apps.comparison.side_by_side.table import SUMS as FIGURES
from apps.comparison.side_by_side.table import Column, Key, Place, Single, Sums
from apps.inventory.models import Target
from apps.labs.isolation import visible_labs
from apps.lib import sql
from apps.runs.models import Run
from apps.studies.models import Configuration

AT_FIRST = 8  # columns, where nobody chose
N, WITHOUT = 4, 5  # the places in a row of how many samples have a value, and how many have none
SIZES = slice(12, None)  # the places of the point's sizes; between the key and them stand SUMS
Rows = Sequence[tuple[Any, ...]]
Bounds = Mapping[tuple[int, ...], tuple[float | None, float | None]]

# The runs of a target come newest first from the index `run_last_of_target`, their samples from that of `sample_once` alone, which has
# the values. As an array, not a join: the samples of one column are then one walk through the index and one small table of sums.
TARGETS = """(SELECT id FROM inventory_target
    WHERE id = ANY(%(columns)s) AND (%(labs)s::bigint[] IS NULL OR lab_id = ANY(%(labs)s)))"""
LAST_OF_TARGET = """SELECT id FROM runs_run WHERE target_id = chosen.id AND state = 'finished'
        ORDER BY finished_at DESC NULLS LAST, id DESC LIMIT %(last)s"""
CONFIGURATIONS = "unnest(%(columns)s::bigint[])"  # which came out of the scope
LAST_OF_CONFIGURATION = """SELECT run.id FROM studies_studyrun place JOIN runs_run run ON run.id = place.run_id
        WHERE place.configuration_id = chosen.id AND run.state = 'finished'"""
SUMS = """
SELECT chosen.id, sums.*, point.file_size, point.block_size, point.threads, point.iodepth
FROM {chosen} AS chosen(id)
CROSS JOIN LATERAL (
    SELECT sample.measure_id, sample.point_id, sample.section,
        count(sample.value)::float8 AS n, (count(*) - count(sample.value))::float8 AS without,
        coalesce(avg(sample.value), 'NaN') AS mean, coalesce(stddev_samp(sample.value), 'NaN') AS stdev,
        coalesce(min(sample.value), 'NaN') AS low, coalesce(max(sample.value), 'NaN') AS high,
        coalesce(avg(ln(CASE WHEN sample.value > 0 THEN sample.value END)), 'NaN') AS log_mean,
        coalesce(var_samp(ln(CASE WHEN sample.value > 0 THEN sample.value END)), 0) AS log_variance
    FROM runs_sample sample
    WHERE sample.run_id = ANY(ARRAY({last})) {wanted}
    GROUP BY sample.measure_id, sample.point_id, sample.section
) AS sums
JOIN runs_point point ON point.id = sums.point_id"""
# Of samples without a value: few have any, and looking for them costs the walk through the index alone.
BOUNDS = """
SELECT chosen.id, sample.measure_id, sample.point_id, sample.section, min(provenance.low), max(provenance.high)
FROM {chosen} AS chosen(id)
JOIN runs_sample sample ON sample.run_id = ANY(ARRAY({last}))
JOIN runs_provenance provenance ON provenance.sample_id = sample.id
WHERE sample.value IS NULL {wanted}
GROUP BY chosen.id, sample.measure_id, sample.point_id, sample.section"""
# Of cells with one sample, which is what a tool printed: the index does not have its text, so only their columns are walked.
PRINTED = """
SELECT chosen.id, sample.measure_id, sample.point_id, sample.section, min(sample.run_id), min(sample.printed), min(sample.source_line)
FROM {chosen} AS chosen(id)
JOIN runs_sample sample ON sample.run_id = ANY(ARRAY({last}))
WHERE true {wanted}
GROUP BY chosen.id, sample.measure_id, sample.point_id, sample.section
HAVING count(*) = 1 AND count(sample.value) = 1"""
# All of them, there are as many as operations times metrics: their words beside every sum would take longer. Behind the sums, so that a
# measure which came meanwhile is among them.
MEASURES = "SELECT id, operation, metric FROM runs_measure"
COLUMNS = """
SELECT target.id, host.name, target.name, (
    SELECT facts->>'ram' FROM runs_run WHERE target_id = target.id AND state = 'finished'
    ORDER BY finished_at DESC NULLS LAST, id DESC LIMIT 1)
FROM inventory_target target JOIN inventory_host host ON host.id = target.host_id
WHERE target.id = ANY(%(columns)s) AND (%(labs)s::bigint[] IS NULL OR target.lab_id = ANY(%(labs)s))"""
WANTED = """AND sample.measure_id IN (SELECT id FROM runs_measure WHERE
        (%(no_metrics)s OR metric = ANY(%(metrics)s)) AND (%(no_operations)s OR operation = ANY(%(operations)s)))"""


@contextmanager
def begun(asked: Asked) -> Iterator[Callable[[], tuple[list[Column], Sums]]]:
    """Asks, and goes on while the database sums up: what is yielded waits for columns and sums. Columns are in the order of the address, or
    of the study, and only what the scope may read; others are as if they were not, and no run lies on another lab's target or configuration.
    """
    configurations = _configurations(asked) if asked.study else []
    values = _values(asked, [column.id for column in configurations] or list(asked.targets))
    parts = {
        "chosen": CONFIGURATIONS if asked.study else TARGETS,
        "last": LAST_OF_CONFIGURATION if asked.study else LAST_OF_TARGET,
        "wanted": WANTED if asked.metrics or asked.operations else "",
    }
    statements = [(SUMS.format(**parts), values), (MEASURES, values)] + ([] if asked.study else [(COLUMNS, values)])
    with sql.ahead(*statements, binary=True) as answers:

        def found() -> tuple[list[Column], Sums]:
            sums, measures, *targets = answers()
            bounds = _bounds(BOUNDS.format(**parts), values) if any(row[WITHOUT] for row in sums) else {}
            single = sorted({row[0] for row in sums if row[N] == 1})
            printed = _printed(PRINTED.format(**parts), {**values, "columns": single}) if single else {}
            return configurations or _targets(asked, *targets), _all_sums(sums, measures, bounds, printed)

        yield found


def _values(asked: Asked, columns: list[int]) -> dict[str, Any]:
    return {
        "columns": columns, "labs": visible_labs(), "last": asked.last,
        "metrics": list(asked.metrics), "no_metrics": not asked.metrics,
        "operations": list(asked.operations), "no_operations": not asked.operations,
    }  # fmt: skip


def _configurations(asked: Asked) -> list[Column]:
    found = Configuration.objects.filter(study__slug=asked.study).order_by("position", "id")[:MOST_COLUMNS]
    return [Column(one.pk, one.label, "", None) for one in found]


def _targets(asked: Asked, rows: Rows = ()) -> list[Column]:
    by_id = {row[0]: _target(*row) for row in rows}
    return [by_id[pk] for pk in asked.targets if pk in by_id]


def _target(pk: int, host: str, target: str, ram: str | None) -> Column:
    bytes_of_ram = float(ram) if ram and ram.isdecimal() else None
    filters = (("host", host), ("target", target))
    return Column(pk, f"{host}: {target}", _address(pk), bytes_of_ram, filters)


@lru_cache(maxsize=4096)
def _address(target: int) -> str:
    return reverse("target", args=[target])


def _bounds(statement: str, values: dict[str, Any]) -> Bounds:
    return {row[:4]: (row[4], row[5]) for row in sql.rows(statement, values)}


def _printed(statement: str, values: dict[str, Any]) -> dict[tuple[int, ...], Single]:
    return {row[:4]: Single(*row[4:]) for row in sql.rows(statement, values)}


def _all_sums(rows: Rows, measures: Rows, bounds: Bounds, printed: Mapping[tuple[int, ...], Single]) -> Sums:
    import numpy as np

    words = {measure: (operation, metric) for measure, operation, metric in measures}
    cells = [(row[0], row[1:4]) for row in rows]
    places: dict[Key, Place] = {}
    for (_, key), row in zip(cells, rows, strict=True):
        if key not in places:
            file_size, block_size, threads, iodepth = row[SIZES]
            places[key] = Place(*words[key[0]], file_size, block_size, threads, iodepth, key[2])
    figures = np.array([row[4 : SIZES.start] for row in rows], dtype=float).reshape(-1, len(FIGURES))
    bounded = {cell: bounds[row[:4]] for cell, row in enumerate(rows) if row[:4] in bounds} if bounds else {}
    single = {cell: printed[row[:4]] for cell, row in enumerate(rows) if row[:4] in printed} if printed else {}
    return Sums(places, cells, figures, bounded, single)


def newest_measured(most: int = AT_FIRST) -> list[Target]:
    """Targets by their last finished run."""
    measured = Target.objects.annotate(measured_at=_of_last_run("finished_at"), last_run=_of_last_run("id"))
    found: Any = measured.filter(last_run__isnull=False).select_related("host")
    return list(found.order_by(F("measured_at").desc(nulls_last=True), "-last_run")[:most])


def _of_last_run(field: str) -> Subquery:
    ended = Run.objects.finished().filter(target=OuterRef("pk")).order_by(F("finished_at").desc(nulls_last=True), "-id")
    return Subquery(ended.values(field)[:1])
