"""Agents: the program on a host, its secret (kept only as a hash), and whether an owner trusts it."""

import secrets
from datetime import timedelta
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped
from apps.labs.models import Lab, digest

ENROLMENT_TIME = timedelta(minutes=15)
ONLINE_FOR = timedelta(seconds=60)


class EnrolmentQuerySet(LabQuerySet["Enrolment"]):
    def issue(self, lab: Lab, who: str, *, trusted: bool = False) -> tuple["Enrolment", str]:
        """A one-use token, good for 15 minutes. `trusted`: the host needs no approval (this machine's own agent)."""
        secret = f"spe_{secrets.token_urlsafe(24)}"
        enrolment = self.create(
            lab=lab,
            token_sha256=digest(secret),
            created_by=who,
            is_trusted=trusted,
            expires_at=timezone.now() + ENROLMENT_TIME,
        )
        return enrolment, secret


class Enrolment(LabScoped):
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_by = models.CharField(max_length=200)
    is_trusted = models.BooleanField(default=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    agent = models.ForeignKey("agents.Agent", on_delete=models.SET_NULL, null=True, related_name="+")

    objects: ClassVar[Any] = LabManager.from_queryset(EnrolmentQuerySet)()

    def __str__(self) -> str:
        return f"enrolment {self.pk}"


class Agent(LabScoped):
    class State(models.TextChoices):
        PENDING = "pending", "waiting for approval"
        APPROVED = "approved", "approved"
        QUARANTINED = "quarantined", "quarantined"
        REVOKED = "revoked", "revoked"

    host = models.OneToOneField(Host, on_delete=models.CASCADE, related_name="agent")
    secret_sha256 = models.CharField(max_length=64, unique=True)
    machine = models.CharField(max_length=64)
    state = models.CharField(max_length=12, choices=State.choices, default=State.PENDING)
    instance = models.CharField(max_length=40, blank=True, help_text="the living copy; a second one gets 409")
    boot_id = models.CharField(max_length=64, blank=True)
    version = models.CharField(max_length=40, blank=True)
    fio_version = models.CharField(max_length=60, blank=True)
    policy = models.JSONField(default=dict, help_text="as the host reports it; the server cannot widen it")
    enrolled_at = models.DateTimeField(auto_now_add=True)
    approved_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = LabManager.from_queryset(LabQuerySet)()

    def __str__(self) -> str:
        return f"agent of {self.host}"

    @property
    def is_out_of_use(self) -> bool:
        """It may go when its host is merged with one that has an agent of its own."""
        return self.state == self.State.REVOKED

    @property
    def quota_bytes(self) -> int | None:
        """How large a run's files may be together, as the host last said; None where it has not."""
        said = self.policy.get("quota_bytes")
        return said if type(said) is int else None

    @property
    def is_online(self) -> bool:
        return bool(self.last_seen_at and timezone.now() - self.last_seen_at < ONLINE_FOR)
