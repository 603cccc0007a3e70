"""Plans: make one from a preset or from points, start, pause, resume and cancel it, and read how far it is."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import who
from apps.api.conditional import no_document, publish
from apps.api.fields import LinkField, NumberField, PageField, TextField
from apps.api.openapi import problems
from apps.api.problems import ProblemError
from apps.api.resources.claims import match_studies
from apps.api.resources.plan.cell_values import (
    CellOperationSerializer,
    CellValueSerializer,
    represent_operation,
    values_by_metric,
)
from apps.api.resources.plan.estimates import ExtraTimeSerializer, PlanAheadSerializer
from apps.api.resources.plan.schedules import RECIPIENTS, describe_recipients
from apps.api.resources.runs import (
    KnownFieldsSerializer,
    PriorityField,
    TimeLimitField,
    find_saved_workload,
    read_spec,
    refuse_missing,
)
from apps.api.viewsets import ScopedViewSet
from apps.core.quantities import written
from apps.core.text import whole_number
from apps.inventory.models import Target
from apps.labs.models import TokenScope
from apps.plans.estimates.plan_estimate import estimate_request
from apps.plans.execution_page import ExecutionPage
from apps.plans.models import Execution, GuardFailure
from apps.plans.plan_request import (
    PlanPoints,
    PlanRequest,
    find_preset,
    read_patterns,
    read_question,
    refuse_values,
    vary_jobs,
    vary_preset,
    vary_run,
)
from apps.plans.point_variation import ELSEWHERE, read_plan_options
from apps.plans.preparations import BY_KIND as PREPARATION_KINDS
from apps.plans.preparations.progress import PreparationLine, PreparationProgress
from apps.plans.presets import BY_NAME
from apps.plans.presets.preset import Preset
from apps.plans.published_procedure import ReportProcedure, find_procedures, repeat, usual_rule
from apps.plans.results.failed_runs import FailedRun
from apps.plans.services import (
    MOST_RETRIES,
    add_repetitions,
    cancel_plan,
    change_priority,
    change_recipients,
    change_time_limit,
    create_plan,
    pause_plan,
    resume_plan,
    retry_failed,
    start_plan,
)
from apps.runs.host_guards import LONGEST_WAIT
from apps.runs.models import Run
from apps.runs.start.job_file import LONGEST_JOB_FILE
from apps.runs.states import Priority
from apps.runs.workload import checked
from apps.studies.models import Guard, Plan, PlanConfiguration, PlanPoint, Study
from apps.studies.plans.matrix import CacheFinding
from apps.studies.plans.plan_page import (
    CELL_METRICS,
    PlanPageCell,
    difference_text,
    with_standing,
)
from apps.studies.plans.problems import PlanError
from apps.studies.plans.progress import Estimate
from apps.studies.plans.run_assignment import NotCounted
from apps.studies.plans.schema import LONGEST_TYPED_NOTES, name_guard_fields

Json = dict[str, Any]
# What a new plan can be made of: one of these.
BASES = ("preset", "points", "repeats", "saved_workload", "run", "workload", "job_file")


class ExecutionSerializer(serializers.ModelSerializer[Execution]):
    """How a plan that was started stands."""

    state = serializers.CharField(help_text="running, paused, done, cancelled")
    reason = serializers.CharField(help_text="why it is paused or cancelled")
    retries = serializers.IntegerField(help_text="how often a failed step is made again by itself")
    guard_wait = serializers.IntegerField(help_text="seconds that a required guard may hold a step back")
    guard_failure = serializers.CharField(
        help_text="what becomes of a step whose guard did not hold within its time: skip, fail, again"
    )
    waits = serializers.SerializerMethodField(help_text="hosts whose next step is held back, with the reason")

    class Meta:
        model = Execution
        fields = (
            "state", "reason", "retries", "guard_wait", "guard_failure", "started_by", "started_at", "ended_at", "waits",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_waits(self, execution: Execution) -> list[Json]:
        return [{"host": wait.host_id, "reason": wait.reason, "since": wait.since} for wait in execution.waits.all()]


RECIPIENTS_HELP = "ids of notification channels that are told when the plan pauses itself, is done or does not begin"


def make_recipients_field() -> serializers.ListField:
    """Return the field of the channels that a body chooses; left out or null: as before."""
    return serializers.ListField(
        child=serializers.IntegerField(min_value=1), required=False, allow_null=True, max_length=100,
        help_text=f"{RECIPIENTS_HELP}; left out: as before",
    )  # fmt: skip


class PlanSummarySerializer(serializers.ModelSerializer[Plan]):
    """A plan without its matrix."""

    url = LinkField("api-plan")
    page = PageField()
    study = serializers.CharField(source="study.slug")
    name = serializers.CharField()
    order = serializers.CharField(help_text="interleaved, randomized, sequential, not_printed")
    seed = serializers.IntegerField(allow_null=True)
    stopping = serializers.DictField(
        help_text="`{kind: fixed | half_width | steady_state | saturation | not_printed, …}`"
    )
    priority = serializers.CharField(
        source="get_priority_display", help_text="of the runs that it starts: high, normal, low"
    )
    time_limit = TimeLimitField(
        allow_null=True, help_text="seconds that each of its measured runs may take; null: by each one's estimate"
    )
    is_from_report = serializers.BooleanField()
    standing = serializers.CharField(
        help_text="of its order, rounds and guards: `asked for; not checked`, or `as reported` for a published report"
    )

    question = serializers.CharField(
        help_text="the question of Compare that it was made for: `factor?what was selected`; empty where there is none"
    )
    recipients = serializers.SerializerMethodField(
        help_text="the notification channels that are told what becomes of its runs: `{id, name}`; empty for other labs"
    )
    execution = serializers.SerializerMethodField(help_text="null where it was never started")

    class Meta:
        model = Plan
        fields: tuple[str, ...] = (
            "id", "url", "page", "study", "name", "title", "order", "seed", "stopping", "are_means", "priority",
            "time_limit", "is_from_report", "standing", "notes", "question", "recipients",
            "execution",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_recipients(self, plan: Plan) -> list[Json]:
        return describe_recipients(plan, self.context["view"].lab)

    @extend_schema_field(ExecutionSerializer(allow_null=True))
    def get_execution(self, plan: Plan) -> Any:
        execution = getattr(plan, "execution", None)
        return ExecutionSerializer(execution).data if execution else None


class NewPlanSerializer(KnownFieldsSerializer):
    """A plan to make: a preset with its values, or points of one's own, on targets of the lab."""

    title = TextField(max_length=200)
    study = serializers.CharField(required=False, help_text="slug or id of an own study; without it a new one is made")
    targets = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=1, max_length=1000)
    preset = serializers.CharField(required=False, help_text=f"one of {', '.join(BY_NAME)}")
    file_sizes = serializers.CharField(required=False, help_text="`1g..64g` or `0.5x, 1x, 2x RAM`, of each job's file")
    patterns = serializers.CharField(required=False, help_text="`randread, randwrite`")
    block_sizes = serializers.CharField(required=False, help_text="`4k..1m`")
    iodepths = serializers.CharField(required=False, help_text="`1,2,4..256`")
    numjobs = serializers.CharField(required=False, help_text="`1,2,4`")
    runtime = serializers.IntegerField(required=False, min_value=1, max_value=86400, help_text="seconds")
    options = serializers.DictField(
        required=False,
        help_text="any other option of a job, with a value or several: `{ioengine: [libaio, io_uring], runtime: '10..60 step 10', "
        "rate: '1m; 1m,2m'}`. Several values are a further dimension of the matrix. In a text a comma or a semicolon separates "
        "them, and where fio's own value has commas a semicolon alone; null and `default` are fio's default. Combinations that "
        f"fio refuses are left out, and `notes` says so. Not here: {', '.join(ELSEWHERE)}",
    )  # fmt: skip
    saved_workload = serializers.IntegerField(
        required=False, min_value=1, help_text="in place of a preset: id of a saved workload, whose jobs are varied"
    )
    run = serializers.IntegerField(
        required=False, min_value=1, help_text="in place of a preset: id of a run, whose jobs are varied"
    )
    workload = serializers.DictField(
        required=False, help_text="in place of a preset: a workload as in `POST runs/`, whose jobs are varied"
    )
    job_file = TextField(
        required=False, trim_whitespace=False, max_length=LONGEST_JOB_FILE,
        help_text="in place of a preset: text of a fio job file, whose jobs are varied; jobs that run at the same time are one point",
    )  # fmt: skip
    points = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="in place of a preset: as a plan's `points`, with `job` or `jobs`",
    )
    repeats = serializers.IntegerField(
        required=False, min_value=1, help_text="in place of a preset: the plan of a published report to repeat with fio"
    )
    is_scaled = serializers.BooleanField(default=False, help_text="of a report: file sizes as multiples of RAM")
    stopping = serializers.DictField(required=False, help_text="`{kind: fixed, rounds: 5}`; without it the preset's")
    guards = serializers.ListField(
        child=serializers.DictField(), required=False,
        help_text="`[{kind: idle, is_required: true, wait_s: 600}]`; `guard` and `required`, as runs and older plans say, mean "
        "the same as `kind` and `is_required`; without it the preset's, or those of a report that can be checked",
    )  # fmt: skip
    preparations = serializers.ListField(
        child=serializers.DictField(), required=False,
        help_text="what is done before runs: `[{kind: random_writes, time: start, file_size: 16g}, "
        "{kind: pause, time: step, seconds: 30}]`; sizes in bytes, or as text where k is 1024; "
        f"kinds are {', '.join(PREPARATION_KINDS)}",
    )  # fmt: skip
    order = serializers.CharField(
        required=False, help_text="interleaved, randomized, sequential; without it the report's own, else interleaved"
    )
    seed = serializers.IntegerField(required=False, min_value=0, help_text="of a randomized order")
    priority = PriorityField(default=Priority.NORMAL)
    time_limit = TimeLimitField(
        required=False, allow_null=True,
        help_text="seconds after which a host stops a measured run; null: three times its estimate and a margin",
    )  # fmt: skip
    notes = TextField(required=False, allow_blank=True, max_length=LONGEST_TYPED_NOTES)
    question = TextField(
        required=False, allow_blank=True, max_length=1000,
        help_text="the question of Compare that it is made for, as `plans` of `GET questions/{factor}/` has it",
    )  # fmt: skip


class ChangePlanSerializer(KnownFieldsSerializer):
    """What is changed of a written plan."""

    priority = PriorityField(required=False)
    time_limit = TimeLimitField(
        required=False, allow_null=True, help_text="seconds, of the runs that are started later"
    )
    recipients = make_recipients_field()


class StartPlanSerializer(KnownFieldsSerializer):
    """How a plan is started."""

    retries = serializers.IntegerField(default=0, min_value=0, max_value=MOST_RETRIES)
    guard_wait = serializers.IntegerField(
        required=False, min_value=0, max_value=LONGEST_WAIT, help_text="seconds; 3600 where it was never given"
    )
    guard_failure = serializers.ChoiceField(
        choices=GuardFailure.values, required=False, help_text="`skip` where it was never given"
    )
    recipients = make_recipients_field()


class RepetitionsSerializer(KnownFieldsSerializer):
    """How many more rounds of every cell are asked for."""

    repetitions = serializers.IntegerField(min_value=1, max_value=99)


class PlanConfigurationShapeSerializer(serializers.Serializer[PlanConfiguration]):
    """A row of a plan's matrix."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    largest_file_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    limit_reason = serializers.CharField()
    reason = serializers.CharField(help_text="why the whole row is not run")
    configuration = serializers.SerializerMethodField(
        help_text="of the study; null where the source has no numbers of it"
    )
    host = serializers.SerializerMethodField()

    def get_configuration(self, row: PlanConfiguration) -> str | None:
        return row.configuration.name if row.configuration else None

    def get_host(self, row: PlanConfiguration) -> int | None:
        return row.host.pk if row.host else None


class PlanPointShapeSerializer(serializers.ModelSerializer[PlanPoint]):
    """A column of a plan's matrix."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    tool = serializers.CharField()
    command = serializers.CharField()
    file_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    ram_multiple = NumberField(allow_null=True, help_text="file size = this × RAM of the host")
    block_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    threads = serializers.IntegerField(allow_null=True)
    iodepth = serializers.IntegerField(allow_null=True)
    operations = serializers.ListField(child=serializers.CharField())
    labels = serializers.DictField()
    job = serializers.DictField(
        allow_null=True, help_text="fio's other options; null where fio cannot run it, and of a point with `jobs`"
    )
    jobs = serializers.ListField(
        child=serializers.DictField(), allow_null=True,
        help_text="several jobs that run at the same time, each with all of its options; `file_size` is that of the files of "
        "those that have none of their own. Null of a point with one job",
    )  # fmt: skip

    class Meta:
        model = PlanPoint
        fields = (
            "name", "label", "tool", "command", "file_size", "ram_multiple", "block_size", "threads", "iodepth",
            "operations", "labels", "job", "jobs",
        )  # fmt: skip


class PlanGuardShapeSerializer(serializers.ModelSerializer[Guard]):
    """What has to be true before a round, or what a person states of it."""

    kind = serializers.CharField()
    parameters = serializers.DictField()
    sentence = serializers.SerializerMethodField(
        help_text="in words, and behind it its standing, or what the runs that count have found"
    )
    outcomes = serializers.SerializerMethodField(
        help_text="runs that count by what was found before or after them: passed, failed, not checked; empty where there "
        "is no evidence"
    )
    standing = serializers.CharField(
        help_text="`asked for; not checked`, `stated by a person; nothing checks it`, or `as reported` for a published "
        "report"
    )
    label = serializers.CharField(source="definition.label", help_text="as people call it")  # type: ignore[assignment]
    is_statement = serializers.BooleanField(help_text="neither the server nor a host can look at it")
    stated_by = serializers.CharField(help_text="whose word it is; empty for what is checked, or where it is not known")

    class Meta:
        model = Guard
        fields = (
            "kind", "label", "is_required", "parameters", "note", "sentence", "outcomes", "standing", "is_statement",
            "stated_by",
        )  # fmt: skip
        read_only_fields = fields

    def get_sentence(self, guard: Guard) -> str:
        matrix = self.context["matrix"]
        return str(with_standing(guard.sentence, matrix.standing_of(guard)))

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_outcomes(self, guard: Guard) -> dict[str, int]:
        return dict(self.context["matrix"].guard_outcomes.get(guard.kind, {}))


class PreparationRunSerializer(serializers.Serializer[PreparationProgress]):
    """How far the writes of a preparation are on one target."""

    configuration = serializers.IntegerField(source="row_id", help_text="id of the plan's row")
    round = serializers.IntegerField(help_text="0 where it is made once, before the target's first run")
    runs = serializers.SerializerMethodField()
    is_done = serializers.BooleanField()
    verdict = serializers.SerializerMethodField(help_text="what it came to, with the last bandwidth")
    is_undone_by_discard = serializers.BooleanField(
        help_text="the filesystem discards what is removed, so that the drive forgets what was written"
    )

    def get_runs(self, progress: PreparationProgress) -> list[int]:
        return [entry.run_id for entry in progress.runs]

    def get_verdict(self, progress: PreparationProgress) -> str:
        return written(progress.verdict)


class PreparationLineSerializer(serializers.Serializer[PreparationLine]):
    """What is done on a target's host before runs of the plan."""

    kind = serializers.CharField(source="preparation.kind")
    time = serializers.CharField(source="preparation.time", help_text="start, round, step")
    parameters = serializers.DictField(source="preparation.parameters")
    sentence = serializers.CharField()
    progress = PreparationRunSerializer(many=True, help_text="of writes: each target that was begun")
    evidence = serializers.DictField(allow_null=True, help_text="of a wait: the newest, as in `GET runs/{id}/guards/`")
    run = serializers.IntegerField(source="run_id", allow_null=True, help_text="with which that evidence is")


class PlanCellShapeSerializer(serializers.Serializer[PlanPageCell]):
    """A cell of a plan's matrix, with the runs that count for it."""

    configuration = serializers.CharField(source="row.name", help_text="name of the plan's row")
    point = serializers.CharField(source="point.name")
    state = serializers.CharField(
        help_text="waiting, running, partly, done, failed, not run; of a published report: as reported, not held"
    )
    done = serializers.IntegerField(source="progress.done")
    least = serializers.IntegerField(source="progress.least", help_text="rounds")
    most = serializers.IntegerField(source="progress.most", help_text="rounds")
    progress = NumberField(source="progress.fraction", help_text="of the runs under way, 0 to 1")
    file_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    is_rule_met = serializers.SerializerMethodField(
        help_text="false: the most rounds are done, and the stopping rule does not hold"
    )
    reason = serializers.CharField(help_text="why it is not run")
    note = serializers.CharField()
    workload = serializers.DictField(allow_null=True, help_text="for `POST runs/`, where fio can run it")
    runs = serializers.SerializerMethodField()
    values = serializers.SerializerMethodField(
        help_text="of the runs that count, by metric: mean in base units, half of its 95 % interval from three runs on, n;"
        f" metrics are {', '.join(CELL_METRICS)}, as far as the runs tell them. Of several operations those of the first by "
        "name, and nothing where several jobs run at the same time: `operations` has each"
    )
    operations = serializers.SerializerMethodField(help_text="what the runs that count measured, by operation")

    @extend_schema_field(serializers.DictField(child=CellValueSerializer()))
    def get_values(self, cell: PlanPageCell) -> Json:
        is_one = not cell.point.jobs or len(cell.operations) == 1
        return values_by_metric({metric: cell.value_of(metric) for metric in CELL_METRICS if is_one})

    @extend_schema_field(CellOperationSerializer(many=True))
    def get_operations(self, cell: PlanPageCell) -> list[Json]:
        found = {metric: {entry.operation: entry for entry in cell.operation_values(metric)} for metric in CELL_METRICS}
        return [
            represent_operation(name, {metric: of.get(name) for metric, of in found.items()})
            for name in cell.operations
        ]

    def get_is_rule_met(self, cell: PlanPageCell) -> bool:
        return not cell.is_rule_missed

    def get_runs(self, cell: PlanPageCell) -> list[int]:
        return [run.pk for run in cell.runs]


class PlanNotCountedSerializer(serializers.Serializer[NotCounted]):
    """Runs of a plan's configurations that count for none of its cells."""

    configuration = serializers.CharField(source="row.name", help_text="name of the plan's row")
    point = serializers.CharField(source="point.name", help_text="the one that the runs come nearest to")
    runs = serializers.ListField(child=serializers.IntegerField())
    reason = serializers.SerializerMethodField(help_text="what is different from what the plan asks for, or not known")

    def get_reason(self, not_counted: NotCounted) -> str:
        return ", ".join(map(difference_text, not_counted.differences))


class FailedRunSerializer(serializers.Serializer[FailedRun]):
    """A run that was made for a step of a plan and does not count for it."""

    run = serializers.IntegerField(source="run.pk")
    configuration = serializers.CharField(source="cell.row.name", help_text="name of the plan's row")
    point = serializers.CharField(source="cell.point.name")
    round = serializers.IntegerField(source="run.round")
    state = serializers.CharField(
        source="run.state", help_text="failed, interrupted, cancelled; or finished, not as asked"
    )
    problem = serializers.CharField(help_text="why it does not count")
    made_again = serializers.IntegerField(
        source="again", allow_null=True, help_text="the next run of the same step; null where there is none"
    )


class PlanStepSerializer(serializers.Serializer[Any]):
    """A step of a plan: one configuration at one point in one round."""

    position = serializers.IntegerField()
    round = serializers.IntegerField()
    configuration = serializers.CharField()
    point = serializers.CharField()


class CacheRuleSerializer(serializers.Serializer[CacheFinding]):
    """Whether a host's largest file is large enough to be no memory."""

    host = serializers.CharField()
    ram = serializers.IntegerField(allow_null=True, help_text="bytes")
    largest = serializers.IntegerField(help_text="bytes")
    multiple = NumberField(allow_null=True)
    factor = NumberField()
    is_met = serializers.BooleanField(allow_null=True)


class PlanEstimateSerializer(serializers.Serializer[Estimate]):
    """How long what remains will take."""

    seconds = NumberField(help_text="about; hosts work side by side")
    by_host = serializers.DictField()
    known = serializers.IntegerField(help_text="rounds whose time is known")
    unknown = serializers.IntegerField()


class PlanSerializer(PlanSummarySerializer):
    """A plan with its `matrix`, which the view computes: what it is made of, and how far it is."""

    configurations = PlanConfigurationShapeSerializer(source="rows.all", many=True)
    points = PlanPointShapeSerializer(source="points.all", many=True)
    guards = PlanGuardShapeSerializer(source="guards.all", many=True)
    preparations = PreparationLineSerializer(source="preparation_lines", many=True)
    cells = PlanCellShapeSerializer(source="matrix.cells", many=True)
    not_counted = PlanNotCountedSerializer(
        source="matrix.not_counted", many=True, help_text="runs of its configurations that count for no cell"
    )
    failed_runs = FailedRunSerializer(
        many=True, help_text="runs that were made for a step and do not count for it, oldest first"
    )
    steps = serializers.SerializerMethodField(help_text="all steps in their order, `least` rounds")
    cache_rule = CacheRuleSerializer(source="matrix.cache", many=True)
    remaining = PlanEstimateSerializer(source="matrix.remaining", allow_null=True)
    extra = ExtraTimeSerializer(help_text="beyond `remaining`")

    class Meta(PlanSummarySerializer.Meta):
        fields = (
            *PlanSummarySerializer.Meta.fields, "configurations", "points", "guards", "preparations", "cells", "not_counted",
            "failed_runs", "steps", "cache_rule", "remaining", "extra",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(PlanStepSerializer(many=True))
    def get_steps(self, plan: Any) -> list[Json]:
        rows, points = list(plan.rows.all()), list(plan.points.all())
        return [
            {
                "position": step.position,
                "round": step.round,
                "configuration": rows[step.row].name,
                "point": points[step.point].name,
            }
            for step in plan.matrix.steps
        ]


STUDY = OpenApiParameter("study", description="slug or id")


@extend_schema_view(list=extend_schema(description="Plans of own studies and of published ones.", parameters=[STUDY]))
class PlanViewSet(ListModelMixin, ScopedViewSet[Plan]):
    """Plans of own studies and of published ones; own ones can be made and run."""

    keeps_answers = True
    model = Plan
    serializer_class = PlanSummarySerializer
    serializer_classes = {"retrieve": PlanSerializer}
    needed_scope = TokenScope.RUN
    filters = ("study",)

    def get_queryset(self) -> QuerySet[Plan]:
        plans: QuerySet[Plan] = (
            Plan.objects.whole().prefetch_related("preparations")
            if self.action == "retrieve"
            else Plan.objects.select_related("study")
        )
        return plans.select_related("execution").prefetch_related("execution__waits", *RECIPIENTS)

    def filter_queryset(self, queryset: Any) -> Any:
        plans = super().filter_queryset(queryset)
        studies = self.request.query_params.getlist("study")
        return plans.filter(match_studies(studies)) if any(studies) else plans

    @extend_schema(responses={200: PlanSerializer, 304: None})
    def retrieve(self, request: Request, pk: int) -> HttpResponseBase:
        """Return one plan with the state of every cell and all its steps in their order."""
        plan: Any = self.get_object()
        page = ExecutionPage(plan)
        plan.matrix, plan.preparation_lines, plan.extra = page.matrix, page.preparations, page.extra
        plan.failed_runs = page.failed_runs
        permalink = request.build_absolute_uri(plan.get_absolute_url())
        serializer = PlanSerializer(plan, context={**self.get_serializer_context(), "matrix": page.matrix})
        return publish(request, serializer.data, no_document, permalink)

    @extend_schema(request=NewPlanSerializer, responses={201: PlanSummarySerializer, **problems(404)})
    def create(self, request: Request) -> Response:
        """Make a plan. Nothing is started; `POST plans/{id}/start/` does that."""
        wanted = self.validate_body(NewPlanSerializer)
        plan = create_plan(self._request_of(wanted), actor=who(request))
        body = self._represent(plan.pk)
        return Response(body, status=201, headers={"Location": body["url"]})

    @extend_schema(request=ChangePlanSerializer, responses={200: PlanSummarySerializer, **problems(404, 409)})
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change the priority, the time limit or the recipients of a plan of this lab, also while it runs.

        Its runs that wait get the priority too; their time limit stays.
        """
        plan = self._own(pk)
        changed = self.validate_body(ChangePlanSerializer)
        with transaction.atomic():
            if "time_limit" in changed:
                change_time_limit(plan, changed["time_limit"], actor=who(request))
            if "priority" in changed:
                change_priority(plan, changed["priority"], actor=who(request))
            if changed.get("recipients") is not None:
                change_recipients(plan, changed["recipients"], actor=who(request))
        return Response(self._represent(pk))

    @extend_schema(
        operation_id="plans_estimate_new", request=NewPlanSerializer,
        responses={200: PlanAheadSerializer, **problems(404)},
    )  # fmt: skip
    @action(detail=False, methods=["post"], url_path="estimate", url_name="estimate-new")
    def estimate_new(self, request: Request) -> Response:
        """Estimate a plan that is not written: the body is that of `POST plans/`, and nothing is stored."""
        wanted = self.validate_body(NewPlanSerializer)
        return Response(PlanAheadSerializer(estimate_request(self._request_of(wanted))).data)

    @extend_schema(request=StartPlanSerializer, responses={202: PlanSummarySerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: int) -> Response:
        """Start a plan, or start it again after it was cancelled or done."""
        plan = self._own(pk)
        start_plan(plan, actor=who(request), **self.validate_body(StartPlanSerializer))
        return Response(self._represent(pk), status=202)

    @extend_schema(request=None, responses={202: PlanSummarySerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: int) -> Response:
        """Start no more steps; what runs now goes on to its end."""
        plan = self._own(pk)
        self.refuse_body()
        pause_plan(plan, actor=who(request))
        return Response(self._represent(pk), status=202)

    @extend_schema(request=None, responses={202: PlanSummarySerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: int) -> Response:
        """Go on with a paused plan."""
        plan = self._own(pk)
        self.refuse_body()
        resume_plan(plan, actor=who(request))
        return Response(self._represent(pk), status=202)

    @extend_schema(request=None, responses={202: PlanSummarySerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: int) -> Response:
        """End a plan and cancel its queued and running runs. What was measured stays."""
        plan = self._own(pk)
        self.refuse_body()
        cancel_plan(plan, actor=who(request))
        return Response(self._represent(pk), status=202)

    @extend_schema(request=None, responses={202: PlanSummarySerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: int) -> Response:
        """Make all failed steps again."""
        plan = self._own(pk)
        self.refuse_body()
        retry_failed(plan, actor=who(request))
        return Response(self._represent(pk), status=202)

    @extend_schema(request=RepetitionsSerializer, responses={202: PlanSummarySerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def repetitions(self, request: Request, pk: int) -> Response:
        """Ask for more rounds of every cell."""
        plan = self._own(pk)
        number = self.validate_body(RepetitionsSerializer)["repetitions"]
        add_repetitions(plan, number, actor=who(request))
        return Response(self._represent(pk), status=202)

    def _own(self, pk: int) -> Plan:
        plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk, study__lab=self.lab)
        return plan

    def _represent(self, pk: int) -> Json:
        plan = get_object_or_404(Plan.objects.select_related("study", "execution").prefetch_related(*RECIPIENTS), pk=pk)
        return dict(PlanSummarySerializer(plan, context=self.get_serializer_context()).data)

    def _request_of(self, wanted: Json) -> PlanRequest:
        """Return the plan that a body asks for. Raises `PlanError`, which is answered with 400."""
        given = [name for name in BASES if name in wanted]
        if len(given) != 1:
            raise PlanError("preset", given, f"one of {', '.join(BASES)}")
        targets = self._targets(wanted["targets"])
        preset = find_preset(wanted["preset"]) if "preset" in wanted else None
        report = self._report(wanted["repeats"]) if "repeats" in wanted else None
        operations = read_patterns(wanted.get("patterns", "")) if report else ()
        procedure = repeat(report, is_scaled=wanted["is_scaled"], operations=operations) if report else None
        found = self._points(given[0], wanted, preset, procedure)
        of_report = usual_rule(report) if report else {"kind": "fixed", "rounds": 5}
        usual: Mapping[str, Any] = preset.rule if preset else of_report
        order = wanted.get("order", procedure.order if procedure else "interleaved")
        usual_guards = preset.guards if preset else procedure.guards if procedure else ()
        notes = [wanted.get("notes", ""), *found.remarks]
        asked = wanted.get("guards", usual_guards)
        guards = [name_guard_fields(f"plan.guards[{at}]", guard) for at, guard in enumerate(asked)]
        return PlanRequest(
            lab=self.lab, title=wanted["title"], targets=targets, points=found.points,
            stopping=wanted.get("stopping", usual), guards=guards,
            preparations=wanted.get("preparations", ()), order=order,
            seed=wanted.get("seed", 0 if order == "randomized" else None),
            notes="\n".join(filter(None, notes)), study=self._study(wanted.get("study")), repeats=report,
            priority=wanted["priority"], time_limit=wanted.get("time_limit"),
            question=read_question(wanted.get("question", "")),
        )  # fmt: skip

    def _points(self, base: str, wanted: Json, preset: Preset | None, procedure: ReportProcedure | None) -> PlanPoints:
        """Return the points of a body, of which one field says what is measured and others vary it.

        Raises:
            PlanError: They do not fit.
            WorkloadError: The workload or the job file may not run.
        """
        jobs = self._jobs(base, wanted)
        options = read_plan_options(wanted.get("options", {}))
        if preset:
            return vary_preset(preset, wanted, options)
        if isinstance(jobs, Run):
            return vary_run(jobs, wanted, options)
        if jobs is not None:
            return vary_jobs(jobs, wanted, options)
        words, taken = ("a report's procedure", ("patterns",)) if procedure else ("each of the points", ())
        refuse_values(wanted, words, taken, options)
        return PlanPoints(procedure.points, procedure.remarks) if procedure else PlanPoints(wanted["points"], [])

    def _jobs(self, base: str, wanted: Json) -> list[Json] | Run | None:
        """Return the jobs or the run that a body names; None where it names none. Raises a 404 for one that is not there."""
        if base == "saved_workload":
            return find_saved_workload(self.lab, wanted[base]).jobs
        if base == "run":
            run: Run | None = Run.objects.select_related("workload").filter(pk=wanted[base]).first()
            if run is None:
                raise refuse_missing(base, wanted[base], "the id of a run (GET /api/v1/runs/)")
            return run
        return list(checked(read_spec(wanted))["jobs"]) if base in ("workload", "job_file") else None

    def _report(self, pk: int) -> Plan:
        report = next((plan for plan in find_procedures() if plan.pk == pk), None)
        if report is None:
            raise PlanError("repeats", pk, "the id of a published report's plan that fio can repeat")
        return report

    def _targets(self, ids: list[int]) -> list[Target]:
        known = {target.pk: target for target in Target.objects.select_related("host").filter(lab=self.lab, pk__in=ids)}
        missing = [pk for pk in ids if pk not in known]
        if missing:
            expected = "ids of targets of this lab (GET /api/v1/targets/)"
            detail = f"targets: found {missing}, expected {expected}"
            raise ProblemError(404, detail, field="targets", found=missing, expected=expected)
        return [known[pk] for pk in dict.fromkeys(ids)]

    def _study(self, name: str | None) -> Study | None:
        if name is None:
            return None
        number = whole_number(name)
        found = Study.objects.filter(lab=self.lab).filter(Q(slug=name) | Q(pk=number if number is not None else -1))
        if (study := found.first()) is None:
            raise PlanError("study", name, "the slug or id of a study of this lab")
        return study  # type: ignore[no-any-return]
