"""Destinations of notifications, and each delivery: the row holds its state, its tries and the time of the next one."""

import random
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from apps.core.sql import is_due
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped
from apps.notifications.transports import get_choices

MOST_TRIES = 3
FIRST_WAIT = timedelta(minutes=1)  # then fifteen times as long: what is being restarted may be back by then
LONGER = 15
LONGEST_WAIT = FIRST_WAIT * LONGER ** (MOST_TRIES - 1) * 1.25
LEASE = timedelta(minutes=2)  # longer than one try takes


class Destination(LabScoped):
    """Where messages go: an address of one of the transports."""

    kind = models.CharField(max_length=20, choices=get_choices)
    name = models.CharField(max_length=120)
    address = models.CharField(max_length=500)
    secret = models.CharField(max_length=80, blank=True, help_text="of the HMAC signature; shown once")
    is_active = models.BooleanField(default=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField(null=True)
    last_result = models.CharField(max_length=300, blank=True)
    last_ok = models.BooleanField(null=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["lab", "kind", "address"], name="destination_once_per_lab")]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def new_secret() -> str:
        return f"sph_{secrets.token_urlsafe(32)}"

    def note(self, result: str, *, ok: bool) -> None:
        Destination.objects.filter(pk=self.pk).update(last_at=timezone.now(), last_result=result[:300], last_ok=ok)


class DeliveryState(models.TextChoices):
    WAITING = "waiting", "on its way"
    SENT = "sent", "delivered"
    DEAD = "dead", "given up"


class DeliveryQuerySet(LabQuerySet["Delivery"]):
    def due(self, now: datetime) -> Self:
        return self.filter(is_due("next_try", now, LONGEST_WAIT), state=DeliveryState.WAITING)


class Delivery(LabScoped):
    """One notification to one destination. After the last try it stays, as a dead letter that a person can send again."""

    destination = models.ForeignKey(Destination, on_delete=models.CASCADE, related_name="deliveries")
    watch = models.ForeignKey("trends.Watch", on_delete=models.CASCADE, null=True, related_name="deliveries")
    change_point = models.ForeignKey(
        "trends.ChangePoint", on_delete=models.CASCADE, null=True, related_name="deliveries"
    )
    payload = models.JSONField(help_text="what a webhook gets; an e-mail says the same in words")
    state = models.CharField(max_length=8, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try = models.DateTimeField(default=timezone.now)
    problem = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = LabManager.from_queryset(DeliveryQuerySet)()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["destination", "change_point"], name="change_point_told_once"),
        ]
        indexes = [models.Index(fields=["next_try"], condition=Q(state="waiting"), name="delivery_due")]

    def __str__(self) -> str:
        return f"delivery {self.pk} to {self.destination_id}"

    @property
    def is_test(self) -> bool:
        return bool(self.payload.get("event") == "test")

    def claim(self) -> bool:
        """Claim the delivery for one worker until its lease ends.

        Return False where another one has it, or it has ended.
        """
        now = timezone.now()
        mine = Delivery.objects.due(now).filter(pk=self.pk, tries=self.tries)
        if not mine.update(tries=F("tries") + 1, next_try=now + LEASE):
            return False
        self.tries += 1
        return True

    def arrived(self, result: str) -> None:
        self._become(DeliveryState.SENT, sent_at=timezone.now(), problem="")
        self.destination.note(result, ok=True)

    def failed(self, problem: str, *, for_good: bool = False) -> None:
        """Record a failed try and plan the next one with a random delay; the last one makes a dead letter."""
        is_dead = for_good or self.tries >= MOST_TRIES
        wait = FIRST_WAIT * LONGER ** (self.tries - 1) * random.uniform(0.75, 1.25)  # noqa: S311  (no secret)
        state = DeliveryState.DEAD if is_dead else DeliveryState.WAITING
        self._become(state, problem=problem[:300], next_try=timezone.now() + wait)
        self.destination.note(problem, ok=False)

    def again(self) -> bool:
        """Reset a dead letter to be sent with all its tries; return False where it is none."""
        dead = Delivery.objects.filter(pk=self.pk, state=DeliveryState.DEAD)
        return bool(dead.update(state=DeliveryState.WAITING, tries=0, next_try=timezone.now(), problem=""))

    def _become(self, state: str, **fields: Any) -> None:
        Delivery.objects.filter(pk=self.pk, tries=self.tries).update(state=state, **fields)
