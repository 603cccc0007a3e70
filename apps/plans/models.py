"""The execution of a plan: whether it runs, and what each host of it waits for.

The plan itself is a part of its study (`apps/studies/models/plan.py`), and so is each run's place in it. No list of
steps is stored: which step is next follows from the plan's order and from the runs that exist (`scheduler.py`), so
that a restart of any process loses nothing and a plan can be changed while it runs.
"""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.core.sql import CLOCKS_APART
from apps.core.units import elapsed, moment
from apps.inventory.models import Host
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped, ThroughParent
from apps.runs.models import Run
from apps.studies.models import Plan, PlanConfiguration


class ExecutionState(models.TextChoices):
    RUNNING = "running", "running"
    PAUSED = "paused", "paused"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


class GuardFailure(models.TextChoices):
    """What becomes of a step whose guard did not hold on the host within its time."""

    SKIP = "skip", "skip the cell"
    FAIL = "fail", "count the step as failed"
    AGAIN = "again", "make the step again"


class ExecutionQuerySet(LabQuerySet["Execution"]):
    def running(self) -> Self:
        return self.filter(state=ExecutionState.RUNNING)


class Execution(ThroughParent):
    """A plan that was started: one for each plan, whatever happened to it since."""

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.OneToOneField(Plan, on_delete=models.CASCADE, primary_key=True, related_name="execution")
    state = models.CharField(max_length=9, choices=ExecutionState.choices, default=ExecutionState.RUNNING)
    reason = models.CharField(max_length=500, blank=True, help_text="why it is paused or cancelled, and by whom")
    has_paused_itself = models.BooleanField(
        default=False, db_default=False, help_text="it is paused because of failures, and no person has paused it"
    )
    retries = models.PositiveSmallIntegerField(default=0, help_text="how often a failed step is made again by itself")
    guard_wait = models.PositiveIntegerField(
        default=3600, help_text="seconds that a required guard may hold a step back, here and then on the host"
    )
    guard_failure = models.CharField(
        max_length=5, choices=GuardFailure.choices, default=GuardFailure.SKIP,
        help_text="what becomes of a step whose guard did not hold within its time",
    )  # fmt: skip
    started_by = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    resumed_at = models.DateTimeField(default=timezone.now, help_text="failures before it are forgiven")
    ended_at = models.DateTimeField(null=True, blank=True)
    start_checked_at = models.DateTimeField(
        null=True, blank=True, help_text="when it was looked whether any of its runs had begun in time; null: not yet"
    )

    objects: ClassVar[Any] = LabManager.from_queryset(ExecutionQuerySet)()

    def __str__(self) -> str:
        return f"{self.plan}: {self.state}"

    @property
    def is_running(self) -> bool:
        return self.state == ExecutionState.RUNNING

    @property
    def has_ended(self) -> bool:
        return self.state in (ExecutionState.DONE, ExecutionState.CANCELLED)

    @property
    def settings(self) -> list[tuple[str, str]]:
        """Return what was chosen when the plan was started, each as a label and its value in words."""
        return [
            ("retries of a failed step", str(self.retries)),
            ("wait for guards", f"at most {elapsed(self.guard_wait)}"),
            ("a step whose guard does not hold by then", self.get_guard_failure_display()),
        ]

    @property
    def start_words(self) -> str:
        """Return who started the plan, when and with which settings, in a sentence."""
        chosen = "; ".join(f"{label}: {value}" for label, value in self.settings)
        return f"{self.started_by or 'Somebody'} started it at {moment(self.started_at)} with these settings: {chosen}."


class PlanRecipient(LabScoped):
    """A notification channel that is told what becomes of a plan's runs, whether a person or its schedule started them."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="recipients")
    destination = models.ForeignKey(
        "notifications.Destination", on_delete=models.CASCADE, related_name="plan_recipients"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["plan", "destination"], name="plan_recipient_once")]

    def __str__(self) -> str:
        return f"{self.plan_id} → {self.destination_id}"


class HostWait(ThroughParent):
    """Why a host of a running plan does not get its next step now. The row is deleted when the step is started."""

    lab_path: ClassVar[str] = "execution__plan__study__lab_id"

    execution = models.ForeignKey(Execution, on_delete=models.CASCADE, related_name="waits")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=500)
    step = models.CharField(max_length=60, help_text="row, point and round that wait, by their ids")
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["execution", "host"], name="wait_once_per_host")]

    def __str__(self) -> str:
        return self.reason


class PreparationTime(models.TextChoices):
    START = "start", "before a target's first run"
    ROUND = "round", "before each round of a target"
    STEP = "step", "before every run"


class Preparation(ThroughParent):
    """What is done on a target's host before the runs of a plan: writes to condition a disk, or a wait.

    Writes are runs of their own (`PreparationRun`). A wait is looked after by the host right before the next run, and
    its evidence is with that run (`PlannedRun.evidence`).
    """

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="preparations")
    position = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=20, help_text="of the registry `apps.plans.preparations`")
    time = models.CharField(max_length=5, choices=PreparationTime.choices, default=PreparationTime.START)
    parameters = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["plan", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["plan", "position"], name="preparation_in_plan")]

    def __str__(self) -> str:
        return self.kind.replace("_", " ")

    @property
    def purpose(self) -> str:
        """Return the name under which a host's evidence of this preparation is found."""
        return f"preparation {self.pk}"


class PreparationRun(ThroughParent):
    """A run that prepares a target; it counts for no cell. `round`: 0 where it is made once, before the first run."""

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="preparation_run")
    preparation = models.ForeignKey(Preparation, on_delete=models.CASCADE, related_name="runs")
    row = models.ForeignKey(PlanConfiguration, on_delete=models.CASCADE, related_name="+")
    round = models.PositiveIntegerField(default=0)
    number = models.PositiveIntegerField(help_text="from 1, of the runs of this preparation, target and round")

    class Meta:
        ordering = ["run_id"]
        constraints = [
            models.UniqueConstraint(fields=["preparation", "row", "round", "number"], name="preparation_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.preparation}, run {self.number}"


def open_runs(plan: int, host_id: int | None = None) -> Any:
    """Return the queued and running runs that were made for a plan, on one host or on all; with those that prepare it."""
    runs = Run.objects.open().filter(Q(planned_run__row__plan=plan) | Q(preparation_run__row__plan=plan))
    return runs if host_id is None else runs.filter(host_id=host_id)


def load_plan(pk: int, host_id: int | None = None) -> Plan:
    """Return a plan with everything that its page and its steps need, or with the rows of one host alone.

    Raises:
        Plan.DoesNotExist: There is none in scope.
    """
    plan: Plan = Plan.objects.whole(host_id).prefetch_related("preparations").get(pk=pk)
    return plan


def execution_of(plan: Plan) -> Execution | None:
    """Return the execution of a plan, or None where it was never started."""
    execution: Execution | None = Execution.objects.filter(plan=plan).first()
    return execution


class ScheduleKind(models.TextChoices):
    NIGHTLY = "nightly", "every day at a time"
    WEEKLY = "weekly", "on days of the week at a time"
    CRON = "cron", "cron text"


class ScheduleQuerySet(LabQuerySet["PlanSchedule"]):
    def due(self, now: datetime) -> Self:
        """Return the schedules with a due time that was not considered yet.

        Also those that were considered in what is now the future, because the server's clock was set back since.
        """
        return self.filter(Q(next_at__lte=now) | Q(considered_at__gt=now + CLOCKS_APART), is_paused=False)


class PlanSchedule(ThroughParent):
    """When a plan is carried out by itself. Each firing makes a copy of the plan and starts it."""

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.OneToOneField(Plan, on_delete=models.CASCADE, primary_key=True, related_name="schedule")
    kind = models.CharField(max_length=7, choices=ScheduleKind.choices)
    cron = models.CharField(max_length=100, help_text="minute, hour, day of month, month, day of week")
    time_zone = models.CharField(max_length=64)
    retries = models.PositiveSmallIntegerField(default=0, help_text="how often a failed step is made again by itself")
    is_paused = models.BooleanField(default=False)
    reason = models.CharField(
        max_length=500,
        blank=True,
        default="",
        db_default="",
        help_text="why it has paused itself; empty where a person did",
    )
    considered_at = models.DateTimeField(default=timezone.now, help_text="due times up to here were dealt with")
    next_at = models.DateTimeField(null=True, blank=True, help_text="null while it is paused")
    changed_by = models.CharField(max_length=200, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[Any] = LabManager.from_queryset(ScheduleQuerySet)()

    class Meta:
        indexes = [models.Index(fields=["next_at"], name="schedule_due", condition=models.Q(is_paused=False))]

    def __str__(self) -> str:
        return f"{self.cron} {self.time_zone}"


class FiringOutcome(models.TextChoices):
    STARTED = "started", "started"
    SKIPPED = "skipped", "skipped"
    FAILED = "failed", "failed"


class ScheduleFiring(ThroughParent):
    """What became of one due time of a plan's schedule. It outlives the schedule."""

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="firings")
    due_at = models.DateTimeField()
    fired_at = models.DateTimeField(default=timezone.now)
    is_left_out = models.BooleanField(
        default=False, db_default=False, help_text="a person had paused, changed or removed the schedule"
    )
    outcome = models.CharField(max_length=7, choices=FiringOutcome.choices)
    reason = models.CharField(max_length=500, blank=True, help_text="why it was skipped, failed or late")
    missed = models.PositiveIntegerField(default=0, help_text="earlier due times that this firing stands for too")
    started_plan = models.OneToOneField(
        Plan, on_delete=models.SET_NULL, null=True, blank=True, related_name="fired_by", help_text="the copy that runs"
    )

    class Meta:
        ordering = ["-due_at"]
        constraints = [models.UniqueConstraint(fields=["plan", "due_at"], name="fired_once")]

    def __str__(self) -> str:
        return f"{moment(self.due_at)}: {self.outcome}"
