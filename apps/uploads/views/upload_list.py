"""The list of uploads, and the receipt of files: all in one form, or one request per file from a script."""

from itertools import zip_longest
from typing import Any

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.core.files.base import ContentFile
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from apps.core.http import upload_too_large
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.runs.artefacts.store import ArtefactStoreError
from apps.uploads.forms import UploadForm, hosts_with_targets
from apps.uploads.models import Upload
from apps.uploads.multipart import keeps_paths, sent_name
from apps.uploads.services import SentFile, add_sent_files, receive_upload

PAGE = 50
PASTED = "pasted.txt"


@csrf_exempt  # checked below: the check reads the body, and who sends it and how large it is are asked first
@keeps_paths
@member_required()
def uploads(request: LabRequest) -> HttpResponseBase:
    if request.method != "POST":
        return _list(request)
    problem, status = _unfit(request)
    return _list(request, problem=problem, status=status) if problem else _start(request)


@csrf_exempt
@keeps_paths
@require_POST
@member_required(Role.ENGINEER)
def add(request: LabRequest, pk: int) -> HttpResponseBase:
    """Store more files of an upload, in parts `file` with their paths in parts `path`, all or none."""
    problem, status = _unfit(request)
    return JsonResponse({"error": problem}, status=status) if problem else _add(request, pk)


def _unfit(request: HttpRequest) -> tuple[str, int]:
    """Return why the body is refused and the status, or an empty string and 200."""
    if too_large := upload_too_large(request):
        return too_large, 413
    try:
        _ = request.POST
    except TooManyFilesSent:
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return f"Found more than {most} files in one form, expected at most {most}; send them as an archive.", 400
    return "", 200


def _list(request: LabRequest, form: UploadForm | None = None, problem: str = "", status: int = 200) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"error": problem or _sentence(form)}, status=status)
    context: dict[str, object] = {"page": _page(request), "problem": problem}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "uploads/_rows.html", context, status=status)
    context["form"] = form or UploadForm(request.lab, hosts_with_targets(request.lab))
    return render(request, "uploads/list.html", context | {"most": settings.MAX_UPLOAD}, status=status)


def _page(request: LabRequest) -> "Page[Upload]":
    """Return a page of uploads; files are counted for its uploads only, because counting all takes long in an old lab."""
    every = Upload.objects.filter(lab=request.lab).newest()
    page: Any = Paginator(every.values_list("pk", flat=True), PAGE).get_page(request.GET.get("page"))
    page.object_list = every.filter(pk__in=list(page.object_list)).with_counts().select_related("study", "host")
    return page  # type: ignore[no-any-return]


@member_required(Role.ENGINEER)
@csrf_protect
def _start(request: LabRequest) -> HttpResponseBase:
    form = UploadForm(request.lab, hosts_with_targets(request.lab), request.POST)
    if not form.is_valid():
        return _list(request, form, status=422)
    files: list[SentFile] = [(sent_name(file), file) for file in request.FILES.getlist("file")]
    if pasted := form.cleaned_data["pasted"].strip("\r\n"):
        files.append((PASTED, ContentFile(pasted.encode() + b"\n")))
    if not files and not _wants_json(request):
        return _list(request, form, "Found no file and no text; choose at least one.", 400)
    name = request.POST.get("name") or (files[0][0] if files else "files")
    try:
        upload = receive_upload(
            request.lab,
            files,
            name=name,
            door=Upload.Door.PAGE,
            actor=str(request.user),
            may_be_partial=True,
            **form.words,
        )
    except ArtefactStoreError as error:
        return _list(request, form, str(error), 507)
    if _wants_json(request):
        return JsonResponse(
            {"page": upload.get_absolute_url(), "add": reverse("upload-add", args=[upload.pk])}, status=201
        )
    return redirect(upload)


@csrf_protect
def _add(request: LabRequest, pk: int) -> HttpResponse:
    upload = get_object_or_404(Upload, pk=pk, lab=request.lab)
    files, paths = request.FILES.getlist("file"), request.POST.getlist("path")
    if not files:
        return JsonResponse({"error": "Found no part named file, expected one with the file's bytes."}, status=400)
    if paths and len(paths) != len(files):
        message = f"Found {len(paths)} parts named path for {len(files)} files, expected one for each."
        return JsonResponse({"error": message}, status=400)
    try:
        add_sent_files(upload, [(path or sent_name(file), file) for file, path in zip_longest(files, paths)])
    except ArtefactStoreError as error:
        return JsonResponse({"error": str(error)}, status=507)
    return JsonResponse({}, status=201)


def _wants_json(request: HttpRequest) -> bool:
    return request.method == "POST" and request.headers.get("Accept") == "application/json"


def _sentence(form: UploadForm | None) -> str:
    errors = form.errors.as_data().items() if form else ()
    return " ".join(f"{form[name].label}: {error[0].message}" for name, error in errors if form)
