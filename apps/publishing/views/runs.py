"""Runs: list, read, start, cancel, and all that one run measured."""

from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from apps.comparison.answer import caveats_of_runs
from apps.labs.models import Role, Scope
from apps.lib.http import attachment
from apps.lib.reader_base import base
from apps.publishing import documents, schema, shown
from apps.publishing.answers import no_document, publish, stream
from apps.publishing.authentication import who
from apps.publishing.choosing import chosen_runs
from apps.publishing.pagination import page
from apps.publishing.problems import ProblemError
from apps.publishing.renderers import DOCUMENT
from apps.publishing.resource import resource
from apps.publishing.rows import Extent, rows
from apps.runs.artefact_store import open_stream
from apps.runs.models import Run, RunArtefact
from apps.runs.start import cancel, find_target, of_jobs, start_runs
from apps.runs.workload import UnknownOptionError

START_FIELDS = frozenset(schema.RunStart().fields)


@schema.described(
    schema.Run, paged=True, errors=(400,), methods=["GET"], operation_id="runs_list", parameters=[schema.BASE],
    description="Newest first. Filters: `state`, `tool`, `origin`, `study`, `host`, `target` (id or name). "
    f"{schema.ANY_FACT}",
)  # fmt: skip
@schema.described(
    schema.StartedRun, status=201, errors=(400, 404), methods=["POST"], operation_id="runs_start",
    request=schema.RunStart,
)  # fmt: skip
@resource("GET", "POST", needed_scope=Scope.RUN, needed_role=Role.ENGINEER)
def runs(request: Request) -> Response:
    if request.method == "POST":
        return _start(request)
    return page(request, shown.with_all(chosen_runs(request)), lambda found: shown.shown_runs(request, found), "-id")


def _start(request: Request) -> Response:
    """What `apps.publishing.starting` has not answered before."""
    if isinstance(request.data, dict) and (unknown := sorted(request.data.keys() - START_FIELDS)):
        raise UnknownOptionError("", unknown[0], request.data[unknown[0]], schema.RunStart().fields)
    asked = schema.RunStart(data=request.data)
    asked.is_valid(raise_exception=True)
    lab: Any = request._request.lab  # type: ignore[attr-defined]
    target = find_target(lab, asked.validated_data["target"])
    if target is None:
        expected = "the id of a target of this lab (GET /api/v1/targets/)"
        found = asked.validated_data["target"]
        raise ProblemError(
            404, f"target: found {found}, expected {expected}", field="target", found=found, expected=expected
        )
    started = start_runs(
        lab=lab,
        target=target,
        spec=of_jobs(asked.validated_data["workload"]),
        repetitions=asked.validated_data["repetitions"],
        who=who(request),
    )
    body = shown.started_runs(request, started)
    return Response(body, status=201, headers={"Location": body["url"]})


def _shown(request: Request, pk: int) -> dict[str, Any]:
    return shown.shown_runs(request, [get_object_or_404(shown.with_all(Run.objects.all()), pk=pk)])[0]


@schema.described(schema.Run, errors=(404,), documents=True, operation_id="runs_read", parameters=[schema.BASE])
@resource(formats=DOCUMENT)
def run(request: Request, pk: int) -> HttpResponseBase:
    """One run; as CSV its samples, as a wiki page its facts, workload, samples and caveats. Documents are streamed."""
    found = get_object_or_404(shown.with_all(Run.objects.all()), pk=pk)
    permalink = request.build_absolute_uri(found.get_absolute_url())
    form = request.accepted_renderer.format
    if form == "json":
        return publish(request, shown.shown_runs(request, [found])[0], no_document, permalink, beside=[base()])
    caveats = [] if form == "csv" else caveats_of_runs([pk])[pk]
    extent = Extent.of(found.samples.all())
    mark = [shown.shown_run(request, found, caveats), base(), str(extent)]
    return stream(request, mark, lambda: documents.of_run(found, extent, caveats, permalink), permalink)


@schema.described(schema.Run, status=202, errors=(404, 409), request=None, operation_id="runs_cancel")
@resource("POST", needed_scope=Scope.RUN, needed_role=Role.ENGINEER)
def run_cancel(request: Request, pk: int) -> Response:
    """Asks the host to stop. It is a wish until the host has heard of it: `state` tells."""
    found = get_object_or_404(Run.objects, pk=pk)
    if not cancel(found, who(request)):
        expected = "a run that has not ended"
        raise ProblemError(409, f"Run {pk} is {found.state}.", field="state", found=found.state, expected=expected)
    return Response(_shown(request, pk), status=202)


@schema.described(schema.Sample, paged=True, errors=(404,), operation_id="runs_samples")
@resource()
def run_samples(request: Request, pk: int) -> Response:
    found = get_object_or_404(Run.objects, pk=pk)
    keys = found.samples.values("id")
    return page(
        request, keys, lambda keys: rows(found.samples.filter(id__in=[key["id"] for key in keys]).order_by("id"))
    )


@schema.described(schema.Artefact, many=True, errors=(404,), operation_id="runs_artefacts")
@resource()
def run_artefacts(request: Request, pk: int) -> Response:
    """The raw bytes as they came."""
    found = get_object_or_404(Run.objects, pk=pk)
    here = request.build_absolute_uri(f"/api/v1/runs/{pk}/artefacts/")
    kept = [
        {
            "name": one.name,
            "kind": one.kind,
            "sha256": one.artefact.sha256,
            "size": one.artefact.size,
            "url": f"{here}{one.name}",
        }
        for one in found.artefacts.select_related("artefact")
    ]
    return Response({"results": kept})


@schema.described(
    schema.Artefact,
    errors=(404, 410),
    operation_id="runs_artefact",
    also={(200, "application/octet-stream"): OpenApiTypes.BINARY},
)
@resource()
def run_artefact(request: Request, pk: int, name: str) -> HttpResponseBase:
    """The bytes, to be saved: never shown or run by a browser."""
    found = get_object_or_404(RunArtefact.objects.select_related("artefact"), run=pk, name=name.replace("\0", "/"))
    return attachment(open_stream(found.artefact), name, found.artefact.size)
