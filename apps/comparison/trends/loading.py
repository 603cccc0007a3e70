"""The runs of a watched configuration, from the database: the last 500 in the order of time, through the index
`run_in_time`; and what two snapshots say differently.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.comparison.filtering import chosen
from apps.comparison.loading import as_dicts, facts_of
from apps.comparison.question import Question
from apps.comparison.readings import usable
from apps.comparison.trends.differences import part_changes
from apps.comparison.trends.shape import Change, FactChange, Measured, Trend
from apps.comparison.wholes import without_parts
from apps.inventory.models import Snapshot
from apps.runs.models import Measure, Run, Sample

MOST_RUNS = 500
WINDOWS = (timedelta(days=3), timedelta(days=60), None)
Row = dict[str, Any]
# of a sample; written as the index on runs has it (`apps.runs.models.IN_TIME`)
IN_TIME = Coalesce("run__finished_at", "run__started_at", "run__created_at")
FACTS = (
    "run__facts", "run__labels", "run__tool", "run__tool_version", "run__host__name", "run__target__name",
    "run__study_run__configuration__label", "run__study_run__configuration__study__slug",
)  # fmt: skip
COLUMNS = ("run_id", "value", "run__finished_at", "run__started_at", "section", "run__sections", *FACTS)


def measured(question: Question, lab_id: int) -> list[Measured]:
    """The newest `MOST_RUNS` runs that answer the question, oldest first; each with the median of its values. Runs of
    this lab only, and at most five queries.
    """
    measure = Measure.objects.filter(operation=question.operation, metric=question.metric).first()
    if measure is None:
        return []
    samples = Sample.objects.filter(measure=measure, value__isnull=False)
    of_lab = chosen(samples.filter(run__lab=lab_id), question.filters).annotate(at=IN_TIME)
    newest = _newest(of_lab.order_by("-at", "-run_id").values_list("run_id", "at").distinct())
    found = chosen(samples.filter(run__in=list(newest)), question.filters).order_by()
    values: dict[int, list[Row]] = defaultdict(list)
    for row in without_parts(as_dicts(found.values_list(*COLUMNS), COLUMNS)):
        if usable(row["value"]) is not None:
            values[row["run_id"]].append(row)
    return [_measured(at, values[run]) for run, at in reversed(newest.items()) if run in values]


def _newest(runs: Any) -> dict[int, datetime]:
    """Their ids and times, newest first. A configuration that is measured all day has enough in a few days, which the
    index finds without sorting years of runs; a rare one is looked for in all of them.
    """
    found: dict[int, datetime] = {}
    for window in WINDOWS:
        some = runs.filter(at__gte=timezone.now() - window) if window else runs
        found = dict(some[:MOST_RUNS])
        if len(found) == MOST_RUNS:
            break
    return found


def answers(question: Question, runs: Iterable[int]) -> bool:
    """Whether any of these runs belongs to it."""
    found = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    return chosen(found.filter(run__in=list(runs)), question.filters).exists()


def targets_of(runs: Sequence[Measured]) -> set[int | None]:
    """The targets that these runs were on."""
    ids = [one.run for one in runs]
    return set(Run.objects.filter(pk__in=ids).order_by().values_list("target_id", flat=True).distinct())


def with_parts(found: Trend) -> Trend:
    """Beside the facts that changed, what the snapshots of the runs beside each change say differently: firmware,
    drivers, the state of an array. Two queries, none where nothing changed.
    """
    runs = {run for one in found.changes for run in (one.run_before, one.run)}
    if not runs:
        return found
    snapshots = dict(Run.objects.filter(pk__in=runs).order_by().values_list("pk", "snapshot_id"))
    contents = dict(Snapshot.objects.filter(pk__in=set(snapshots.values()) - {None}).values_list("pk", "content"))
    changes = tuple(_with_parts(one, snapshots, contents) for one in found.changes)
    return replace(found, changes=changes)


def _with_parts(change: Change, snapshots: dict[int, Any], contents: dict[int, Any]) -> Change:
    before, after = (contents.get(snapshots.get(run) or 0) for run in (change.run_before, change.run))
    if not before or not after or before == after:
        return change
    return replace(change, facts=(*change.facts, *_not_said(change.facts, part_changes(before, after))))


def _not_said(facts: Sequence[FactChange], parts: Sequence[FactChange]) -> list[FactChange]:
    """A kernel stands in the facts and in the snapshot: once is enough."""
    said = {(one.before, one.after) for one in facts}
    return [one for one in parts if (one.before, one.after) not in said]


def _measured(at: datetime, rows: Sequence[Row]) -> Measured:
    first = rows[0]
    is_dated = bool(first["run__finished_at"] or first["run__started_at"])
    return Measured(first["run_id"], at, statistics.median(row["value"] for row in rows), facts_of(first), is_dated)
