"""Agents: the program on a host, its secret (kept only as a hash), and whether an owner trusts it."""

import secrets
from datetime import timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.utils import timezone

from apps.core.sql import CLOCKS_APART, is_recent
from apps.core.text import shorten
from apps.inventory.models import Host
from apps.inventory.target_identity import LONGEST
from apps.inventory.target_paths import UNCONFIRMED, explain_path, explain_problem
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped
from apps.labs.models import Lab, digest

ENROLMENT_TIME = timedelta(minutes=15)
LONGEST_PROBLEM = 300  # characters of a directory's problem that are kept
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
        return self.filter(is_recent("last_seen_at", timezone.now(), ONLINE_FOR), state=Agent.State.APPROVED)


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
    directories = models.JSONField(
        default=list,
        help_text="where its test directories lie, as the host last reported: path, root, type, source, uuid, quota_bytes …",
    )
    wanted_directories = models.JSONField(
        default=list, help_text="paths of the lab's targets below those of agent.conf, which its polls report as well"
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

    def find_directory(self, path: str) -> dict[str, Any]:
        """Return what the host last reported of a directory; empty where it reported nothing of it."""
        return next((directory for directory in self.directories if directory.get("path") == path), {})

    def quota_of(self, path: str) -> int | None:
        """Return how many bytes a run's files may have together in a directory; None where the host has not said."""
        reported = self.find_directory(path).get("quota_bytes", self.policy.get("quota_bytes"))
        return reported if type(reported) is int else None

    @property
    def roots(self) -> list[str]:
        """Return the directories that agent.conf allows, with all below them; none of agents before version 1.1."""
        return [directory["path"] for directory in self.directories if _is_root(directory)]

    def holds(self, path: str) -> bool:
        """Return whether a path is one of the roots or lies below one."""
        return any(path == root or path.startswith(f"{root}/") for root in self.roots)

    def explain_directory(self, path: str) -> str:
        """Return why no run can start in a directory that no target is offered for, in a sentence without full stop."""
        reported = self.find_directory(path)
        if problem := reported.get("problem"):
            return f"on its host: {explain_problem(path, str(reported.get('root') or ''), str(problem))}"
        if not self.has_reported:
            return f"its host has not reported yet what it allows; {UNCONFIRMED}"
        if reported:
            return "its host knows this directory by another target"
        if outside := self.explain_outside(path):
            return outside
        if expected := explain_path(path):
            return f"its path cannot be taken: {expected}"
        return "its host looks at it with its next poll, within half a minute"

    def explain_outside(self, path: str) -> str:
        """Return that no run may go to a path, as the host's agent.conf has it; empty where it may, or is not known."""
        if not self.has_reported or self.is_out_of_use or self.find_directory(path):
            return ""
        if not self.roots:
            only = ", ".join(directory.get("path", "") for directory in self.directories) or "none"
            return f"the agent on its host, version {self.version or 'unknown'}, offers one directory only: {only}"
        return "" if self.holds(path) else f"agent.conf on its host allows {', '.join(self.roots)} only"

    @property
    def directory_problems(self) -> list[str]:
        """Return why test directories of the host take no runs, by its last poll, a sentence for each."""
        refused = shorten(str(self.policy.get("directory_refused") or ""), LONGEST["problem"])
        first = self.directories[0] if self.directories else {}
        problems = []
        if refused and first.get("problem", refused)[:LONGEST_PROBLEM] == refused[:LONGEST_PROBLEM]:
            several = f", {first.get('path')}," if len(self.roots) > 1 else ""
            where = " in it" if several else ""
            problems.append(f"Its directory for test files{several} is refused, and so is every run{where}: {refused}")
        for directory in self.directories:
            is_told = directory is first and bool(problems)
            problem = directory.get("problem") or explain_path(str(directory.get("path") or "/"))
            if problem and not is_told and directory.get("path") not in self.wanted_directories:
                problems.append(
                    f"Its directory for test files, {directory.get('path', '')}, cannot be used, and no run can start there: "
                    f"{problem}."
                )
        return problems

    @property
    def spool_directories(self) -> list[str]:
        """Return the test directories on whose filesystem the agent's own folder is."""
        return [directory["path"] for directory in self.directories if directory.get("holds_spool")]

    @property
    def shortcomings(self) -> list[str]:
        """Return sentences about what the host's administrator should know before a run is started there."""
        said = []
        if self.has_reported and not self.fio_version:
            said.append(
                "fio was not found. Install it on the host; the agent looks again at each poll, within half a minute."
            )
        said += self.directory_problems
        if self.policy.get("spool_on_directory") or self.spool_directories:
            several = (
                f" in {', '.join(self.spool_directories)}" if len(self.roots) > 1 and self.spool_directories else ""
            )
            said.append(
                f"The agent's own folder is on the filesystem that is measured{several}, so what it writes there is in the"
                " results."
            )
        return said

    @property
    def has_reported(self) -> bool:
        """Return whether the agent has polled since its approval; before, its fio and its directory are not known."""
        return bool(self.boot_id)

    @property
    def is_online(self) -> bool:
        """Return whether the agent was heard of within the last minute."""
        return bool(self.last_seen_at and -CLOCKS_APART <= timezone.now() - self.last_seen_at < ONLINE_FOR)


class WorkerHeartbeat(models.Model):
    """The time at which a kind of Celery worker was last heard of. It belongs to no lab."""

    name = models.CharField(max_length=40, primary_key=True)
    answered_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


def _is_root(directory: dict[str, Any]) -> bool:
    return bool(directory.get("path")) and directory.get("root") == directory["path"]


def author_of(host: Host) -> str:
    """Return the name under which the audit trail lists what a host does."""
    agent: Agent | None = getattr(host, "agent", None)
    return agent.author if agent else f"host {host.pk} ({host.name})"
