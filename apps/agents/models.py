"""Agents: the program on a host, its secret (kept only as a hash), and whether an owner trusts it."""

import secrets
from datetime import timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped
from apps.labs.models import Lab, digest

ENROLMENT_TIME = timedelta(minutes=15)
ONLINE_FOR = timedelta(seconds=60)


class EnrolmentQuerySet(LabQuerySet["Enrolment"]):
    def issue(self, lab: Lab, who: str, *, trusted: bool = False) -> tuple["Enrolment", str]:
        """Make an enrolment and return it with its one-use token, which is good for 15 minutes.

        With `trusted` the host needs no approval: it is for this machine's own agent.
        """
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
    """A one-use permission to enrol a host; its token is stored as a hash only."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    created_by = models.CharField(max_length=200)
    is_trusted = models.BooleanField(default=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    agent = models.ForeignKey("agents.Agent", on_delete=models.SET_NULL, null=True, related_name="+")

    objects: ClassVar[Any] = LabManager.from_queryset(EnrolmentQuerySet)()

    def __str__(self) -> str:
        return f"enrolment {self.pk}"


class AgentQuerySet(LabQuerySet["Agent"]):
    def ready(self) -> Self:
        """Return the agents that are approved and online, so that they may be offered work."""
        return self.filter(state=Agent.State.APPROVED, last_seen_at__gt=timezone.now() - ONLINE_FOR)


class Agent(LabScoped):
    """The program on a host that runs benchmarks there, and whether an owner trusts it."""

    class State(models.TextChoices):
        PENDING = "pending", "waiting for approval"
        APPROVED = "approved", "approved"
        QUARANTINED = "quarantined", "quarantined"
        REVOKED = "revoked", "revoked"

    host = models.OneToOneField(Host, on_delete=models.CASCADE, related_name="agent")
    secret_sha256 = models.CharField(max_length=64, unique=True)
    machine = models.CharField(max_length=64)
    hardware = models.CharField(max_length=300, blank=True, default="", help_text="hashes of its network cards")
    other_hardware = models.CharField(
        max_length=300,
        blank=True,
        default="",
        help_text="of a machine that has its secret and its machine id, but other network cards",
    )
    other_hardware_at = models.DateTimeField(
        null=True, blank=True, help_text="when that one called first; empty once decided"
    )
    refused_hardware = models.JSONField(
        default=list, help_text="sets of network cards that an owner has called copies; the newest of them"
    )
    state = models.CharField(max_length=12, choices=State.choices, default=State.PENDING)
    instance = models.CharField(max_length=40, blank=True, help_text="the living copy; a second one gets 409")
    boot_id = models.CharField(max_length=64, blank=True)
    version = models.CharField(max_length=40, blank=True)
    fio_version = models.CharField(max_length=60, blank=True)
    policy = models.JSONField(default=dict, help_text="as the host reports it; the server cannot widen it")
    directory = models.JSONField(
        default=dict, help_text="where its test directory lies, as the host last reported: path, type, source, uuid …"
    )
    inventory_refusal = models.TextField(
        blank=True, default="", help_text="why the host's last inventory was not taken; empty if it was"
    )
    inventory_refused_at = models.DateTimeField(null=True)
    enrolled_at = models.DateTimeField(auto_now_add=True)
    approved_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(null=True)
    polling_until = models.DateTimeField(
        null=True, blank=True, help_text="its poll is held by a web process, at most until then"
    )

    objects: ClassVar[Any] = LabManager.from_queryset(AgentQuerySet)()

    def __str__(self) -> str:
        return f"agent of {self.host}"

    @property
    def author(self) -> str:
        """Return the agent's name in the audit trail, which cannot be a person's, whatever the host is called."""
        return f"host agent {self.pk} ({self.host.name})"

    @property
    def is_out_of_use(self) -> bool:
        """Return whether the agent may be deleted when its host is merged with one that has an agent of its own."""
        return self.state == self.State.REVOKED

    @property
    def quota_bytes(self) -> int | None:
        """Return how many bytes a run's files may have together, as the host last reported; None where it has not."""
        said = self.policy.get("quota_bytes")
        return said if type(said) is int else None

    @property
    def directory_problem(self) -> str:
        """Return why the host's test directory takes no runs, by its last poll; empty where none was reported."""
        if refused := self.policy.get("directory_refused"):
            return f"Its directory for test files is refused, and so is every run: {str(refused)[:500]}"
        if problem := self.directory.get("problem"):
            path = self.directory.get("path", "")
            return f"Its directory for test files, {path}, cannot be used, and no run can start there: {problem}."
        return ""

    @property
    def shortcomings(self) -> list[str]:
        """Return sentences about what the host's administrator should know before a run is started there."""
        said = []
        if self.has_reported and not self.fio_version:
            said.append(
                "fio was not found. Install it on the host; the agent looks again at each poll, within half a minute."
            )
        if problem := self.directory_problem:
            said.append(problem)
        if self.policy.get("spool_on_directory"):
            said.append(
                "The agent's own folder is on the filesystem that is measured, so what it writes there is in the results."
            )
        return said

    @property
    def has_reported(self) -> bool:
        """Return whether the agent has polled since its approval; before, its fio and its directory are not known."""
        return bool(self.boot_id)

    @property
    def is_online(self) -> bool:
        """Return whether the agent was heard of within the last minute."""
        return bool(self.last_seen_at and timezone.now() - self.last_seen_at < ONLINE_FOR)


class WorkerHeartbeat(models.Model):
    """The time at which a kind of Celery worker was last heard of. It belongs to no lab."""

    name = models.CharField(max_length=40, primary_key=True)
    answered_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


def author_of(host: Host) -> str:
    """Return the name under which the audit trail lists what a host does."""
    agent: Agent | None = getattr(host, "agent", None)
    return agent.author if agent else f"host {host.pk} ({host.name})"
