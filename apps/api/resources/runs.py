"""Runs: list, read, start, cancel, and the files and samples of one."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.ingest import read_again
from apps.agents.queue import waiting_reasons
from apps.agents.tasks import ingest_attempt
from apps.api import documents
from apps.api.authentication import who
from apps.api.conditional import no_document, publish, stream
from apps.api.fields import LinkField, NumberField, PageField
from apps.api.filters import chosen_runs, refuse_unknown_filters
from apps.api.openapi import ANY_FACT, BASE, problems
from apps.api.pagination import Whole
from apps.api.problems import ProblemError
from apps.api.renderers import DOCUMENT
from apps.api.resources.caveats import CaveatSerializer
from apps.api.resources.samples import SampleSerializer
from apps.api.viewsets import ScopedViewSet
from apps.comparison.answer import caveats_of_runs
from apps.comparison.caveats.rule import Caveat
from apps.core.http import attachment
from apps.core.task_queue import publish as hand_to_worker
from apps.core.unit_base import base
from apps.labs.models import TokenScope
from apps.runs.artefacts.store import open_stream
from apps.runs.models import Attempt, Run, RunArtefact
from apps.runs.services import MAX_TARGETS, cancel_run, find_targets, start_on_targets, wrap_single_job
from apps.runs.states import State
from apps.runs.workload import UnknownOptionError
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
    overdue = serializers.SerializerMethodField(
        help_text="it runs longer than three times its estimate and a margin; its host stops it"
    )
    waiting_because = serializers.CharField(help_text="why it has not begun; empty when it has")
    progress = NumberField()
    repetition = serializers.IntegerField()
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
            "waiting_because", "progress", "repetition", "study", "configuration", "host", "host_name", "target",
            "target_name", "snapshot", "place", "labels", "facts", "workload", "sections", "created_by", "created_at",
            "started_at", "finished_at", "samples_url", "series_url", "histograms_url", "artefacts_url", "caveats",
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
        help_text="ids of all runs: of each target its repetitions; the rest of the body is the first",
    )

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "runs")
        read_only_fields = fields


class RunStartSerializer(serializers.Serializer[Any]):
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
        help_text="`{tool, jobs: [{rw, block_size, file_size, …}]}`, or one job's options by themselves"
    )
    repetitions = serializers.IntegerField(default=1, min_value=1, max_value=100)

    def to_internal_value(self, data: Any) -> Any:
        """Refuse an unknown field, for the answer would look as if it had been applied."""
        if isinstance(data, dict) and (unknown := sorted(data.keys() - set(self.fields))):
            raise UnknownOptionError("", unknown[0], data[unknown[0]], self.fields)
        return super().to_internal_value(data)

    def validate(self, attrs: Any) -> Any:
        """Refuse a body with both `target` and `targets`, with neither, or with a target twice."""
        if ("target" in attrs) == ("targets" in attrs):
            found = "both" if "target" in attrs else "neither"
            raise serializers.ValidationError({"target": f"found {found}, expected target or targets"})
        keys = attrs.setdefault("targets", [attrs.get("target")])
        if len(set(keys)) < len(keys):
            raise serializers.ValidationError({"targets": "found a target twice, expected each once"})
        return attrs


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
        description="Newest first. Filters: `state`, `tool`, `origin`, `study`, `host`, `target` (id or name). "
        f"{ANY_FACT}",
    )
)
class RunViewSet(ListModelMixin, ScopedViewSet[Run]):
    """Runs of the lab and of published ones, newest first."""

    model = Run
    serializer_class = RunSerializer
    formats = {"retrieve": DOCUMENT}
    needed_scope = TokenScope.RUN
    filters = None
    ordering = "-id"

    def get_queryset(self) -> Any:
        return with_related(super().get_queryset())

    def filter_queryset(self, queryset: Any) -> Any:
        return with_related(chosen_runs(self.request))

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
                detail = f"{field}: found {key}, expected {expected} (GET /api/v1/targets/)"
                raise ProblemError(404, detail, field=field, found=key, expected=expected)
        runs = start_on_targets(
            [known[key] for key in data["targets"]],
            lab=self.lab,
            spec=wrap_single_job(data["workload"]),
            repetitions=data["repetitions"],
            who=who(request),
        )
        body = self.represent_started(runs)
        return Response(body, status=201, headers={"Location": body["url"]})

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
        if not cancel_run(run, who(request)):
            raise refuse_state(run, "a run that has not ended")
        return Response(self.represent_again(), status=202)

    @extend_schema(request=None, responses={202: RunSerializer, **problems(409)})
    @action(detail=True, methods=["post"], url_path="read-again")
    def read_again(self, request: Request, pk: int) -> Response:
        """Try once more to read a result that was given up. Its bytes are still stored."""
        run = get_object_or_404(Run.objects, pk=pk, lab=self.lab)
        attempt = read_again(run, who(request))
        if attempt is None:
            raise refuse_state(run, "a run whose result was given up")
        hand_to_worker(ingest_attempt, attempt.pk)  # or the sweeper does
        return Response(self.represent_again(), status=202)

    @extend_schema(responses=SampleSerializer(many=True))
    @action(detail=True, ordering="id", filters=())
    def samples(self, request: Request, pk: int) -> Response:
        """Return the samples of one run, with its facts."""
        run = get_object_or_404(Run.objects, pk=pk)
        refuse_unknown_filters(request, ())
        keys: Any = super().paginate_queryset(run.samples.values("id"))
        samples = run.samples.filter(id__in=[key["id"] for key in keys]).order_by("id")
        return self.get_paginated_response(list(rows(samples)))

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

    def represent_started(self, runs: Sequence[Run]) -> Json:
        """Return the first of the started runs, with the ids of all.

        They are in no study yet, so the database is not asked for it.
        """
        first: Any = note_findings(runs[0], ())
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
