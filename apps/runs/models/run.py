"""Models of runs and what they measured. Attempts, with leases and fencing tokens, are in `attempts.py`.

The query for a run's measures (`measures`) is written by hand: the ORM has no recursive queries, and DISTINCT would read
all samples of a run, up to millions, for one row of a list. A run has a few dozen measures, and the index `sample_once`
holds the samples in the order of their measures: the first `FEW` samples show all measures of most runs, and beyond them
the query takes one step along the index per measure. Runs that say themselves what they did are not read at all.
"""

from collections.abc import Collection
from functools import cache, cached_property
from typing import Any, ClassVar, Self

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.urls import reverse

from apps.core import sql
from apps.inventory.models import Host, Snapshot, Target
from apps.labs.isolation import LabManager, LabQuerySet, LabScoped, ThroughParent, visible_labs
from apps.runs.metrics import DISK, METRICS, OPERATIONS, Metric
from apps.runs.models.likeness import configuration_key
from apps.runs.sections import jobs_of, names_of, options_of, told_apart
from apps.runs.states import ENDED, OPEN, READING, Priority, State
from apps.runs.workload import SAID, limit_seconds, operations

FEW = 64  # samples: as quick to read as two or three steps
_OPERATIONS: dict[int, str] = {}  # by measure; a measure stays what it is


@cache
def measures(run: str) -> str:
    """Return an SQL expression for the array of a run's measure ids, or NULL where the run itself says what it did.

    Args:
        run: The alias of `runs_run` in the query.
    """
    tells = " OR ".join(f"coalesce({run}.facts ->> '{name}', '') <> ''" for name in SAID)
    return f"""(
    WITH RECURSIVE few AS MATERIALIZED (
        SELECT measure_id FROM runs_sample WHERE run_id = {run}.id AND NOT (
            {tells} OR ({run}.tool = 'fio' AND {run}.sections <> '{{}}')
            OR EXISTS (SELECT FROM runs_workload WHERE id = {run}.workload_id AND jsonb_path_exists(spec, '$.jobs[*].rw')))
        ORDER BY measure_id LIMIT {FEW}
    ), step(measure_id) AS (
        SELECT max(measure_id) FROM few HAVING count(*) = {FEW}
        UNION ALL
        SELECT (SELECT min(measure_id) FROM runs_sample WHERE run_id = {run}.id AND measure_id > step.measure_id)
            FROM step WHERE step.measure_id IS NOT NULL
    )
    SELECT array_agg(DISTINCT measure_id) FROM (SELECT * FROM few UNION ALL SELECT * FROM step) AS found WHERE measure_id IS NOT NULL)"""  # noqa: S608


def operations_of(measures: Collection[int] | None) -> list[str]:
    """Return the names of the operations of these measures, in the order of `OPERATIONS`.

    Operations at disks count only where there is nothing else.
    """
    if not measures:
        return []
    if not _OPERATIONS.keys() >= set(measures):
        _OPERATIONS.update(Measure.objects.values_list("id", "operation"))
    names = {_OPERATIONS[measure] for measure in measures}
    ordered = [name for name in OPERATIONS if name in names and name != DISK]
    return [name.replace("_", " ") for name in ordered or names]


# When a run ended; where its result does not say, when it began, or else when it came here.
IN_TIME = Coalesce("finished_at", "started_at", "created_at")
# The order in which a host takes its waiting runs: an explicit place, or else the age, decides among those of a priority.
PLACE_IN_QUEUE = Coalesce("position", "id")
DISPATCH_ORDER = ("priority", PLACE_IN_QUEUE, "id")


class Artefact(LabScoped):
    """Raw bytes as they came, by SHA-256; once per lab, kept for good.

    Few bytes lie in `SmallBytes`, many in the artefact folder (`artefacts/store.py`).
    """

    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField(help_text="bytes, before compression")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "sha256"], name="artefact_once_per_lab")]

    def __str__(self) -> str:
        return self.sha256[:12]


class SmallBytes(ThroughParent):
    """An artefact's bytes where they are few: a file and a wait of its own for a result of some kB would cost more than reading it."""

    lab_path: ClassVar[str] = "artefact__lab_id"

    artefact = models.OneToOneField(Artefact, on_delete=models.CASCADE, primary_key=True, related_name="small")
    packed = models.BinaryField(help_text="zstd")

    def __str__(self) -> str:
        return str(self.artefact_id)


class Workload(LabScoped):
    """What a tool was asked to do, typed, in fio's words; shared by runs that ask the same."""

    tool = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64)
    spec = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "sha256"], name="workload_once_per_lab")]

    def __str__(self) -> str:
        return f"{self.tool} {self.sha256[:8]}"

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return self.spec.get("jobs", [])  # type: ignore[no-any-return]


TOOLS = """
WITH RECURSIVE found(lab, tool) AS (
    SELECT lab.id, (SELECT min(tool) FROM runs_run WHERE lab_id = lab.id)
        FROM labs_lab lab WHERE %(labs)s::bigint[] IS NULL OR lab.id = ANY(%(labs)s)
    UNION ALL
    SELECT found.lab, (SELECT min(tool) FROM runs_run WHERE lab_id = found.lab AND tool > found.tool)
        FROM found WHERE found.tool IS NOT NULL
)
SELECT DISTINCT tool FROM found WHERE tool IS NOT NULL"""


# What somebody wrote while the run was being deleted, too: the writer held the run, so this comes after its rows.
TAKE_SAMPLES_ALONG = """
    DELETE FROM runs_provenance USING runs_sample WHERE sample_id = runs_sample.id AND run_id = OLD.id;
    DELETE FROM runs_sample WHERE run_id = OLD.id;
    RETURN NULL;"""


class RunQuerySet(LabQuerySet["Run"]):
    def for_list(self) -> Self:
        """Return the runs newest first with everything that a row of a list shows."""
        runs = self.select_related("host", "target", "workload").order_by("-created_at", "-id")
        return runs.annotate(measures=RawSQL(measures("runs_run"), ()))  # noqa: S611

    def in_dispatch_order(self) -> Self:
        """Return the runs in the order in which their host takes them."""
        return self.order_by(*DISPATCH_ORDER)

    def open(self) -> Self:
        return self.filter(state__in=OPEN)

    def finished(self) -> Self:
        return self.filter(state=State.FINISHED)

    def tools(self) -> list[str]:
        """Return the names of all tools of the runs in scope, by one index step per tool instead of DISTINCT over all runs."""
        return sorted({tool for (tool,) in sql.rows(TOOLS, {"labs": visible_labs()})})

    def fact_names(self, names: Collection[str]) -> set[str]:
        """Return those of the names that some run has as a fact or label, in at most one query."""
        if not names:
            return set()
        first, *others = [
            self.filter(Q(facts__has_key=name) | Q(labels__has_key=name)).order_by().values_list(Value(name))[:1]
            for name in sorted(names)
        ]
        return {name for (name,) in first.union(*others, all=True)}


class Run(LabScoped):
    """One tool, one workload, one target, one time, one repetition number.

    References are checked once, by the constraints of `isolation.add_constraints`, which are stricter than Django's
    own; the index
    `run_newest` finds a lab's runs.
    """

    class Origin(models.TextChoices):
        DISPATCHED = "dispatched", "agent"
        UPLOADED = "uploaded", "uploaded"
        PUBLISHED = "published", "published report"

    lab = models.ForeignKey("labs.Lab", on_delete=models.CASCADE, related_name="+", db_index=False)
    tool = models.CharField(max_length=40)
    tool_version = models.CharField(max_length=60, blank=True)
    origin = models.CharField(max_length=12, choices=Origin.choices)
    workload = models.ForeignKey(
        Workload, on_delete=models.PROTECT, null=True, blank=True, related_name="runs", db_constraint=False
    )
    host = models.ForeignKey(
        Host, on_delete=models.PROTECT, null=True, blank=True, related_name="runs", db_constraint=False
    )
    target = models.ForeignKey(
        Target, on_delete=models.PROTECT, null=True, blank=True, related_name="runs", db_constraint=False
    )
    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.PROTECT, null=True, blank=True, related_name="runs", db_constraint=False
    )
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    repetition = models.PositiveIntegerField(default=1)
    facts = models.JSONField(
        default=dict, help_text="what comparisons group by, taken from the snapshot and the workload"
    )
    labels = models.JSONField(default=dict, blank=True)
    note = models.TextField(default="", db_default="", blank=True, help_text="what a person wrote about it")
    priority = models.PositiveSmallIntegerField(
        choices=Priority.choices, default=Priority.NORMAL, db_default=Priority.NORMAL
    )
    position = models.BigIntegerField(
        null=True, blank=True, help_text="its place among the waiting runs of its host and priority; null: its own id"
    )
    sections = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True,
        help_text="number → {name, options}: jobs, streams and clients of an output, which have figures of their own",
    )  # fmt: skip
    place = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True,
        help_text="where it really lay, read on its host when it began: path, type, source, uuid, mount_point, options",
    )  # fmt: skip
    guards = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()), blank=True,
        help_text="what its host checks right before fio starts: guard, is_required, wait_s, limits",
    )  # fmt: skip
    time_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="seconds that fio may run, as was asked for; null: by the workload's estimate"
    )
    problem = models.TextField(blank=True, help_text="why it failed, in one sentence")
    progress = models.FloatField(default=0, help_text="0 to 1")
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    abandoned_at = models.DateTimeField(
        null=True, blank=True, help_text="when a person gave it up, because its host had gone quiet"
    )
    configuration_key = models.GeneratedField(
        expression=configuration_key(), output_field=models.BigIntegerField(), db_persist=True,
        help_text="equal for runs whose facts, labels, tool, workload, host and target are equal",
    )  # fmt: skip

    objects: ClassVar[Any] = LabManager.from_queryset(RunQuerySet)()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            GinIndex(fields=["facts"], opclasses=["jsonb_path_ops"], name="run_facts"),
            models.Index(fields=["lab", "-created_at", "-id"], name="run_newest"),
            models.Index(
                F("host"), F("priority"), PLACE_IN_QUEUE, F("id"), condition=Q(state="queued"), name="run_queue"
            ),
            models.Index(fields=["lab", "id", "configuration_key"], condition=Q(state="finished"), name="run_alike"),
            models.Index(fields=["lab", "tool"], name="run_tool"),
            models.Index(fields=["lab", "state"], condition=Q(state__in=sorted(OPEN)), name="run_open"),
            models.Index(
                F("target"), F("finished_at").desc(nulls_last=True), F("id").desc(), condition=Q(state="finished"),
                name="run_last_of_target",
            ),
            models.Index(F("lab"), IN_TIME.desc(), F("id").desc(), condition=Q(state="finished"), name="run_in_time"),
        ]  # fmt: skip
        triggers = [
            pgtrigger.Trigger(
                name="take_samples_along", operation=pgtrigger.Delete, when=pgtrigger.After, func=TAKE_SAMPLES_ALONG)
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"run {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_reading(self) -> bool:
        """Return whether the host is done and the result is being read into samples."""
        return self.state == State.RUNNING and self.finished_at is not None

    @property
    def is_late(self) -> bool:
        """Return whether its host delivered how it ended after a person had given it up."""
        return self.abandoned_at is not None and self.finished_at is not None

    @property
    def has_own_labels(self) -> bool:
        """Return whether its labels are set here; those of an uploaded run are its file's, or its output's."""
        return self.origin == self.Origin.DISPATCHED

    @property
    def limit_seconds(self) -> int | None:
        """Return after how many seconds its host stops fio: as was asked for, else three times its estimate and a margin."""
        if self.time_limit is not None or self.workload is None:
            return self.time_limit
        return limit_seconds(self.workload.spec)

    @property
    def can_run_again(self) -> bool:
        """Return whether an agent was asked for it, so that its workload and its target are known in full."""
        return self.origin == self.Origin.DISPATCHED and bool(self.workload and self.workload.jobs and self.target_id)

    @property
    def state_words(self) -> str:
        return READING if self.is_reading else self.get_state_display()

    @property
    def seconds(self) -> float | None:
        return (self.finished_at - self.started_at).total_seconds() if self.started_at and self.finished_at else None

    @property
    def section_names(self) -> dict[int, str]:
        return names_of(self.sections, self.workload.jobs if self.workload else ())

    @cached_property
    def sections_apart(self) -> dict[int, str]:
        return told_apart(self.section_names)

    @property
    def section_options(self) -> list[tuple[str, list[str]]]:
        return options_of(self.sections)

    @property
    def only_section(self) -> str:
        """Return the name of the only job of an uploaded output, unless it equals the operation."""
        names = jobs_of(self.tool, self.sections)
        return names[0] if len(names) == 1 and names[0] not in self.operations else ""

    @property
    def operations(self) -> str:
        jobs = self.workload.jobs if self.workload else []
        names = jobs_of(self.tool, self.sections)
        return operations(
            (job["rw"] for job in jobs), map(self.facts.get, SAID), names, lambda: operations_of(self.measures)
        )

    @cached_property
    def measures(self) -> list[int] | None:
        """Return the ids of the measures of its samples, or None where the run itself says what it did.

        `for_list` loads them for all runs of a list.
        """
        measure_ids: list[int] | None = (
            Run._base_manager.annotate(of_samples=RawSQL(measures("runs_run"), ()))  # noqa: S611  (constant)
            .values_list("of_samples", flat=True)
            .get(pk=self.pk)
        )
        return measure_ids


class RunArtefact(ThroughParent):
    """An artefact's part in a run: fio's output, the job file, a log."""

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artefacts")
    artefact = models.ForeignKey(Artefact, on_delete=models.PROTECT, related_name="uses")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="artefact_name_in_run")]

    def __str__(self) -> str:
        return self.name


class Measure(models.Model):
    """Operation × metric, as a small number that samples carry."""

    id = models.SmallAutoField(primary_key=True)
    operation = models.CharField(max_length=40)
    metric = models.CharField(max_length=40)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["operation", "metric"], name="measure_once")]

    def __str__(self) -> str:
        return f"{self.operation} {self.metric}"

    @property
    def definition(self) -> Metric:
        return METRICS[self.metric]


class Point(models.Model):
    """The workload point that a sample belongs to: bytes and counts, null where the tool has no such thing."""

    file_size = models.BigIntegerField(null=True)
    block_size = models.BigIntegerField(null=True)
    threads = models.IntegerField(null=True)
    iodepth = models.IntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["file_size", "block_size", "threads", "iodepth"], nulls_distinct=False, name="point_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.file_size}/{self.block_size}/{self.threads}/{self.iodepth}"


class Sample(ThroughParent):
    """One measured value in base units, with the text and the line that it was read from.

    Narrow, because there will be millions; what else is to be said of it is in `Provenance`.

    What it refers to is not checked with each row: `samples.py` holds the run while it writes, a trigger deletes, `artefacts/integrity.py` proves it.
    """

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="samples", db_index=False, db_constraint=False)
    measure = models.ForeignKey(
        Measure, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    point = models.ForeignKey(Point, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    section = models.SmallIntegerField(default=0, help_text="which part of the tool's output: fio's job or group")
    value = models.FloatField(null=True)
    printed = models.CharField(
        max_length=80, default="", db_default="", blank=True, help_text="the tool's own text with its unit"
    )
    source_line = models.IntegerField(null=True, help_text="of the artefact, from 1")
    artefact = models.ForeignKey(
        Artefact, on_delete=models.PROTECT, null=True, related_name="+", db_index=False, db_constraint=False
    )

    class Meta:
        constraints = [
            # with the value, so that a run's samples are read from the index alone
            models.UniqueConstraint(
                fields=["run", "measure", "point", "section"], include=["value"], name="sample_once"
            ),
        ]
        indexes = [models.Index(fields=["measure", "run"], include=["point", "value"], name="sample_by_measure")]

    def __str__(self) -> str:
        return f"{self.measure} = {self.value}"


class Quality(models.TextChoices):
    EXACT = "exact", "exact"
    ROUNDED = "rounded", "rounded"
    APPROXIMATE = "approximate", "approximate"
    OCR_REPAIRED = "ocr_repaired", "repaired after OCR"
    READ_FROM_TEXT = "read_from_text", "read from the text"
    LOWER_BOUND = "lower_bound", "lower bound"


class Provenance(ThroughParent):
    """How far a sample can be trusted, where that has to be said. A range is two bounds, not a made-up mean."""

    lab_path: ClassVar[str] = "sample__run__lab_id"

    sample = models.OneToOneField(
        Sample, on_delete=models.CASCADE, primary_key=True, related_name="provenance", db_constraint=False
    )
    quality = models.CharField(max_length=16, choices=Quality.choices, default=Quality.EXACT)
    missing_reason = models.CharField(max_length=120, blank=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    cpu = models.FloatField(null=True, help_text="fraction of one core")
    note = models.TextField(blank=True)
    alternatives = ArrayField(
        models.FloatField(), default=list, blank=True, help_text="other values that what is printed may mean"
    )

    def __str__(self) -> str:
        return self.quality


class Series(ThroughParent):
    """A value over time inside one run: packed arrays, never a row per value (`series/packed.py` reads and writes them)."""

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="series")
    operation = models.CharField(max_length=40)
    metric = models.CharField(max_length=40)
    section = models.SmallIntegerField(default=0)
    source = models.CharField(max_length=40, help_text="progress, fio_log, observer")
    count = models.PositiveIntegerField()
    packed = models.BinaryField(help_text="zlib of float64 seconds then float64 values, little-endian")
    overview = models.JSONField(help_text="at most 1,000 buckets of [seconds, min, mean, max, count]")

    class Meta:
        ordering = ["section", "operation", "metric"]
        constraints = [
            models.UniqueConstraint(fields=["run", "operation", "metric", "section", "source"], name="series_once")
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.metric}"


class Histogram(ThroughParent):
    """Latency bins of one run, operation and section, in ns. Merge bins before taking percentiles; never average percentiles."""

    lab_path: ClassVar[str] = "run__lab_id"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="histograms")
    operation = models.CharField(max_length=40)
    kind = models.CharField(max_length=4, help_text="clat, slat or lat")
    section = models.SmallIntegerField(default=0)
    bins = models.JSONField(help_text="[[ns, count], …], ascending")
    intervals = models.BinaryField(
        null=True, help_text="the same over time, where the tool wrote a log of it: see `series/intervals.py`"
    )

    class Meta:
        ordering = ["section", "operation"]
        constraints = [models.UniqueConstraint(fields=["run", "operation", "kind", "section"], name="histogram_once")]

    def __str__(self) -> str:
        return f"{self.operation} {self.kind}"
