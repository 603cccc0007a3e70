"""Uploads: files in, what was recognised out, and which runs came of it."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from apps.labs.models import AuditEvent, Role, Scope
from apps.lib.uploads import upload_too_large
from apps.publishing import schema
from apps.publishing.authentication import who
from apps.publishing.multipart import FilesParser
from apps.publishing.pagination import page
from apps.publishing.problems import ProblemError
from apps.publishing.resource import resource
from apps.publishing.sending import Beside, receive
from apps.publishing.uploaded import shown_upload, shown_uploads
from apps.uploads.keeping import keep
from apps.uploads.models import Upload
from apps.uploads.sent_paths import keeps_paths
from apps.uploads.taking_back import take_back


@schema.described(schema.Upload, paged=True, methods=["GET"], operation_id="uploads_list", description="Newest first.")
@schema.described(
    schema.Upload, status=202, errors=(400, 411, 413, 507), methods=["POST"], operation_id="uploads_create",
    request={"multipart/form-data": schema.UploadStart},
    parameters=[OpenApiParameter("keep", bool, description="keep what is recognised at once, without a preview")],
    description="Files or archives (zip, tar, gz, bz2, xz, zst). Their bytes are kept before the answer. One small "
    "file is usually read with it; others are read by a worker: ask `url` until `state` is parsed, partly or failed.",
)  # fmt: skip
@keeps_paths
@resource("GET", "POST", needed_scope=Scope.UPLOAD, needed_role=Role.ENGINEER, takes=(FilesParser,))
def uploads(request: Request) -> Response:
    if request.method == "POST":
        return _start(request)
    return page(request, Upload.objects.select_related("study"), lambda found: shown_uploads(request, found), "-id")


def _start(request: Request) -> Response:
    if too_large := upload_too_large(request._request):
        raise ProblemError(413, too_large)
    if _is_in_chunks(request):
        raise ProblemError(
            411, "Found a body in chunks, expected one with a Content-Length: send a file, whose size is known, not a pipe.",
            found="Transfer-Encoding: chunked", expected="Content-Length",
        )  # fmt: skip
    files = request.FILES.getlist("file")
    is_nameless = any(request.POST.getlist("file"))
    if not files or is_nameless:
        names = "a part without a filename" if is_nameless else ", ".join(request.FILES) or "nothing"
        raise ProblemError(
            400, f"file: found {names}, expected one or more files in the part named file", field="file", found=names,
            expected="one or more files in the part named file",
        )  # fmt: skip
    django_request: Any = request._request
    beside = Beside.of(request.data, request.query_params)
    upload, known = receive(django_request.lab, who(request), beside, files)
    shown = shown_upload(request, upload, known)
    return Response(shown, status=202, headers={"Location": shown["url"]})


def _is_in_chunks(request: Request) -> bool:
    """Its end is told by the last chunk alone, and one that was cut off would be taken for a shorter one."""
    return "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "") and not request.META.get("CONTENT_LENGTH")


@schema.described(schema.Upload, errors=(404,), operation_id="uploads_read", parameters=schema.PAGING)
@resource()
def upload(request: Request, pk: int) -> Response:
    """The state, and for each file what was recognised in it: a page of them, the next one at `next`."""
    return Response(shown_upload(request, get_object_or_404(Upload.objects.select_related("study"), pk=pk)))


@schema.described(schema.Upload, errors=(404, 409), request=None, operation_id="uploads_keep")
@resource("POST", needed_scope=Scope.UPLOAD, needed_role=Role.ENGINEER)
def upload_keep(request: Request, pk: int) -> Response:
    """Make runs of what was recognised and is not kept yet. Asking twice keeps nothing twice."""
    found = _read(request, pk)
    count = keep(found)
    AuditEvent.objects.record(found.lab_id, "upload kept", found.name[:200], who=who(request), upload=pk, runs=count)
    return Response(shown_upload(request, found))


@schema.described(schema.Upload, status=202, errors=(404, 409), request=None, operation_id="uploads_take_back")
@resource("POST", needed_scope=Scope.UPLOAD, needed_role=Role.ENGINEER)
def upload_take_back(request: Request, pk: int) -> Response:
    """What was kept by mistake is no run any more; its files are read again from their bytes and wait. Runs that a published report
    describes stay.
    """
    found = _read(request, pk)
    count = take_back(found)
    AuditEvent.objects.record(
        found.lab_id, "runs taken back", found.name[:200], who=who(request), upload=pk, runs=count
    )
    found.refresh_from_db()
    return Response(shown_upload(request, found), status=202)


def _read(request: Request, pk: int) -> Upload:
    """One that has been read, of the token's lab. 409 for any other."""
    django_request: Any = request._request
    found: Upload = get_object_or_404(Upload.objects, pk=pk, lab=django_request.lab)
    if not found.has_ended:
        expected = "an upload that has been read"
        raise ProblemError(409, f"Upload {pk} is {found.state}.", field="state", found=found.state, expected=expected)
    return found
