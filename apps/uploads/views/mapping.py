"""What a table's columns mean: asked of a person, tried out while they answer, remembered for the next table."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.runs.artefact_store import ArtefactStoreError
from apps.uploads.mapped import TRIED, from_form, last_mapping, remember, try_out
from apps.uploads.mapping_dialog import asked
from apps.uploads.models import UploadedFile
from apps.uploads.preview import RunPages, has_points
from apps.uploads.reading import FileReading
from apps.uploads.receiving import UploadError, read_again
from apps.uploads.sandbox.parent import SandboxError
from apps.uploads.views.files import mine


@member_required(Role.ENGINEER)
def mapping(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """GET: the last mapping of such a table, else a guess. POST: `act` is look or use; htmx only looks."""
    file = mine(request, upload, pk)
    try:
        found = try_out(file, None)
        if not found.table:
            raise SandboxError(str(found.error or "there is no table in it"))
        said = _said(request, file, found)
        found = try_out(file, said)
    except (SandboxError, ArtefactStoreError) as error:
        messages.warning(request, f"{file.name} cannot be read as a table: {error}")
        return redirect(file)
    if request.method == "POST" and request.POST.get("act") == "use" and not request.htmx:  # type: ignore[attr-defined]
        if not found.table["questions"] and found.runs:
            return _use(request, file, said, found.table["signature"])
        return _shown(request, file, found, said, 422)
    return _shown(request, file, found, said)


def _said(request: LabRequest, file: UploadedFile, found: FileReading) -> dict[str, Any]:
    if request.method == "POST":
        return from_form(request.POST, found.table["columns"])
    last = last_mapping(file, found.table["signature"])
    said: dict[str, Any] = file.mapping or (last.mapping if last else found.table["guess"])
    return said


def _shown(
    request: LabRequest, file: UploadedFile, found: FileReading, said: dict[str, Any], status: int = 200
) -> HttpResponse:
    pages = RunPages(found)
    runs = pages[0] if pages else []
    context = {
        "file": file,
        "found": found,
        "table": found.table,
        "asked": asked(found, said),
        "runs": runs,
        "has_points": has_points(runs),
        "last": last_mapping(file, found.table["signature"]),
        "is_refused": status == 422,
        "is_cut": file.size > TRIED,
        "tried": TRIED,
    }
    template = "uploads/_mapping.html" if request.htmx else "uploads/mapping.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


def _use(request: LabRequest, file: UploadedFile, said: dict[str, Any], signature: str) -> HttpResponse:
    try:
        read_again(file, mapping=said)
    except UploadError as error:
        messages.warning(request, f"It was not read again: found {error.found}, expected {error.expected}.")
        return redirect(file)
    remember(file, signature, said, str(request.user))
    AuditEvent.objects.record(request.lab.pk, "table mapped", file.name[:200], who=str(request.user), file=file.pk)
    messages.success(request, "The mapping is saved, and used for the next table of this look too.")
    return redirect(file)
