"""Plans of a study: configurations × points, rounds, order and guards.

A step (row, point, round) is computed and no row of a table: `apps/studies/plans/order.py` gives the same steps for the same plan. What
is kept is a run's place in the plan, `PlannedRun`, so that a step that failed can be run again and no order has to be rewritten.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.urls import reverse

from apps.inventory.models import Host
from apps.labs.isolation import LabManager, LabQuerySet, ThroughParent
from apps.runs.host_guards.labels import label_guard
from apps.runs.models import Run
from apps.runs.states import Priority
from apps.studies.models.study import Configuration, Study
from apps.studies.plans.guards import KINDS, GuardKind
from apps.studies.plans.order import ORDERS
from apps.studies.plans.stopping_rule import Stopping, stopping_of

GUARD_PASSED, GUARD_FAILED, GUARD_NOT_CHECKED = "passed", "failed", "not checked"
GUARD_NOTED = "failed, not required"  # of a run as a whole: what failed does not count against it
BY_PERSON = "person"  # the source of evidence that is somebody's word
RESULT = "result"  # in evidence: that a run measured what it was asked for, which no guard of the plan has to ask
# How far the order, rounds and guards of a plan can be trusted as they are written; what was found is with each run.
NOT_CHECKED, AS_REPORTED = "asked for; not checked", "as reported"
STATED = "stated by a person; nothing checks it"


class PlanQuerySet(LabQuerySet["Plan"]):
    def whole(self, host_id: int | None = None) -> Self:
        """Prefetch all that a page shows of the plans, in a constant number of queries.

        Args:
            host_id: Only the rows and cells whose target is on this host.
        """
        rows, cells = PlanConfiguration.objects.all(), PlanCell.objects.all()
        if host_id is not None:
            rows = rows.filter(configuration__target__host=host_id)
            cells = cells.filter(row__configuration__target__host=host_id)
        return self.select_related("study__lab").prefetch_related(
            models.Prefetch("rows", rows.select_related("configuration__host", "configuration__target__host")),
            "points",
            "guards",
            models.Prefetch("cells", cells.select_related("runs_of")),
        )


class Plan(ThroughParent):
    """Configurations × points × rounds, the order, the stopping rule and the guards. A study may have several."""

    lab_path: ClassVar[str] = "study__lab_id"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="plans")
    name = models.SlugField(max_length=60)
    title = models.CharField(max_length=200)
    position = models.PositiveIntegerField(default=0)
    order = models.CharField(max_length=12, choices=list(ORDERS.items()), default="interleaved")
    seed = models.BigIntegerField(null=True, blank=True, help_text="of a randomized order")
    stopping = models.JSONField(help_text="the typed rule")
    are_means = models.BooleanField(default=False, help_text="each run that is held is the mean of all rounds")
    notes = models.TextField(blank=True)
    priority = models.PositiveSmallIntegerField(
        choices=Priority.choices, default=Priority.NORMAL, db_default=Priority.NORMAL,
        help_text="of the runs that it starts, among all that wait for their host",
    )  # fmt: skip
    time_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="seconds that each of its measured runs may take; null: by each one's estimate"
    )
    is_from_report = models.BooleanField(
        default=False, help_text="a published report's procedure, not one to carry out"
    )
    repeats = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="repetitions",
        help_text="the published report's plan whose procedure it follows",
    )  # fmt: skip
    question = models.CharField(
        max_length=1000, blank=True, default="", db_default="",
        help_text="the question of Compare that it was made for, as its address names it: `factor?what was selected`",
    )  # fmt: skip
    changed_by = models.CharField(max_length=200, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[Any] = LabManager.from_queryset(PlanQuerySet)()

    class Meta:
        ordering = ["study", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="plan_in_study")]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return the address of the plan's own page; a report's plan is read on its study's page."""
        if self.is_from_report:
            return f"{reverse('study-plan', args=[self.study.slug])}#plan-{self.name}"
        return reverse("plan", args=[self.pk])

    @property
    def standing(self) -> str:
        """Return who vouches for the plan's order, rounds and guards."""
        return AS_REPORTED if self.is_from_report else NOT_CHECKED

    @property
    def rule(self) -> Stopping:
        return stopping_of(self.stopping)


class PlanConfiguration(ThroughParent):
    """One row of a plan's matrix: a configuration of the study, or one that the source names and has no numbers of."""

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="rows")
    configuration = models.ForeignKey(
        Configuration, on_delete=models.CASCADE, null=True, blank=True, related_name="planned"
    )
    name = models.SlugField(max_length=80)
    own_label = models.CharField(
        max_length=200, blank=True, help_text="what a report's plan calls it; empty: as the configuration is called"
    )
    position = models.PositiveIntegerField(default=0)
    largest_file_size = models.BigIntegerField(null=True, blank=True, help_text="bytes; the row ends there")
    limit_reason = models.CharField(max_length=300, blank=True)
    reason = models.TextField(blank=True, help_text="why the whole row is not run")

    class Meta:
        ordering = ["plan", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["plan", "name"], name="row_in_plan")]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """Return the row's label, or else its configuration's current one."""
        return self.own_label or (self.configuration.label if self.configuration else self.name)

    @property
    def host(self) -> Host | None:
        return self.configuration.host if self.configuration else None


class PlanPoint(ThroughParent):
    """One column: a workload point. Its file size is bytes, or a multiple of the RAM of the host that it meets."""

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="points")
    name = models.SlugField(max_length=80)
    label = models.CharField(max_length=120, blank=True)
    position = models.PositiveIntegerField(default=0)
    tool = models.CharField(max_length=40)
    command = models.CharField(max_length=300, blank=True, help_text="as the source prints it")
    file_size = models.BigIntegerField(null=True, blank=True, help_text="bytes")
    ram_multiple = models.FloatField(null=True, blank=True, help_text="file size = this × RAM")
    block_size = models.BigIntegerField(null=True, blank=True, help_text="bytes per call")
    threads = models.PositiveIntegerField(null=True, blank=True)
    iodepth = models.PositiveIntegerField(null=True, blank=True)
    operations = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    labels = models.JSONField(default=dict, blank=True, help_text="what else belongs to the point: files, client nodes")
    job = models.JSONField(null=True, blank=True, help_text="fio's options without sizes, where fio can run it")
    jobs = models.JSONField(
        null=True, blank=True,
        help_text="several jobs that run at the same time, each with its block size, jobs and depth; then `job` is null",
    )  # fmt: skip

    class Meta:
        ordering = ["plan", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["plan", "name"], name="point_in_plan")]

    def __str__(self) -> str:
        return self.label or (f"{self.ram_multiple:g} × RAM" if self.ram_multiple else self.name)


class Guard(ThroughParent):
    """What shall hold before a step, as it is asked for: whoever shows it says `Plan.standing` beside it.

    What was found is in the evidence of each run (`PlannedRun.evidence`).
    """

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="guards")
    kind = models.CharField(max_length=20, choices=[(name, kind.label) for name, kind in KINDS.items()])
    position = models.PositiveIntegerField(default=0)
    is_required = models.BooleanField(default=True)
    parameters = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)
    stated_by = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="whose word it is, where nothing can check it; empty: not known",
    )

    class Meta:
        ordering = ["plan", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["plan", "kind"], name="guard_in_plan")]

    def __str__(self) -> str:
        return self.definition.label

    @property
    def definition(self) -> GuardKind:
        return KINDS[self.kind]

    @property
    def sentence(self) -> str:
        return self.definition.sentence(self.parameters)

    @property
    def is_statement(self) -> bool:
        """Return whether it is a person's word, which nothing can check."""
        return self.definition.is_statement

    @property
    def standing(self) -> str:
        """Return who vouches for it, as the plan is written."""
        return STATED if self.is_statement and not self.plan.is_from_report else self.plan.standing

    @property
    def statement(self) -> str:
        """Return whose word it is, in words."""
        return f"stated by {self.stated_by or 'somebody whose name is not known'}, not checked"


class PlanCell(ThroughParent):
    """A cell about which something is to be said: why it is not run, or which configuration holds its runs."""

    lab_path: ClassVar[str] = "plan__study__lab_id"

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="cells")
    row = models.ForeignKey(PlanConfiguration, on_delete=models.CASCADE, related_name="+")
    point = models.ForeignKey(PlanPoint, on_delete=models.CASCADE, related_name="+")
    reason = models.TextField(blank=True, help_text="why it is not run; empty: it is")
    note = models.TextField(blank=True)
    runs_of = models.ForeignKey(
        Configuration, on_delete=models.CASCADE, null=True, blank=True, related_name="+",
        help_text="where its runs are held, if not under the row's configuration",
    )  # fmt: skip

    class Meta:
        ordering = ["plan", "row__position", "point__position"]
        constraints = [models.UniqueConstraint(fields=["row", "point"], name="cell_once")]

    def __str__(self) -> str:
        return self.reason or self.note


class PlannedRun(ThroughParent):
    """A run's place in a plan: the step that it was made for. Several runs of one step: the newest counts."""

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="planned_run")
    row = models.ForeignKey(PlanConfiguration, on_delete=models.CASCADE, related_name="planned_runs")
    point = models.ForeignKey(PlanPoint, on_delete=models.CASCADE, related_name="planned_runs")
    round = models.PositiveIntegerField()
    is_retried = models.BooleanField(default=False, help_text="it failed, and its step is to be made again")
    evidence = models.JSONField(
        default=list, blank=True, help_text="of the guards: guard, outcome, text, source, is_required, checked_at"
    )
    judged_at = models.DateTimeField(null=True, blank=True, help_text="when its guards were judged by its result")
    is_refused = models.BooleanField(
        default=False, help_text="a guard did not hold on its host within its time, so that nothing was started"
    )

    class Meta:
        indexes = [models.Index(fields=["row", "point", "round"], name="planned_step")]

    def __str__(self) -> str:
        return f"round {self.round} of {self.row}"

    @cached_property
    def made_again(self) -> Run | None:
        """Return the next run that was made for the same step, or None."""
        later = PlannedRun.objects.filter(row=self.row_id, point=self.point_id, round=self.round, pk__gt=self.pk)
        newer = later.select_related("run").order_by("pk").first()
        return newer.run if newer else None

    @property
    def failed_guard(self) -> str:
        """Return the first required guard that did not hold, with what was found: such a run does not count."""
        failed = (entry for entry in self.evidence if entry["outcome"] == GUARD_FAILED and entry["is_required"])
        return next((_name_guard(entry) for entry in failed), "")

    @property
    def outcomes(self) -> dict[str, str]:
        """Return the worst outcome of each kind of guard that has evidence; a person's word is none."""
        found: dict[str, set[str]] = {}
        for entry in self.evidence:
            if entry.get("source") != BY_PERSON and not entry.get("purpose"):
                found.setdefault(entry["guard"], set()).add(entry["outcome"])
        return {kind: worst_outcome(outcomes) for kind, outcomes in found.items()}

    @property
    def guard_outcome(self) -> str:
        """Return the worst outcome of its guards, or an empty text where there is no evidence.

        What is a person's word is no outcome, and a guard that is not required is only noted.
        """
        return worst_outcome(
            GUARD_NOTED if entry["outcome"] == GUARD_FAILED and not entry["is_required"] else entry["outcome"]
            for entry in self.evidence
            if entry.get("source") != BY_PERSON
        )


def worst_outcome(outcomes: Iterable[str]) -> str:
    """Return the worst of some outcomes of guards; empty where there is none."""
    found = set(outcomes)
    order = (GUARD_FAILED, GUARD_NOT_CHECKED, GUARD_NOTED, GUARD_PASSED)
    return next((outcome for outcome in order if outcome in found), "")


def _name_guard(entry: dict[str, Any]) -> str:
    name = label_guard(entry["guard"])
    return f"{name if name == RESULT else f'guard {name}'}: {entry['text']}"
