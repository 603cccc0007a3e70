"""Evaluation of a watch: its current trend, the change points that follow from it, their caveats, and notifications.

    evaluate(watch)      # writes; twice does no harm
    trend_of(watch)      # reads only

A change is notified when it is the newest one in the data (`_is_news`). What was in the data when the watch was made,
or when years of old results were loaded, counts as acknowledged. The same holds for a drift (`untold_drift`).
"""

import statistics
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from itertools import pairwise

from django.db import transaction
from django.utils import timezone

from apps.comparison.caveats import of_readings
from apps.comparison.queries.samples import of_runs
from apps.core import units
from apps.trends.differences import unlike
from apps.trends.models import ChangePoint, TrendMark, Watch
from apps.trends.notifications import notify, tell_drift
from apps.trends.queries import measured, targets_of, with_parts
from apps.trends.trend import trend
from apps.trends.types import ChangeDirection, Drift, LevelChange, Segment, Trend
from apps.trends.watch_list import summary
from apps.trends.words import span

JITTER = 3  # runs: more data move a change's place by so many, and it stays the same change
YOUNG = 20  # runs since a change, while what speaks against it may still be settled
NEWS_RUNS = 20  # of runs that do not say when they were made


def trend_of(watch: Watch) -> Trend:
    """Compute the trend of a watch as the data are now, in a constant number of queries.

    Raises:
        QuestionError: The question can no longer be answered.
    """
    points = measured(watch.question, watch.lab_id)
    marks = TrendMark.objects.for_watch(watch, targets_of(points)) if points else []
    result = trend(points, [mark.pure for mark in marks], higher_is_better=watch.metric.higher_is_better)
    several = unlike(points)
    if not several or not result.points:
        return result
    level = statistics.median(point.value for point in result.points)
    whole = Segment(0, len(result.points), level, "start", level, level)
    return replace(result, changes=(), drift=None, segments=(whole,), unlike=several)


@transaction.atomic
def evaluate(watch: Watch) -> Trend:
    locked = Watch.objects.select_for_update().get(pk=watch.pk)
    trend = with_parts(trend_of(locked))
    rows = list(ChangePoint.objects.filter(watch=locked))
    places = {point.run: place for place, point in enumerate(trend.points)}
    seen: set[int] = set()
    for change in trend.changes:
        row = _same(change, rows, places, seen) or ChangePoint(watch=locked, lab_id=locked.lab_id)
        _write(row, change, trend, locked)
        seen.add(row.pk)
    _withdraw(rows, seen, places)
    drift = untold_drift(locked, trend)
    locked.evaluated_at = timezone.now()
    locked.summary = summary(trend, locked)
    locked.save(update_fields=["evaluated_at", "summary"])
    notify(locked)
    if drift:
        tell_drift(locked, drift, trend)
    return trend


def _same(change: LevelChange, rows: list[ChangePoint], places: dict[int, int], seen: set[int]) -> ChangePoint | None:
    """Return the stored row of the same change: the nearest in the same direction, at most `JITTER` runs away."""
    near = [
        (abs(places[row.run_id] - change.place), row)
        for row in rows
        if row.pk not in seen and row.direction == change.direction and row.run_id in places
    ]
    distance, row = min(near, key=lambda pair: pair[0], default=(JITTER + 1, None))
    return row if distance <= JITTER else None


def _write(row: ChangePoint, change: LevelChange, trend: Trend, watch: Watch) -> None:
    row.run_id, row.run_before_id, row.at = change.run, change.run_before, change.at
    row.direction, row.ratio = change.direction, change.ratio.ratio
    row.low, row.high = change.ratio.low, change.ratio.high
    row.before, row.after, row.n_before, row.n_after = change.before, change.after, change.n_before, change.n_after
    row.facts, row.withdrawn_at = [asdict(fact) for fact in change.facts], None
    if row.pk is None or change.n_after <= YOUNG:
        row.caveats = against(change, trend)
    if row.pk is None:
        row.is_backfill = watch.evaluated_at is None or not _is_news(change, trend, timezone.now())
    row.save()


def _is_news(change: LevelChange, trend: Trend, now: datetime) -> bool:
    """Return whether a change is the newest of all and recent: by date where the run has one, else by the runs after it."""
    if change.place != trend.changes[-1].place:
        return False
    if trend.points[change.place].is_dated:
        return change.at > now - NEWS
    return len(trend.points) - change.place <= NEWS_RUNS


def _withdraw(rows: list[ChangePoint], seen: set[int], places: dict[int, int]) -> None:
    """Withdraw changes that the data no longer show; those older than the runs that were evaluated stay as they are."""
    gone = [row.pk for row in rows if row.pk not in seen and row.run_id in places and row.withdrawn_at is None]
    ChangePoint.objects.filter(pk__in=gone).update(withdrawn_at=timezone.now())


NEWS = timedelta(days=14)
OVER = 0.5  # of the threshold: a drift that has shrunk to less is over, so that one at the edge is told once


def untold_drift(watch: Watch, trend: Trend) -> Drift | None:
    """Return a drift for the worse that is to be notified, once for each drift.

    A drift that the first evaluation of a watch finds, or that ended long ago, counts as notified.
    """
    drift = trend.drift if trend.drift and trend.drift.direction is ChangeDirection.WORSE else None
    size = abs(drift.total) if drift else 0.0
    if size < watch.threshold * OVER:
        Watch.objects.filter(pk=watch.pk).update(drift_told_at=None)
        return None
    if size < watch.threshold or watch.drift_told_at is not None:
        return None
    now = timezone.now()
    mine = Watch.objects.filter(pk=watch.pk, drift_told_at=None).update(drift_told_at=now)
    is_news = mine and watch.evaluated_at is not None and watch.is_active and _is_recent(trend, now)
    return drift if is_news else None


def _is_recent(trend: Trend, now: datetime) -> bool:
    newest = trend.points[-1]
    return not newest.is_dated or newest.at > now - NEWS


LOOKED_AT = 3  # runs on either side
FEW_AFTER = 5
WIDE = 0.1
SPARSE = 3.0  # times the usual distance in time


def against(change: LevelChange, trend: Trend) -> list[str]:
    """Return the caveats of a change as sentences, the weightiest first, in a constant number of queries."""
    return [*_of_the_numbers(change, trend), *_of_the_runs(change, trend)]


def _of_the_numbers(change: LevelChange, trend: Trend) -> list[str]:
    sentences = []
    if not change.is_settled:
        sentences.append("The interval does not leave “no change” out yet; more runs will tell.")
    if change.n_after < FEW_AFTER:
        sentences.append(f"Only {change.n_after} runs since the change.")
    if trend.noise is not None and trend.noise > WIDE:
        sentences.append(f"Runs scatter by {units.human(trend.noise, 'fraction')} here by themselves.")
    if trend.drift is not None:
        sentences.append("The values also drift steadily; the change is what is left beside that.")
    if gap := _gap(change, trend):
        sentences.append(gap)
    return sentences


def _gap(change: LevelChange, trend: Trend) -> str:
    """Return a sentence about a gap without runs just before the change, or an empty one."""
    times = [point.at for point in trend.points]
    between = sorted((later - earlier).total_seconds() for earlier, later in pairwise(times))
    here = (times[change.place] - times[change.place - 1]).total_seconds()
    usual = between[len(between) // 2]
    if here <= max(SPARSE * usual, 1):
        return ""
    return f"No runs for {span(here)} before it, so it may have happened at any time in between."


def _of_the_runs(change: LevelChange, trend: Trend) -> list[str]:
    """Return findings of the caveat rules that hold on one side of the change only."""
    places = range(max(0, change.place - LOOKED_AT), min(len(trend.points), change.place + LOOKED_AT))
    readings = of_runs(trend.points[place].run for place in places)
    sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for place in places:
        for finding in of_readings(readings[trend.points[place].run]):
            sides[place >= change.place][finding.rule] = f"{finding.title}: {'; '.join(finding.arithmetic[:2])}"
    before, after = sides
    new = [f"Since the change, {text}" for rule, text in after.items() if rule not in before]
    gone = [f"Before the change, {text}" for rule, text in before.items() if rule not in after]
    return [*new, *gone]
