"""Columns and their sums, each in one statement whatever the number of columns, runs and samples."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.urls import reverse

from apps.comparison.side_by_side.asked import MOST_COLUMNS, Asked
from apps.comparison.side_by_side.judging import Logs
from apps.comparison.side_by_side.table import Column, Place, Sums
from apps.inventory.models import Target
from apps.labs.isolation import visible_labs
from apps.lib import sql
from apps.runs.models import Run
from apps.studies.models import Configuration

AT_FIRST = 8  # columns, where nobody chose

# The runs of a target come newest first from the index `run_last_of_target`, their samples from that of `sample_once`.
LAST_OF_TARGET = """SELECT id FROM runs_run WHERE target_id = chosen.id AND state = 'finished'
        ORDER BY finished_at DESC NULLS LAST, id DESC LIMIT %(last)s"""
LAST_OF_CONFIGURATION = """SELECT run.id FROM studies_studyrun place JOIN runs_run run ON run.id = place.run_id
        WHERE place.configuration_id = chosen.id AND run.state = 'finished'"""
SUMS = """
SELECT sums.*, measure.operation, measure.metric, point.file_size, point.block_size, point.threads, point.iodepth
FROM (
    SELECT chosen.id, sample.measure_id, sample.point_id, sample.section,
        count(sample.value) AS n, count(*) - count(sample.value) AS without, avg(sample.value) AS mean,
        stddev_samp(sample.value) AS stdev, min(sample.value) AS low, max(sample.value) AS high,
        min(CASE WHEN sample.value IS NULL THEN {bound_low} END) AS bound_low,
        max(CASE WHEN sample.value IS NULL THEN {bound_high} END) AS bound_high,
        avg(ln(nullif(greatest(sample.value, 0), 0))) AS log_mean,
        coalesce(var_samp(ln(nullif(greatest(sample.value, 0), 0))), 0) AS log_variance
    FROM unnest(%(columns)s::bigint[]) AS chosen(id)
    CROSS JOIN LATERAL ({last}) AS run
    JOIN runs_sample sample ON sample.run_id = run.id
    {measures}
    GROUP BY chosen.id, sample.measure_id, sample.point_id, sample.section
) AS sums
JOIN runs_measure measure ON measure.id = sums.measure_id
JOIN runs_point point ON point.id = sums.point_id"""
# Of a sample without a value; where there is one, PostgreSQL does not look.
BOUND = "(SELECT {} FROM runs_provenance WHERE sample_id = sample.id)"
COLUMNS = """
SELECT target.id, host.name, target.name, (
    SELECT facts->>'ram' FROM runs_run WHERE target_id = target.id AND state = 'finished'
    ORDER BY finished_at DESC NULLS LAST, id DESC LIMIT 1)
FROM inventory_target target JOIN inventory_host host ON host.id = target.host_id
WHERE target.id = ANY(%(targets)s) AND (%(labs)s::bigint[] IS NULL OR target.lab_id = ANY(%(labs)s))"""
WANTED = """WHERE sample.measure_id IN (SELECT id FROM runs_measure WHERE
        (%(no_metrics)s OR metric = ANY(%(metrics)s)) AND (%(no_operations)s OR operation = ANY(%(operations)s)))"""


def columns(asked: Asked) -> list[Column]:
    """In the order of the address, or of the study. Only what the scope may read; others are as if they were not."""
    if asked.study:
        found = Configuration.objects.filter(study__slug=asked.study).order_by("position", "id")[:MOST_COLUMNS]
        return [Column(one.pk, one.label, "", None) for one in found]
    rows = sql.rows(COLUMNS, {"targets": list(asked.targets), "labs": visible_labs()})
    by_id = {row[0]: _column(*row) for row in rows}
    return [by_id[pk] for pk in asked.targets if pk in by_id]


def _column(pk: int, host: str, target: str, ram: str | None) -> Column:
    bytes_of_ram = float(ram) if ram and ram.isdecimal() else None
    filters = (("host", host), ("target", target))
    return Column(pk, f"{host}: {target}", reverse("target", args=[pk]), bytes_of_ram, filters)


def newest_measured(most: int = AT_FIRST) -> list[Target]:
    """Targets by their last finished run."""
    measured = Target.objects.annotate(measured_at=_of_last_run("finished_at"), last_run=_of_last_run("id"))
    found: Any = measured.filter(last_run__isnull=False).select_related("host")
    return list(found.order_by(F("measured_at").desc(nulls_last=True), "-last_run")[:most])


def _of_last_run(field: str) -> Subquery:
    ended = Run.objects.finished().filter(target=OuterRef("pk")).order_by(F("finished_at").desc(nulls_last=True), "-id")
    return Subquery(ended.values(field)[:1])


def sums(asked: Asked, chosen: Sequence[Column]) -> list[Sums]:
    """The columns came out of the scope, and no run lies on another lab's target or configuration."""
    if not chosen:
        return []
    last = LAST_OF_CONFIGURATION if asked.study else LAST_OF_TARGET
    statement = SUMS.format(
        last=last,
        measures=WANTED if asked.metrics or asked.operations else "",
        bound_low=BOUND.format("low"),
        bound_high=BOUND.format("high"),
    )
    values = {
        "columns": [column.id for column in chosen], "last": asked.last,
        "metrics": list(asked.metrics), "no_metrics": not asked.metrics,
        "operations": list(asked.operations), "no_operations": not asked.operations,
    }  # fmt: skip
    return [_sums(row) for row in sql.rows(statement, values)]


def _sums(row: tuple[Any, ...]) -> Sums:
    (
        column,
        measure,
        point,
        section,
        n,
        without,
        mean,
        stdev,
        low,
        high,
        bound_low,
        bound_high,
        log_mean,
        log_variance,
        *measured,
    ) = row
    operation, metric, file_size, block_size, threads, iodepth = measured
    logs = Logs(n, log_mean, log_variance) if log_mean is not None and low is not None and low > 0 else None
    place = Place(operation, metric, file_size, block_size, threads, iodepth, section)
    key = (measure, point, section)
    return Sums(column, key, place, n, without, mean, stdev, low, high, bound_low, bound_high, logs)
