"""Watches of configurations, the changes of level found in them, marks of planned changes, and recipients.

Destinations and deliveries are in `apps/notifications/models.py`.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from apps.comparison.saved_comparisons.question import SavedQuestion
from apps.core.sql import is_due
from apps.inventory.models import Target
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped
from apps.runs.metrics import METRICS, Metric
from apps.runs.models import Run
from apps.trends.types import ChangeDirection, SeriesMark, Trend
from apps.trends.words import interval, signed

DEBOUNCE = timedelta(seconds=10)  # an upload keeps runs a hundred at a time: they are looked at together
LEASE = timedelta(minutes=11)  # longer than a task may live


class WatchQuerySet(LabQuerySet["Watch"]):
    def active(self) -> Self:
        return self.filter(is_active=True)

    def due(self, now: datetime) -> Self:
        return self.active().filter(is_due("due_at", now, LEASE))

    def call(self, now: datetime) -> int:
        """Make the watches due soon and return how many were not due already."""
        waits_not = Q(due_at=None) | Q(due_at__gt=now + DEBOUNCE)  # the latter are being looked at now
        return self.active().filter(waits_not).update(due_at=now + DEBOUNCE)


class Watch(SavedQuestion, LabScoped):
    """One configuration, one metric of one operation, at one point: looked at whenever runs that answer it arrive."""

    name = models.CharField(max_length=200)
    query = models.TextField(help_text="what is watched, as a comparison's canonical address")
    threshold = models.FloatField(default=0.05, help_text="the least change that is told, as a fraction")
    is_active = models.BooleanField(default=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(null=True, help_text="when it is to be looked at; empty while nothing is new")
    evaluated_at = models.DateTimeField(null=True)
    summary = models.JSONField(default=dict, help_text="of the last look, for lists")
    drift_told_at = models.DateTimeField(null=True, help_text="that it drifts for the worse; empty where it does not")

    trend: Trend  # as evaluated now, set by the view that shows it

    objects: ClassVar[Any] = LabManager.from_queryset(WatchQuerySet)()

    class Meta:
        ordering = ["name", "id"]
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="watch_due")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("trend", args=[self.pk])

    @property
    def metric(self) -> Metric:
        return METRICS[self.asked.metric]

    @property
    def compare_url(self) -> str:
        return f"{reverse('compare')}?{self.question.with_(x='time').address}"

    def claim(self) -> datetime | None:
        """Claim the watch for one worker and return the end of the lease, or None where there is nothing to do."""
        now = timezone.now()
        mine = Watch.objects.due(now).filter(pk=self.pk).update(due_at=now + LEASE)
        return now + LEASE if mine else None

    def done(self, lease: datetime) -> None:
        """Clear the due time, unless runs arrived meanwhile and made the watch due again."""
        Watch.objects.filter(pk=self.pk, due_at=lease).update(due_at=None)


class ChangePointQuerySet(LabQuerySet["ChangePoint"]):
    def standing(self) -> Self:
        """Return the changes that the data still show."""
        return self.filter(withdrawn_at=None)

    def to_acknowledge(self) -> Self:
        return self.standing().filter(direction=ChangeDirection.WORSE, acknowledged_at=None, is_backfill=False)


class ChangePoint(LabScoped):
    """A change of level that was found, with what was known when it was last looked at."""

    watch = models.ForeignKey(Watch, on_delete=models.CASCADE, related_name="change_points")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", help_text="the first after")
    run_before = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(help_text="when the first run after ended")
    found_at = models.DateTimeField(auto_now_add=True)
    direction = models.CharField(max_length=6, choices=[(one.value, one.value) for one in ChangeDirection])
    ratio = models.FloatField(help_text="after ÷ before")
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    before = models.FloatField(help_text="median, in the metric's base unit")
    after = models.FloatField()
    n_before = models.PositiveIntegerField()
    n_after = models.PositiveIntegerField()
    facts = models.JSONField(default=list, help_text="what changed with it: [{fact, label, before, after}]")
    caveats = models.JSONField(default=list, help_text="what speaks against it, in sentences")
    is_backfill = models.BooleanField(default=False, help_text="was in the data when they came: nobody is told")
    withdrawn_at = models.DateTimeField(null=True, help_text="when the data, or a mark, no longer showed it")
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=200, blank=True)
    notified_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = LabManager.from_queryset(ChangePointQuerySet)()

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.watch_id}: {self.direction} at run {self.run_id}"

    @property
    def size(self) -> float:
        return self.ratio - 1

    @property
    def size_low(self) -> float | None:
        return None if self.low is None else self.low - 1

    @property
    def size_high(self) -> float | None:
        return None if self.high is None else self.high - 1

    @property
    def size_text(self) -> str:
        return signed(self.size)

    @property
    def interval_text(self) -> str:
        return interval(self.size_low, self.size_high)

    @property
    def is_waiting(self) -> bool:
        """Return whether the change waits for somebody to acknowledge it."""
        return self.is_worse and self.acknowledged_at is None and not self.is_backfill

    @property
    def is_settled(self) -> bool:
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high

    @property
    def is_worse(self) -> bool:
        return self.direction == ChangeDirection.WORSE

    def acknowledge(self, actor: str) -> bool:
        """Acknowledge the change; return False where somebody else was first."""
        mine = ChangePoint.objects.filter(pk=self.pk, acknowledged_at=None)
        return bool(mine.update(acknowledged_at=timezone.now(), acknowledged_by=actor))


class TrendMarkQuerySet(LabQuerySet["TrendMark"]):
    def for_watch(self, watch: Watch, targets: Iterable[int | None]) -> Self:
        """Return the marks on the watch itself and on the targets of its runs."""
        known = {target for target in targets if target is not None}
        return self.filter(Q(watch=watch) | Q(target__in=known, lab_id=watch.lab_id)).order_by("at", "id")


class TrendMark(LabScoped):
    """“Changed on purpose here”: on one watch, or on a target and so on every watch of its runs."""

    watch = models.ForeignKey(Watch, on_delete=models.CASCADE, null=True, blank=True, related_name="marks")
    target = models.ForeignKey(Target, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(help_text="the first run at or after it begins a new stretch")
    text = models.CharField(max_length=300)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[Any] = LabManager.from_queryset(TrendMarkQuerySet)()

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(watch__isnull=False, target=None) | Q(watch=None, target__isnull=False),
                name="mark_on_one_thing",
            )
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def pure(self) -> SeriesMark:
        return SeriesMark(self.at, self.text, self.pk)


class Recipient(LabScoped):
    """A destination that is told about the changes of a watch."""

    watch = models.ForeignKey(Watch, on_delete=models.CASCADE, related_name="recipients")
    destination = models.ForeignKey("notifications.Destination", on_delete=models.CASCADE, related_name="recipients")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["watch", "destination"], name="recipient_once")]

    def __str__(self) -> str:
        return f"{self.watch_id} → {self.destination_id}"
