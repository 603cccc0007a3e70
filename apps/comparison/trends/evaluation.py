"""Looking at a watch: its trend as it is now, the change points that follow from it, and who is told.

    evaluate(watch)      # writes; twice does no harm
    trend_of(watch)      # reads only

A change is new, and told, when it is among the data's newest: see `_is_news`. What was in the data when the watch was
made, or when years of old results were loaded, is kept as seen. So is a drift (`drifting.py`).
"""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from apps.comparison.trends.caveats import against
from apps.comparison.trends.drifting import NEWS, untold_drift
from apps.comparison.trends.loading import measured, targets_of, with_parts
from apps.comparison.trends.models import ChangePoint, TrendMark, Watch
from apps.comparison.trends.notifying import notify, tell_drift
from apps.comparison.trends.shape import Change, Trend
from apps.comparison.trends.summary import summary
from apps.comparison.trends.trend import trend

JITTER = 3  # runs: more data move a change's place by so many, and it stays the same change
YOUNG = 20  # runs since a change, while what speaks against it may still be settled
NEWS_RUNS = 20  # of runs that do not say when they were made


def trend_of(watch: Watch) -> Trend:
    """In a constant number of queries. Raises `QuestionError` where the question can no longer be asked."""
    points = measured(watch.question, watch.lab_id)
    marks = TrendMark.objects.for_watch(watch, targets_of(points)) if points else []
    return trend(points, [one.pure for one in marks], higher_is_better=watch.metric.higher_is_better)


@transaction.atomic
def evaluate(watch: Watch) -> Trend:
    locked = Watch.objects.select_for_update().get(pk=watch.pk)
    found = with_parts(trend_of(locked))
    rows = list(ChangePoint.objects.filter(watch=locked))
    places = {one.run: place for place, one in enumerate(found.points)}
    kept: set[int] = set()
    for change in found.changes:
        row = _same(change, rows, places, kept) or ChangePoint(watch=locked, lab_id=locked.lab_id)
        _write(row, change, found, locked)
        kept.add(row.pk)
    _withdraw(rows, kept, places)
    drift = untold_drift(locked, found)
    locked.evaluated_at = timezone.now()
    locked.summary = summary(found, locked)
    locked.save(update_fields=["evaluated_at", "summary"])
    notify(locked)
    if drift:
        tell_drift(locked, drift, found)
    return found


def _same(change: Change, rows: list[ChangePoint], places: dict[int, int], kept: set[int]) -> ChangePoint | None:
    """The row of the same change: the nearest one in the same direction, a few runs away at most."""
    near = [
        (abs(places[row.run_id] - change.place), row)
        for row in rows
        if row.pk not in kept and row.direction == change.direction and row.run_id in places
    ]
    distance, row = min(near, key=lambda one: one[0], default=(JITTER + 1, None))
    return row if distance <= JITTER else None


def _write(row: ChangePoint, change: Change, found: Trend, watch: Watch) -> None:
    row.run_id, row.run_before_id, row.at = change.run, change.run_before, change.at
    row.direction, row.ratio = change.direction, change.ratio.ratio
    row.low, row.high = change.ratio.low, change.ratio.high
    row.before, row.after, row.n_before, row.n_after = change.before, change.after, change.n_before, change.n_after
    row.facts, row.withdrawn_at = [asdict(one) for one in change.facts], None
    if row.pk is None or change.n_after <= YOUNG:
        row.caveats = against(change, found)
    if row.pk is None:
        row.is_backfill = watch.evaluated_at is None or not _is_news(change, found, timezone.now())
    row.save()


def _is_news(change: Change, found: Trend, now: datetime) -> bool:
    """The newest change of all, and recent: by date where the run has one, else by the runs after it."""
    if change.place != found.changes[-1].place:
        return False
    if found.points[change.place].is_dated:
        return change.at > now - NEWS
    return len(found.points) - change.place <= NEWS_RUNS


def _withdraw(rows: list[ChangePoint], kept: set[int], places: dict[int, int]) -> None:
    """What the data no longer show; changes older than the runs looked at stay as they were."""
    gone = [row.pk for row in rows if row.pk not in kept and row.run_id in places and row.withdrawn_at is None]
    ChangePoint.objects.filter(pk__in=gone).update(withdrawn_at=timezone.now())
