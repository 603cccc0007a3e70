"""Runs: list, read, start, cancel, and the files and samples of one; and the queue of those that run and wait."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.ingest import read_again
from apps.agents.queue import QueueRow, find_queue, queue_rows, waiting_reasons
from apps.agents.tasks import ingest_attempt
from apps.api import documents
from apps.api.authentication import who
from apps.api.conditional import no_document, publish, stream
from apps.api.fields import LinkField, NumberField, PageField, TextField, show
from apps.api.filters import refuse_unknown_filters
from apps.api.openapi import ANY_FACT, BASE, problems
from apps.api.pagination import NumberedPages, Whole
from apps.api.parsers import RefusedFieldError
from apps.api.problems import ProblemError
from apps.api.renderers import DOCUMENT
from apps.api.resources.caveats import CaveatSerializer
from apps.api.resources.plan.guards import RunGuardsSerializer
from apps.api.resources.samples import SampleSerializer
from apps.api.viewsets import ScopedViewSet
from apps.comparison.answer import caveats_of_runs
from apps.comparison.caveats.rule import Caveat
from apps.core.http import attachment
from apps.core.task_queue import publish as hand_to_worker
from apps.core.text import whole_number
from apps.core.unit_base import base
from apps.inventory.models import Host
from apps.labs.models import Lab, TokenScope
from apps.plans.guards.run_evidence import find_evidence
from apps.runs.artefacts.store import open_stream
from apps.runs.filters import RunFilterSet
from apps.runs.host_guards import BY_KIND as GUARD_KINDS
from apps.runs.host_guards import check_guards
from apps.runs.models import Attempt, Run, RunArtefact, SavedWorkload
from apps.runs.queue import MOST_AT_ONCE, MOVES, abandon_host, abandon_run, cancel_runs, move_run, set_priority
from apps.runs.services import (
    MAX_TARGETS,
    cancel_run,
    describe_run,
    find_targets,
    run_again,
    start_on_targets,
    wrap_single_job,
)
from apps.runs.start.job_file import LONGEST_JOB_FILE, read_job_file
from apps.runs.start.option_lists import read_options
from apps.runs.states import Priority, State
from apps.runs.workload import LONGEST_LIMIT, UnknownOptionError, WorkloadError, read_values
from apps.studies.models import Configuration, Study
from apps.studies.run_placement import place_audited
from apps.wiki.sample_rows import Extent, rows

Json = dict[str, Any]


class SectionSerializer(serializers.Serializer[Any]):
    """A job, stream or client of a run that has figures of its own."""

    number = serializers.IntegerField(help_text="the `section` of samples, series and histograms")
    name = serializers.CharField()
    options = serializers.DictField(help_text="of the job, in the tool's words, where an uploaded output shows them")


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run. `add_findings` sets its `caveats` and why it waits."""

    url = LinkField("api-run")
    page = PageField()
    origin = serializers.CharField()
    state = serializers.CharField()
    reading = serializers.BooleanField(
        source="is_reading",
        help_text="its host is done and its result is being read: `state` is `running` until its samples are there",
    )
    overdue = serializers.SerializerMethodField(help_text="it runs longer than its time limit; its host stops it")
    waiting_because = serializers.CharField(help_text="why it has not begun; empty when it has")
    progress = NumberField()
    repetition = serializers.IntegerField()
    priority = serializers.CharField(source="get_priority_display", help_text="high, normal or low")
    time_limit = serializers.IntegerField(allow_null=True, help_text="seconds, as was asked for; null: by the estimate")
    stops_after = serializers.IntegerField(
        source="limit_seconds", allow_null=True,
        help_text="seconds after which its host stops fio: `time_limit`, or three times the estimate and a margin",
    )  # fmt: skip
    late = serializers.BooleanField(
        source="is_late", help_text="its host delivered how it ended after a person had given it up"
    )
    study = serializers.CharField(source="study_run.configuration.study.slug", allow_null=True)
    configuration = serializers.CharField(source="study_run.configuration.name", allow_null=True)
    host = serializers.IntegerField(source="host_id", allow_null=True)
    host_name = serializers.CharField(source="host.name", allow_null=True)
    target = serializers.IntegerField(source="target_id", allow_null=True)
    target_name = serializers.CharField(source="target.name", allow_null=True)
    snapshot = serializers.IntegerField(source="snapshot_id", allow_null=True)
    place = serializers.DictField(
        help_text="where it really lay, read on its host when it began: path, type, source, uuid, mount_point, and "
        "`settings` of the kernel for it, as `/sys` has them"
    )
    labels = serializers.DictField()
    facts = serializers.DictField()
    workload = serializers.SerializerMethodField()
    sections = serializers.SerializerMethodField(help_text="jobs, streams or clients that have figures of their own")
    samples_url = LinkField("api-run-samples")
    series_url = LinkField("api-run-series")
    histograms_url = LinkField("api-run-histograms")
    artefacts_url = LinkField("api-run-artefacts")
    caveats = CaveatSerializer(many=True)

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id", "url", "page", "tool", "tool_version", "origin", "state", "problem", "reading", "overdue",
            "waiting_because", "progress", "repetition", "priority", "time_limit", "stops_after",
            "study", "configuration", "host", "host_name",
            "target", "target_name", "snapshot", "place", "labels", "note", "facts", "workload", "sections",
            "created_by", "created_at", "started_at", "finished_at", "abandoned_at", "late", "samples_url",
            "series_url", "histograms_url", "artefacts_url", "caveats",
        )  # fmt: skip
        read_only_fields = fields

    def get_overdue(self, run: Run) -> bool:
        return bool(getattr(run, "is_overdue", False))

    def get_workload(self, run: Run) -> Json:
        return documents.options_of(run.workload)

    @extend_schema_field(SectionSerializer(many=True))
    def get_sections(self, run: Run) -> list[Json]:
        names = run.section_names
        options = {int(number): section.get("options", {}) for number, section in run.sections.items()}
        return [
            {"number": number, "name": names.get(number, ""), "options": options.get(number, {})}
            for number in sorted({*names, *options})
        ]


class StartedRunSerializer(RunSerializer):
    """The first of the started runs, and the ids of all."""

    runs = serializers.ListField(
        source="repetition_ids",
        child=serializers.IntegerField(),
        help_text="ids of all runs: of each target each combination of `options` with its repetitions; the rest of the body is the first",
    )

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "runs")
        read_only_fields = fields


class KnownFieldsSerializer(serializers.Serializer[Any]):
    """A body that may have these fields only."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse an unknown field, for the answer would look as if it had been applied."""
        if not isinstance(data, Mapping):
            raise RefusedFieldError("body", show(data), f"an object with some of {', '.join(self.fields)}")
        if isinstance(data, dict) and (unknown := sorted(data.keys() - set(self.fields))):
            raise UnknownOptionError("", unknown[0], data[unknown[0]], self.fields)
        return super().to_internal_value(data)


class PriorityField(serializers.CharField):
    """A priority as its word."""

    def __init__(self, **options: Any) -> None:
        super().__init__(help_text=f"one of: {', '.join(priority.label for priority in Priority)}", **options)

    def to_internal_value(self, data: Any) -> Any:
        priority = Priority.find(data)
        if priority is None:
            words = ", ".join(choice.label for choice in Priority)
            raise WorkloadError("priority", str(data)[:80], f"one of: {words}")
        return priority


class TimeLimitField(serializers.IntegerField):
    """A time limit in seconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=LONGEST_LIMIT, **options)


class RunStartSerializer(KnownFieldsSerializer):
    """The body that starts runs."""

    target = serializers.IntegerField(required=False, help_text="id of a target with `takes_runs`")
    targets = serializers.ListField(
        child=serializers.IntegerField(),
        required=False,
        min_length=1,
        max_length=MAX_TARGETS,
        help_text="ids of several, of one host or of several, in place of `target`; runs start on all of them or on none",
    )
    workload = serializers.DictField(
        required=False,
        help_text="`{tool, jobs: [{rw, block_size, file_size, …}]}`, or one job's options by themselves. "
        "Sizes are whole bytes, or texts such as `4k` and `10 GiB`, where k is 1024",
    )
    job_file = TextField(
        required=False,
        trim_whitespace=False,
        max_length=LONGEST_JOB_FILE,
        help_text="text of a fio job file, in place of `workload`: each line is taken over, or refused by name with why",
    )
    saved_workload = serializers.IntegerField(
        required=False, min_value=1, help_text="in place of `workload`: id of a saved workload of this lab"
    )
    options = serializers.DictField(
        default=dict,
        help_text="options with several values, which all jobs get: `{iodepth: '1,2,4..64', ioengine: [libaio, io_uring]}`; each "
        "combination is a run of its own. In a text a comma or a semicolon separates values, and where fio's own value has "
        "commas a semicolon alone; null and `default` are fio's default",
    )  # fmt: skip
    repetitions = serializers.IntegerField(default=1, min_value=1, max_value=100)
    priority = PriorityField(default=Priority.NORMAL)
    time_limit = TimeLimitField(
        required=False, allow_null=True,
        help_text="seconds after which the host stops fio, at most what its agent.conf allows and at least what the jobs "
        "run; null: three times the estimate and a margin",
    )  # fmt: skip
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True), default=dict)
    note = TextField(allow_blank=True, default="")
    guards = serializers.ListField(
        child=serializers.DictField(), default=list,
        help_text="what the host checks right before fio starts: `[{kind: idle, wait_s: 600, is_required: true}]`; "
        f"`guard` means the same as `kind`; guards are {', '.join(GUARD_KINDS)}",
    )  # fmt: skip
    study = serializers.CharField(required=False, help_text="slug of a study of this lab, into which the runs go")
    configuration = serializers.CharField(
        required=False, help_text="name of a configuration of `study`; without it the target decides"
    )

    def validate(self, attrs: Any) -> Any:
        """Refuse a body with two of what it may have one of, with neither, or with a target twice."""
        if ("target" in attrs) == ("targets" in attrs):
            found = "both" if "target" in attrs else "neither"
            raise serializers.ValidationError({"target": f"found {found}, expected target or targets"})
        given = [name for name in WORKLOADS if name in attrs]
        if len(given) != 1:
            found = " and ".join(given) or "neither"
            raise serializers.ValidationError({"workload": f"found {found}, expected one of {', '.join(WORKLOADS)}"})
        keys = attrs.setdefault("targets", [attrs.get("target")])
        if len(set(keys)) < len(keys):
            raise serializers.ValidationError({"targets": "found a target twice, expected each once"})
        if len(keys) > 1 and "configuration" in attrs:
            found = attrs["configuration"][:80]
            raise serializers.ValidationError(
                {"configuration": f"found {found!r} with several targets, expected none: each target decides"}
            )
        return attrs


# What says in a body what is measured: one of these.
WORKLOADS = ("workload", "job_file", "saved_workload")


def read_spec(data: Json) -> Any:
    """Return the workload of a body: as it gives it, or out of its job file."""
    if "job_file" in data:
        return read_job_file(data["job_file"])
    return read_values(wrap_single_job(data["workload"]))


def refuse_missing(field: str, key: object, expected: str) -> ProblemError:
    """Return the 404 about an id in a body."""
    return ProblemError(404, f"{field}: found {key}, expected {expected}", field=field, found=key, expected=expected)


def find_saved_workload(lab: Lab, key: int) -> SavedWorkload:
    """Return a saved workload of the lab. Raises a 404 where it has none with this id."""
    saved: SavedWorkload | None = SavedWorkload.objects.filter(lab=lab, pk=key).select_related("workload").first()
    if saved is None:
        expected = "the id of a saved workload of this lab (GET /api/v1/saved-workloads/)"
        raise refuse_missing("saved_workload", key, expected)
    return saved


class RunChangeSerializer(KnownFieldsSerializer):
    """What can be changed of a run; what is left out stays."""

    labels = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    note = TextField(allow_blank=True, required=False)
    priority = PriorityField(required=False)


class RunAgainSerializer(KnownFieldsSerializer):
    """How a run shall be started again; what is left out is as it was."""

    repetitions = serializers.IntegerField(default=1, min_value=1, max_value=100)
    priority = PriorityField(required=False)
    time_limit = TimeLimitField(required=False, allow_null=True, help_text="seconds; null: by the estimate")
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    note = TextField(allow_blank=True, required=False)


class ReasonSerializer(KnownFieldsSerializer):
    """Why a run is given up."""

    reason = TextField(allow_blank=True)


class ArtefactSerializer(serializers.ModelSerializer[RunArtefact]):
    """A file of a run."""

    kind = serializers.CharField()
    sha256 = serializers.CharField(source="artefact.sha256")
    size = serializers.IntegerField(source="artefact.size", help_text="bytes")
    url = serializers.SerializerMethodField()

    class Meta:
        model = RunArtefact
        fields = ("name", "kind", "sha256", "size", "url")
        read_only_fields = fields

    @extend_schema_field(serializers.URLField)
    def get_url(self, artefact: RunArtefact) -> str:
        address = f"/api/v1/runs/{artefact.run_id}/artefacts/"
        return f"{self.context['request'].build_absolute_uri(address)}{artefact.name}"


@extend_schema_view(
    list=extend_schema(
        parameters=[BASE],
        description=f"Newest first. {ANY_FACT}",
    )
)
class RunViewSet(ListModelMixin, ScopedViewSet[Run]):
    """Runs of the lab and of published ones, newest first."""

    keeps_answers = True
    model = Run
    serializer_class = RunSerializer
    formats = {"retrieve": DOCUMENT}
    detail_parameters = {"samples": ("cursor", "limit")}
    needed_scope = TokenScope.RUN
    filterset_class = RunFilterSet
    ordering = "-id"

    def get_queryset(self) -> Any:
        return with_related(super().get_queryset())

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """Return a page of runs, each with its caveats and why it waits."""
        return add_findings(super().paginate_queryset(queryset) or [])

    @extend_schema(
        operation_id="runs_start",
        request=RunStartSerializer,
        responses={201: StartedRunSerializer, **problems(404)},
    )
    def create(self, request: Request) -> Response:
        """Start runs on one target or several; the answer is the first of the runs and the ids of all."""
        data = self.validate_body(RunStartSerializer)
        known = find_targets(self.lab, data["targets"])
        for key in data["targets"]:
            if key not in known:
                field, expected = "target" if "target" in data else "targets", "the id of a target of this lab"
                raise refuse_missing(field, key, f"{expected} (GET /api/v1/targets/)")
        study, configuration = self.find_study(data.get("study"), data.get("configuration"))
        saved = find_saved_workload(self.lab, data["saved_workload"]) if "saved_workload" in data else None
        with transaction.atomic():
            runs = start_on_targets(
                [known[key] for key in data["targets"]], lab=self.lab,
                spec=saved.workload.spec if saved else read_spec(data), options=read_options(data["options"]),
                repetitions=data["repetitions"], who=who(request),
                priority=data["priority"], labels=data["labels"], note=data["note"],
                guards=check_guards(data["guards"]), time_limit=data.get("time_limit"),
            )  # fmt: skip
            if study:
                place_audited(self.lab, runs, study, configuration, who(request))
        return self.answer_started(runs, is_placed=study is not None)

    def find_study(self, slug: str | None, name: str | None) -> tuple[Study | None, Configuration | None]:
        """Return the lab's study and its configuration by slug and name. Raises a 404 for one that is not there."""
        if slug is None and name is None:
            return None, None
        study = Study.objects.filter(lab=self.lab, slug=slug or "").first()
        if study is None:
            expected = "the slug of a study of this lab (GET /api/v1/studies/)"
            raise ProblemError(404, f"study: found {slug!r}, expected {expected}", field="study", found=slug,
                               expected=expected)  # fmt: skip
        configuration = study.configurations.filter(name=name).first() if name is not None else None
        if name is not None and configuration is None:
            names = ", ".join(study.configurations.values_list("name", flat=True)[:50]) or "none, for it has none"
            raise ProblemError(404, f"configuration: found {name!r}, expected one of: {names}", field="configuration",
                               found=name, expected=f"one of: {names}")  # fmt: skip
        return study, configuration

    def answer_started(self, runs: Sequence[Run], *, is_placed: bool = False) -> Response:
        """Return the 201 for runs that were just queued."""
        body = self.represent_started(runs, is_placed=is_placed)
        return Response(body, status=201, headers={"Location": body["url"]})

    @extend_schema(request=RunChangeSerializer, responses={200: RunSerializer, **problems(404, 409)})
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change labels, note or priority of a run of this lab; a priority only while the run is queued."""
        run = get_object_or_404(Run.objects, pk=pk, lab=self.lab)
        data = self.validate_body(RunChangeSerializer)
        with transaction.atomic():
            if "priority" in data:
                set_priority(self.lab, [run.pk], data["priority"], who(request))
                run.refresh_from_db(fields=["state", "priority"])
                if run.priority != data["priority"]:
                    raise refuse_state(run, "a run that is queued")
            describe_run(run, who(request), labels=data.get("labels"), note=data.get("note"))
        return Response(self.represent_again())

    @extend_schema(request=RunAgainSerializer, responses={201: StartedRunSerializer, **problems(404)})
    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: int) -> Response:
        """Start the run's workload on its target once more; repetitions are numbered behind those that there are."""
        run = get_object_or_404(Run.objects.select_related("target", "workload"), pk=pk, lab=self.lab)
        return self.answer_started(run_again(run, who(request), **self.validate_body(RunAgainSerializer)))

    @extend_schema(request=ReasonSerializer, responses={202: RunSerializer, **problems(404, 409)})
    @action(detail=True, methods=["post"])
    def abandon(self, request: Request, pk: int) -> Response:
        """Give up a run whose host has gone quiet (`unknown`).

        The host gets new work when it is back and has said whether it still has this run. A result that it delivers
        then is kept, and the run is `late`.
        """
        run = get_object_or_404(Run.objects.select_related("host"), pk=pk, lab=self.lab)
        if not abandon_run(run, self.validate_body(ReasonSerializer)["reason"], who(request)):
            raise refuse_state(run, "a run that is unknown, for its host has gone quiet")
        return Response(self.represent_again(), status=202)

    @extend_schema(parameters=[BASE])
    def retrieve(self, request: Request, pk: int, format: str | None = None) -> HttpResponseBase:
        """Return one run.

        As CSV it is the run's samples, as a wiki page its facts, workload, samples and caveats. Documents are streamed.
        """
        run = self.get_object()
        permalink = request.build_absolute_uri(run.get_absolute_url())
        form = request.accepted_renderer.format
        if form == "json":
            (found,) = add_findings([run])
            return publish(request, self.get_serializer(found).data, no_document, permalink, beside=[base()])
        caveats = [] if form == "csv" else caveats_of_runs([pk])[pk]
        extent = Extent.of(run.samples.all())
        mark = [self.get_serializer(note_findings(run, caveats)).data, base(), str(extent)]
        return stream(request, mark, lambda: documents.of_run(run, extent, caveats, permalink), permalink)

    @extend_schema(request=None, responses={202: RunSerializer, **problems(409)})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: int) -> Response:
        """Ask the host to stop the run. Until the host has heard of it, the run goes on: `state` says which it is."""
        run = get_object_or_404(Run.objects, pk=pk)
        self.refuse_body()
        if not cancel_run(run, who(request)):
            raise refuse_state(run, "a run that has not ended")
        return Response(self.represent_again(), status=202)

    @extend_schema(request=None, responses={202: RunSerializer, **problems(409)})
    @action(detail=True, methods=["post"], url_path="read-again")
    def read_again(self, request: Request, pk: int) -> Response:
        """Try once more to read a result that was given up. Its bytes are still stored."""
        run = get_object_or_404(Run.objects, pk=pk, lab=self.lab)
        self.refuse_body()
        attempt = read_again(run, who(request))
        if attempt is None:
            raise refuse_state(run, "a run whose result was given up")
        transaction.on_commit(partial(hand_to_worker, ingest_attempt, attempt.pk))  # or the sweeper does
        return Response(self.represent_again(), status=202)

    @extend_schema(responses=SampleSerializer(many=True))
    @action(detail=True, ordering="id", filters=(), filter_backends=())
    def samples(self, request: Request, pk: int) -> Response:
        """Return the samples of one run, with its facts."""
        run = get_object_or_404(Run.objects, pk=pk)
        refuse_unknown_filters(request, ())
        keys: Any = super().paginate_queryset(run.samples.values("id"))
        samples = run.samples.filter(id__in=[key["id"] for key in keys]).order_by("id")
        return self.get_paginated_response(list(rows(samples)))

    @extend_schema(responses=RunGuardsSerializer)
    @action(detail=True, filter_backends=())
    def guards(self, request: Request, pk: int) -> Response:
        """Return what the run's guards were asked for and what they found, on its host and by the lab's inventory."""
        run = get_object_or_404(Run.objects.select_related("host__agent"), pk=pk)
        evidence = find_evidence(run, list(run.attempts.order_by("number")))
        return Response(RunGuardsSerializer({"asked": run.guards, "evidence": evidence}).data)

    @extend_schema(responses=ArtefactSerializer(many=True))
    @action(detail=True, pagination_class=Whole, filter_backends=())
    def artefacts(self, request: Request, pk: int) -> Response:
        """List the raw files of the run, as they came."""
        run = get_object_or_404(Run.objects, pk=pk)
        artefacts = run.artefacts.select_related("artefact")
        context = self.get_serializer_context()
        return Response({"results": ArtefactSerializer(artefacts, many=True, context=context).data})

    @extend_schema(
        operation_id="runs_artefact",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY, **problems(410)},
    )
    def artefact(self, request: Request, pk: int, name: str) -> HttpResponseBase:
        """Return the bytes of one file of a run, to be saved: browsers neither show nor run it."""
        row = get_object_or_404(RunArtefact.objects.select_related("artefact"), run=pk, name=name.replace("\0", "/"))
        return attachment(open_stream(row.artefact), name, row.artefact.size)

    def represent_again(self) -> Json:
        """Return the run as it is after a change."""
        (run,) = add_findings([self.get_object()])
        return dict(self.get_serializer(run).data)

    def represent_started(self, runs: Sequence[Run], *, is_placed: bool = False) -> Json:
        """Return the first of the started runs, with the ids of all.

        Unless they were placed in a study, the database is not asked for it.
        """
        first: Any = note_findings(runs[0], ())
        if not is_placed:
            study_run: Any = Run._meta.get_field("study_run")
            study_run.set_cached_value(first, None)
        first.repetition_ids = [run.pk for run in runs]
        return dict(StartedRunSerializer(first, context=self.get_serializer_context()).data)


def with_related(runs: Any) -> Any:
    """Return the runs with what their representation shows from other tables."""
    late = Attempt.objects.filter(run=OuterRef("pk"), state=State.RUNNING, overdue_at__lt=Now())
    related = runs.select_related("host", "target", "workload", "snapshot", "study_run__configuration__study")
    return related.annotate(is_overdue=Exists(late))


def add_findings(runs: Sequence[Run]) -> list[Any]:
    """Set on each run its caveats if it has ended, else why it waits, with queries that do not grow with them."""
    ended = [run.pk for run in runs if run.has_ended]
    caveats = caveats_of_runs(ended) if ended else {}
    reasons = waiting_reasons(runs)
    return [note_findings(run, caveats.get(run.pk, ()), reasons.get(run.pk, "")) for run in runs]


def note_findings(run: Any, caveats: Iterable[Caveat], waiting_because: str = "") -> Any:
    """Set on the run its caveats and why it waits, and return it."""
    run.caveats, run.waiting_because = list(caveats), waiting_because
    return run


def refuse_state(run: Run, expected: str) -> ProblemError:
    """Return the 409 for a run that is not in the state that the request needs; the caller raises it."""
    return ProblemError(409, f"Run {run.pk} is {run.state}.", field="state", found=run.state, expected=expected)


class QueueRowSerializer(serializers.Serializer[QueueRow]):
    """A running or waiting run, with its place among those of its host."""

    run = serializers.IntegerField(source="run.pk")
    url = serializers.SerializerMethodField()
    host = serializers.IntegerField(source="run.host_id")
    host_name = serializers.CharField(source="run.host.name")
    place = serializers.IntegerField(help_text="0: on its host; else its number among the host's waiting runs")
    state = serializers.CharField(source="run.state")
    priority = serializers.CharField(help_text="high, normal or low")
    target = serializers.IntegerField(source="run.target_id", allow_null=True)
    target_name = serializers.CharField(source="run.target.name", allow_null=True)
    tool = serializers.CharField(source="run.tool")
    operations = serializers.CharField(source="run.operations")
    repetition = serializers.IntegerField(source="run.repetition")
    labels = serializers.DictField(source="run.labels")
    note = serializers.CharField(source="run.note")
    created_by = serializers.CharField(source="run.created_by")
    created_at = serializers.DateTimeField(source="run.created_at")
    started_at = serializers.DateTimeField(source="run.started_at", allow_null=True)
    reason = serializers.CharField(help_text="why it waits, or what is special about a running one; may be empty")
    progress = NumberField(source="run.progress")
    seconds_left = NumberField(allow_null=True, help_text="until it ends, of a running one, about; null: not known")
    seconds_before = NumberField(allow_null=True, help_text="until it begins, of a waiting one, about; null: not known")

    @extend_schema_field(serializers.URLField)
    def get_url(self, row: QueueRow) -> str:
        address: str = self.context["request"].build_absolute_uri(reverse("api-run", args=[row.run.pk]))
        return address


class QueuedRunsSerializer(KnownFieldsSerializer):
    """Runs of the queue."""

    runs = serializers.ListField(
        child=serializers.IntegerField(min_value=1), allow_empty=False, max_length=MOST_AT_ONCE, help_text="ids"
    )


class QueuePrioritySerializer(QueuedRunsSerializer):
    """A priority for runs of the queue."""

    priority = PriorityField()


class QueueMoveSerializer(KnownFieldsSerializer):
    """Where a run of the queue shall go."""

    run = serializers.IntegerField(min_value=1, help_text="id of a queued run")
    to = serializers.CharField(help_text=f"one of: {', '.join(MOVES)}")


class QueueAbandonSerializer(ReasonSerializer):
    """A host that has gone quiet, and why its runs are given up."""

    host = serializers.IntegerField(min_value=1, help_text="id")
    cancel_waiting = serializers.BooleanField(default=False, help_text="cancel the runs that wait for it as well")


class ChangedRunsSerializer(serializers.Serializer[Any]):
    """The runs that a request changed; those that had ended or had it already are left out."""

    runs = serializers.ListField(child=serializers.IntegerField(), help_text="ids")


class AbandonedRunsSerializer(serializers.Serializer[Any]):
    """What giving up the runs of a host did."""

    abandoned = serializers.ListField(child=serializers.IntegerField(), help_text="ids")
    cancelled = serializers.ListField(child=serializers.IntegerField(), help_text="ids")


HOST = OpenApiParameter("host", int, description="id of a host")


@extend_schema_view(list=extend_schema(parameters=[HOST]))
class QueueViewSet(ListModelMixin, ScopedViewSet[Run]):
    """The running and waiting runs of the lab, host by host in the order in which each takes them.

    By priority, then as they were moved, then by age.
    """

    keeps_answers = True
    model = Run
    serializer_class = QueueRowSerializer
    pagination_class = NumberedPages
    needed_scope = TokenScope.RUN

    def get_queryset(self) -> Any:
        return find_queue(self.lab)

    def filter_queryset(self, queryset: Any) -> Any:
        refuse_unknown_filters(self.request, ("host", "offset"))
        text = self.request.query_params.get("host", "")
        if not text:
            return queryset
        number = whole_number(text)
        if number is None:
            expected = "the id of a host"
            raise ProblemError(400, f"host: found {text[:80]!r}, expected {expected}", field="host", found=text[:80],
                               expected=expected)  # fmt: skip
        return queryset.filter(host=number)

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        """Return a page of the queue as rows with reasons and times."""
        return queue_rows(super().paginate_queryset(queryset) or [])

    @extend_schema(request=QueuedRunsSerializer, responses={202: ChangedRunsSerializer})
    @action(detail=False, methods=["post"])
    def cancel(self, request: Request) -> Response:
        """Cancel runs of this lab; hosts stop those that have begun as soon as they hear of it."""
        ids = self.validate_body(QueuedRunsSerializer)["runs"]
        runs = list(Run.objects.open().filter(lab=self.lab, pk__in=ids))
        return Response({"runs": cancel_runs(runs, who(request))}, status=202)

    @extend_schema(request=QueuePrioritySerializer, responses=ChangedRunsSerializer)
    @action(detail=False, methods=["post"])
    def priority(self, request: Request) -> Response:
        """Give queued runs of this lab a priority."""
        data = self.validate_body(QueuePrioritySerializer)
        return Response({"runs": set_priority(self.lab, data["runs"], data["priority"], who(request))})

    @extend_schema(request=QueueMoveSerializer, responses={200: ChangedRunsSerializer, **problems(404, 409)})
    @action(detail=False, methods=["post"])
    def move(self, request: Request) -> Response:
        """Move a queued run to the front of its host's queue, or one place up or down.

        One that passes a run of another priority takes over that priority. `runs` is empty where it could go no further.
        """
        data = self.validate_body(QueueMoveSerializer)
        run = get_object_or_404(Run.objects, pk=data["run"], lab=self.lab)
        moved = move_run(run, data["to"], who(request))
        run.refresh_from_db(fields=["state"])
        if not moved and run.state != State.QUEUED:
            raise refuse_state(run, "a run that is queued")
        return Response({"runs": [run.pk] if moved else []})

    @extend_schema(request=QueueAbandonSerializer, responses={202: AbandonedRunsSerializer, **problems(404)})
    @action(detail=False, methods=["post"])
    def abandon(self, request: Request) -> Response:
        """Give up the run of a host that has gone quiet, and cancel those that wait for it if `cancel_waiting` is true."""
        data = self.validate_body(QueueAbandonSerializer)
        host = get_object_or_404(Host.objects, pk=data["host"], lab=self.lab)
        abandoned, cancelled = abandon_host(
            host, data["reason"], who(request), with_waiting=data["cancel_waiting"]
        )  # fmt: skip
        return Response({"abandoned": abandoned, "cancelled": cancelled}, status=202)
