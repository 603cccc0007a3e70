"""Telling that a watch drifts for the worse: once for each drift, and only of what is new."""

from datetime import datetime, timedelta

from django.utils import timezone

from apps.comparison.trends.models import Watch
from apps.comparison.trends.shape import Direction, Drift, Trend

NEWS = timedelta(days=14)
OVER = 0.5  # of the threshold: a drift that has shrunk to less is over, so that one at the edge is told once


def untold_drift(watch: Watch, found: Trend) -> Drift | None:
    """Each drift once. One that the watch's first look finds, or that ended long ago, counts as told."""
    drift = found.drift if found.drift and found.drift.direction is Direction.WORSE else None
    size = abs(drift.total) if drift else 0.0
    if size < watch.threshold * OVER:
        Watch.objects.filter(pk=watch.pk).update(drift_told_at=None)
        return None
    if size < watch.threshold or watch.drift_told_at is not None:
        return None
    now = timezone.now()
    mine = Watch.objects.filter(pk=watch.pk, drift_told_at=None).update(drift_told_at=now)
    is_news = mine and watch.evaluated_at is not None and watch.is_active and _is_recent(found, now)
    return drift if is_news else None


def _is_recent(found: Trend, now: datetime) -> bool:
    newest = found.points[-1]
    return not newest.is_dated or newest.at > now - NEWS
