"""The page of one uploaded file: what was parsed from it, line by line, before anything is saved."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.core.http import attachment
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.parsers.core.registry import formats
from apps.runs.artefacts.store import ArtefactStoreError, open_stream
from apps.uploads.file_reader import FileReading
from apps.uploads.forms import UploadedFileForm, hosts_with_targets, whole_numbers
from apps.uploads.host_matching import follow
from apps.uploads.labels import UploadError
from apps.uploads.models import UploadedFile
from apps.uploads.reparse.exclusions import left_out_rows as shown_left_out
from apps.uploads.reparse.services import keep_after_all
from apps.uploads.review.preview import shown_file
from apps.uploads.review.run_selection import Change, preferred, rivalries, ticked, with_choice
from apps.uploads.review.upload_summary import neighbours, rows_of
from apps.uploads.sandbox.parent import SandboxError
from apps.uploads.services import read_again


def find(request: LabRequest, upload: int, pk: int, **narrowed: Any) -> UploadedFile:
    every = UploadedFile.objects.select_related("upload__host", "upload__target", "upload__lab", "artefact", "known_as")
    result: UploadedFile = get_object_or_404(every.defer("known_as__packed"), pk=pk, upload_id=upload, **narrowed)
    return result


def mine(request: LabRequest, upload: int, pk: int) -> UploadedFile:
    return find(request, upload, pk, upload__lab=request.lab)


@member_required()
def file(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    return _shown(request, find(request, upload, pk))


def _shown(
    request: LabRequest, file: UploadedFile, form: UploadedFileForm | None = None, status: int = 200
) -> HttpResponse:
    hosts = hosts_with_targets(file.upload.lab)
    context = {
        "file": file,
        "row": rows_of(file.upload, [file], hosts)[0],
        "neighbours": neighbours(file),
        "left_out": shown_left_out(file.left_out),
        "formats": formats(),
        "form": form or UploadedFileForm.of(file, hosts),
        "may_change": request.member.covers(Role.ENGINEER) and file.upload.lab_id == request.lab.pk,
        **shown_file(file, request.GET.get("page")),
    }
    template = "uploads/_file.html" if request.htmx else "uploads/file.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


@member_required()
def raw(request: LabRequest, upload: int, pk: int) -> HttpResponseBase:
    """Return the file's bytes as a download."""
    result = find(request, upload, pk)
    if result.artefact is None:
        raise Http404
    return attachment(open_stream(result.artefact), result.name.rsplit("/", 1)[-1], result.artefact.size)


@require_POST
@member_required(Role.ENGINEER)
def choose(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Store the ticks of a page (`run`, among `shown`), or the format to `prefer` in a `conflict`."""
    result = mine(request, upload, pk)
    try:
        with_choice(result.pk, _change(request))
    except UploadError as error:
        messages.warning(request, f"Nothing was changed: found {error.found}, expected {error.expected}.")
    if request.htmx:  # type: ignore[attr-defined]
        return _shown(request, mine(request, upload, pk))
    return redirect(result)


def _change(request: LabRequest) -> Change:
    on_page, ticks, conflict = (whole_numbers(request.POST.getlist(name)) for name in ("shown", "run", "conflict"))
    if not conflict:
        return lambda result: ticked(result, on_page, ticks)

    def change(reading: FileReading) -> FileReading:
        every = rivalries(reading)[conflict[0] :]
        return preferred(reading, every[0], request.POST.get("prefer", "")) if every else reading

    return change


@require_POST
@member_required(Role.ENGINEER)
def belongs(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Set host, target and labels of a file; its saved runs follow."""
    result = mine(request, upload, pk)
    form = UploadedFileForm(request.lab, hosts_with_targets(request.lab), request.POST)
    if not form.is_valid():
        return _shown(request, result, form, 422)
    with transaction.atomic():
        result = (
            UploadedFile.objects.light().held().select_related("upload").get(pk=result.pk)
        )  # it may be kept just now
        place, labels = result.place, result.labels
        (result.host, result.target), result.labels = form.cleaned_data["place"], form.cleaned_data["labels"]
        result.guessed = ""
        result.save(update_fields=["host", "target", "labels", "guessed"])
        moved = follow(result, place, labels) if result.kept_at else 0
    if moved:
        AuditEvent.objects.record(
            request.lab.pk, "runs moved", result.name[-200:], actor=str(request.user), upload=upload, runs=moved,
            to=str(result.target or result.host or ""), labels=result.labels,
        )  # fmt: skip
    messages.success(request, f"Saved, for {moved} kept run{'s' * (moved != 1)}." if moved else "Saved.")
    return redirect(result)


@require_POST
@member_required(Role.ENGINEER)
def left_out(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Save the runs in `run` (indices in `left_out`) that were left out before."""
    result = mine(request, upload, pk)
    wanted = whole_numbers(request.POST.getlist("run"))
    try:
        stored = keep_after_all(result, wanted)
    except UploadError as error:
        messages.warning(request, f"Nothing was kept: found {error.found}, expected {error.expected}.")
        return redirect(result)
    except (SandboxError, ArtefactStoreError) as error:
        messages.warning(request, f"Nothing was kept: {result.name} could not be read again: {error}")
        return redirect(result)
    AuditEvent.objects.record(
        request.lab.pk,
        "upload kept",
        result.upload.name[:200],
        actor=str(request.user),
        upload=upload,
        runs=len(stored),
    )
    messages.success(request, f"{len(stored)} run{'s' * (len(stored) != 1)} kept after all.")
    return redirect(result)


@require_POST
@member_required(Role.ENGINEER)
def again(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Parse the file again, as the format in `only` or as any."""
    result = mine(request, upload, pk)
    only = request.POST.get("only", "")
    try:
        if only and only not in {item.name for item in formats()}:
            raise UploadError("format", only, "the name of a format")
        read_again(result, only=only)
    except UploadError as error:
        messages.warning(request, f"It was not read again: found {error.found}, expected {error.expected}.")
    return redirect(result)
