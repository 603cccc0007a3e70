"""Uploads: files in, what was recognised out, and which runs came of it."""

from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.inventory.models import Host, Target
from apps.labs.models import AuditEvent, Role, Scope
from apps.lib.uploads import upload_too_large
from apps.publishing import schema
from apps.publishing.authentication import who
from apps.publishing.pagination import page
from apps.publishing.problems import ProblemError
from apps.publishing.resource import resource
from apps.publishing.uploaded import shown_upload, shown_uploads
from apps.runs.artefact_store import SMALL
from apps.studies.models import Study
from apps.uploads.at_once import reading_here
from apps.uploads.keeping import keep
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.parsing import parse_at_once
from apps.uploads.receiving import add_file, hand_over, labels_from_text, open_upload

_TRUE = ("1", "true", "yes")


@schema.described(schema.Upload, paged=True, methods=["GET"], operation_id="uploads_list", description="Newest first.")
@schema.described(
    schema.Upload, status=202, errors=(400, 404, 413, 507), methods=["POST"], operation_id="uploads_create",
    request={"multipart/form-data": schema.UploadStart},
    parameters=[OpenApiParameter("keep", bool, description="keep what is recognised at once, without a preview")],
    description="Files or archives (zip, tar, gz, bz2, xz, zst). Their bytes are kept before the answer. One small "
    "file is usually read with it; others are read by a worker: ask `url` until `state` is parsed, partly or failed.",
)  # fmt: skip
@resource("GET", "POST", needed_scope=Scope.UPLOAD, needed_role=Role.ENGINEER, takes=(MultiPartParser,))
def uploads(request: Request) -> Response:
    if request.method == "POST":
        return _start(request)
    return page(request, Upload.objects.select_related("study"), lambda found: shown_uploads(request, found), "-id")


def _start(request: Request) -> Response:
    if too_large := upload_too_large(request._request):
        raise ProblemError(413, too_large)
    files = request.FILES.getlist("file")
    if not files:
        names = ", ".join(request.FILES) or "nothing"
        raise ProblemError(
            400, f"file: found {names}, expected one or more files in the part named file", field="file", found=names,
            expected="one or more files in the part named file",
        )  # fmt: skip
    upload, known = _read(request, files)
    shown = shown_upload(request, upload, known)
    return Response(shown, status=202, headers={"Location": shown["url"]})


def _read(request: Request, files: list[Any]) -> tuple[Upload, list[UploadedFile] | None]:
    """A small one at once, and what became of it; for others a worker is called when they are on the disk."""
    small = [files[0].read()] if len(files) == 1 and files[0].size <= SMALL else []
    with reading_here(small) as is_here:
        upload, file = _taken(request, files, is_here)
        if is_here and parse_at_once(upload, file, small[0]):
            return upload, [file]
        hand_over(upload)
    return upload, None


@transaction.atomic
def _taken(request: Request, files: list[Any], is_here: bool) -> tuple[Upload, UploadedFile]:
    """The upload and the last of its files: all of it or nothing, and one wait for the disk."""
    body: Any = request.data
    paths = body.getlist("path")
    upload = open_upload(
        request._request.lab,  # type: ignore[attr-defined]
        (paths or [files[0].name])[0],
        door=Upload.Door.REST,
        who=who(request),
        study=_named(request, Study, "study", "slug"),
        host=_named(request, Host, "host", "name"),
        target=_named(request, Target, "target", "name"),
        labels=labels_from_text(body.get("labels", "")),
        keep_at_once=_is_keeping(request),
        is_claimed=is_here,
    )
    for place, sent in enumerate(files):
        file = add_file(upload, paths[place] if place < len(paths) else sent.name, sent.chunks())
    AuditEvent.objects.record(upload.lab_id, "files uploaded", upload.name[:200], who=who(request), upload=upload.pk)
    return upload, file


def _is_keeping(request: Request) -> bool:
    body: Any = request.data
    asked = request.query_params.get("keep") or body.get("keep", "")
    return str(asked).lower() in _TRUE


def _named(request: Request, model: Any, field: str, name: str) -> Any:
    """By id or by name; of this lab, or it is not there."""
    body: Any = request.data
    asked = str(body.get(field, "")).strip()
    if not asked:
        return None
    found = list(model.objects.filter(**{"pk" if asked.isdecimal() and len(asked) < 19 else name: asked})[:2])
    if len(found) != 1:
        expected = f"the id or {name} of one {field} of this lab"
        raise ProblemError(
            404, f"{field}: found {asked!r}, expected {expected}", field=field, found=asked, expected=expected
        )
    return found[0]


@schema.described(schema.Upload, errors=(404,), operation_id="uploads_read")
@resource()
def upload(request: Request, pk: int) -> Response:
    """The state, and for each file what was recognised in it."""
    return Response(shown_upload(request, get_object_or_404(Upload.objects.select_related("study"), pk=pk)))


@schema.described(schema.Upload, errors=(404, 409), request=None, operation_id="uploads_keep")
@resource("POST", needed_scope=Scope.UPLOAD, needed_role=Role.ENGINEER)
def upload_keep(request: Request, pk: int) -> Response:
    """Make runs of what was recognised and is not kept yet. Asking twice keeps nothing twice."""
    found = get_object_or_404(Upload.objects, pk=pk)
    if not found.has_ended:
        expected = "an upload that has been read"
        raise ProblemError(409, f"Upload {pk} is {found.state}.", field="state", found=found.state, expected=expected)
    count = keep(found)
    AuditEvent.objects.record(found.lab_id, "upload kept", found.name[:200], who=who(request), upload=pk, runs=count)
    return Response(shown_upload(request, found))
