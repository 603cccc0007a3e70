"""Database queries for trends: the last 500 runs of a watched configuration, and the snapshots around a change."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.comparison.queries.aggregates import summed, without_parts
from apps.comparison.queries.filters import chosen
from apps.comparison.queries.samples import as_dicts, facts_of, rates_beside
from apps.comparison.question import Question
from apps.comparison.readings import POINT, usable
from apps.inventory.models import Snapshot
from apps.runs.models import Measure, Run, Sample
from apps.trends.differences import part_changes
from apps.trends.types import FactChange, LevelChange, MeasuredRun, Trend

MOST_RUNS = 500
WINDOWS = (timedelta(days=3), timedelta(days=60), None)
Row = dict[str, Any]
# of a sample; written as the index on runs has it (`apps.runs.models.IN_TIME`)
IN_TIME = Coalesce("run__finished_at", "run__started_at", "run__created_at")
FACTS = (
    "run__facts", "run__labels", "run__tool", "run__tool_version", "run__host__name", "run__target__name",
    "run__study_run__configuration__label", "run__study_run__configuration__study__slug",
)  # fmt: skip
COLUMNS = (
    "run_id", "value", "run__finished_at", "run__started_at", "section", "run__sections", "measure__operation",
    "measure__metric", "point_id", "point__file_size", "point__block_size", "point__threads", "point__iodepth", *FACTS,
)  # fmt: skip


def measured(question: Question, lab_id: int) -> list[MeasuredRun]:
    """Return the newest `MOST_RUNS` runs of this lab that answer the question, oldest first, each with its median value.

    Takes at most five queries.
    """
    measure = Measure.objects.filter(operation=question.operation, metric=question.metric).first()
    if measure is None:
        return []
    samples = Sample.objects.filter(measure=measure, value__isnull=False)
    of_lab = chosen(samples.filter(run__lab=lab_id), question.filters).annotate(at=IN_TIME)
    newest = _newest(of_lab.order_by("-at", "-run_id").values_list("run_id", "at").distinct())
    samples_of_runs = chosen(samples.filter(run__in=list(newest)), question.filters).order_by()
    values: dict[int, list[Row]] = defaultdict(list)
    for row in summed(without_parts(as_dicts(samples_of_runs.values_list(*COLUMNS), COLUMNS)), rates_beside):
        if usable(row["value"]) is not None:
            values[row["run_id"]].append(row)
    return [_measured(at, values[run]) for run, at in reversed(newest.items()) if run in values]


def _newest(runs: Any) -> dict[int, datetime]:
    """Return the ids and times of the newest runs, newest first.

    A configuration that is measured all day has enough runs in a few days, which the index finds without sorting
    years of runs; a rare one is looked up in all of them.
    """
    times: dict[int, datetime] = {}
    for window in WINDOWS:
        some = runs.filter(at__gte=timezone.now() - window) if window else runs
        times = dict(some[:MOST_RUNS])
        if len(times) == MOST_RUNS:
            break
    return times


def answers(question: Question, runs: Iterable[int]) -> bool:
    """Return whether any of these runs answers the question."""
    samples = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    return chosen(samples.filter(run__in=list(runs)), question.filters).exists()


def targets_of(runs: Sequence[MeasuredRun]) -> set[int | None]:
    """Return the targets of these runs."""
    ids = [run.run for run in runs]
    return set(Run.objects.filter(pk__in=ids).order_by().values_list("target_id", flat=True).distinct())


def with_parts(trend: Trend) -> Trend:
    """Return the trend with what the snapshots on both sides of each change differ in, besides the facts.

    Takes two queries, none where nothing changed.
    """
    runs = {run for change in trend.changes for run in (change.run_before, change.run)}
    if not runs:
        return trend
    snapshots = dict(Run.objects.filter(pk__in=runs).order_by().values_list("pk", "snapshot_id"))
    contents = dict(Snapshot.objects.filter(pk__in=set(snapshots.values()) - {None}).values_list("pk", "content"))
    changes = tuple(_with_parts(change, snapshots, contents) for change in trend.changes)
    return replace(trend, changes=changes)


def _with_parts(change: LevelChange, snapshots: dict[int, Any], contents: dict[int, Any]) -> LevelChange:
    before, after = (contents.get(snapshots.get(run) or 0) for run in (change.run_before, change.run))
    if not before or not after or before == after:
        return change
    return replace(change, facts=(*change.facts, *_unreported(change.facts, part_changes(before, after))))


def _unreported(facts: Sequence[FactChange], parts: Sequence[FactChange]) -> list[FactChange]:
    """Return the changes of parts that the facts do not report already, such as a kernel, which is in both."""
    known = {(fact.before, fact.after) for fact in facts}
    return [part for part in parts if (part.before, part.after) not in known]


def _measured(at: datetime, rows: Sequence[Row]) -> MeasuredRun:
    first = rows[0]
    is_dated = bool(first["run__finished_at"] or first["run__started_at"])
    places = frozenset(tuple(row[f"point__{name}"] for name in POINT) for row in rows)
    value = statistics.median(row["value"] for row in rows)
    return MeasuredRun(first["run_id"], at, value, facts_of(first), is_dated, places)
