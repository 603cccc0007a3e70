"""One file of an upload: what was recognised in it, line by line, before anything is kept."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.lib.http import attachment
from apps.parsers.registry import formats
from apps.runs.artefact_store import ArtefactStoreError, open_stream
from apps.uploads.choosing import Change, preferred, rivalries, ticked, with_choice
from apps.uploads.forms import FileForm, whole_numbers
from apps.uploads.left_out import shown as shown_left_out
from apps.uploads.models import UploadedFile
from apps.uploads.moving import follow
from apps.uploads.places import hosts_with_targets
from apps.uploads.preview import shown_file
from apps.uploads.reading import FileReading
from apps.uploads.receiving import UploadError, read_again
from apps.uploads.reparsing import keep_after_all
from apps.uploads.sandbox.parent import SandboxError
from apps.uploads.shown import neighbours, rows_of


def find(request: LabRequest, upload: int, pk: int, **narrowed: Any) -> UploadedFile:
    every = UploadedFile.objects.select_related("upload__host", "upload__target", "upload__lab", "artefact", "known_as")
    found: UploadedFile = get_object_or_404(every.defer("known_as__packed"), pk=pk, upload_id=upload, **narrowed)
    return found


def mine(request: LabRequest, upload: int, pk: int) -> UploadedFile:
    return find(request, upload, pk, upload__lab=request.lab)


@member_required()
def file(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    return _shown(request, find(request, upload, pk))


def _shown(request: LabRequest, file: UploadedFile, form: FileForm | None = None, status: int = 200) -> HttpResponse:
    hosts = hosts_with_targets(file.upload.lab)
    context = {
        "file": file,
        "row": rows_of(file.upload, [file], hosts)[0],
        "neighbours": neighbours(file),
        "left_out": shown_left_out(file.left_out),
        "formats": formats(),
        "form": form or FileForm.of(file, hosts),
        "may_change": request.member.covers(Role.ENGINEER) and file.upload.lab_id == request.lab.pk,
        **shown_file(file, request.GET.get("page")),
    }
    template = "uploads/_file.html" if request.htmx else "uploads/file.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


@member_required()
def raw(request: LabRequest, upload: int, pk: int) -> HttpResponseBase:
    """The bytes as they came; always a download."""
    found = find(request, upload, pk)
    if found.artefact is None:
        raise Http404
    return attachment(open_stream(found.artefact), found.name.rsplit("/", 1)[-1], found.artefact.size)


@require_POST
@member_required(Role.ENGINEER)
def choose(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Ticks (`run`, of those `shown`), or one format of a `conflict` (`prefer`)."""
    found = mine(request, upload, pk)
    try:
        with_choice(found.pk, _change(request))
    except UploadError as error:
        messages.warning(request, f"Nothing was changed: found {error.found}, expected {error.expected}.")
    if request.htmx:  # type: ignore[attr-defined]
        return _shown(request, mine(request, upload, pk))
    return redirect(found)


def _change(request: LabRequest) -> Change:
    shown, ticks, conflict = (whole_numbers(request.POST.getlist(name)) for name in ("shown", "run", "conflict"))
    if not conflict:
        return lambda found: ticked(found, shown, ticks)

    def change(found: FileReading) -> FileReading:
        every = rivalries(found)[conflict[0] :]
        return preferred(found, every[0], request.POST.get("prefer", "")) if every else found

    return change


@require_POST
@member_required(Role.ENGINEER)
def belongs(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Host, target and labels of this file, before its upload's; runs that were kept of it follow."""
    found = mine(request, upload, pk)
    form = FileForm(request.lab, hosts_with_targets(request.lab), request.POST)
    if not form.is_valid():
        return _shown(request, found, form, 422)
    with transaction.atomic():
        found = UploadedFile.objects.light().held().select_related("upload").get(pk=found.pk)  # it may be kept just now
        place, labels = found.place, found.labels
        (found.host, found.target), found.labels = form.cleaned_data["place"], form.cleaned_data["labels"]
        found.guessed = ""
        found.save(update_fields=["host", "target", "labels", "guessed"])
        moved = follow(found, place, labels) if found.kept_at else 0
    if moved:
        AuditEvent.objects.record(
            request.lab.pk, "runs moved", found.name[-200:], who=str(request.user), upload=upload, runs=moved,
            to=str(found.target or found.host or ""), labels=found.labels,
        )  # fmt: skip
    messages.success(request, f"Saved, for {moved} kept run{'s' * (moved != 1)}." if moved else "Saved.")
    return redirect(found)


@require_POST
@member_required(Role.ENGINEER)
def left_out(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Keep after all: the runs in `run`, by their places among those that were left out."""
    found = mine(request, upload, pk)
    wanted = whole_numbers(request.POST.getlist("run"))
    try:
        kept = keep_after_all(found, wanted)
    except UploadError as error:
        messages.warning(request, f"Nothing was kept: found {error.found}, expected {error.expected}.")
        return redirect(found)
    except (SandboxError, ArtefactStoreError) as error:
        messages.warning(request, f"Nothing was kept: {found.name} could not be read again: {error}")
        return redirect(found)
    AuditEvent.objects.record(
        request.lab.pk, "upload kept", found.upload.name[:200], who=str(request.user), upload=upload, runs=len(kept)
    )
    messages.success(request, f"{len(kept)} run{'s' * (len(kept) != 1)} kept after all.")
    return redirect(found)


@require_POST
@member_required(Role.ENGINEER)
def again(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Read it again: as the format in `only`, or, without one, as what it looks like."""
    found = mine(request, upload, pk)
    only = request.POST.get("only", "")
    try:
        if only and only not in {one.name for one in formats()}:
            raise UploadError("format", only, "the name of a format")
        read_again(found, only=only)
    except UploadError as error:
        messages.warning(request, f"It was not read again: found {error.found}, expected {error.expected}.")
    return redirect(found)
