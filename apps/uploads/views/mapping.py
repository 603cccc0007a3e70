"""The dialog that maps a table's columns: tried out while the person answers, saved for the next table."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.runs.artefacts.store import ArtefactStoreError
from apps.uploads.file_reader import FileReading
from apps.uploads.labels import UploadError
from apps.uploads.models import UploadedFile
from apps.uploads.review.preview import RunPages, has_points
from apps.uploads.review.table_mapping import TRIED, build_dialog, from_form, last_mapping, remember, try_out
from apps.uploads.sandbox.parent import SandboxError
from apps.uploads.services import read_again
from apps.uploads.views.files import mine


@member_required(Role.ENGINEER)
def mapping(request: LabRequest, upload: int, pk: int) -> HttpResponse:
    """Show the mapping dialog of a table with the last mapping or a guess.

    On POST, try the form's mapping or use it (`act`).
    """
    file = mine(request, upload, pk)
    try:
        result = try_out(file, None)
        if not result.table:
            raise SandboxError(str(result.error or "there is no table in it"))
        text = _said(request, file, result)
        result = try_out(file, text)
    except (SandboxError, ArtefactStoreError) as error:
        messages.warning(request, f"{file.name} cannot be read as a table: {error}")
        return redirect(file)
    if request.method == "POST" and request.POST.get("act") == "use" and not request.htmx:  # type: ignore[attr-defined]
        if not result.table["questions"] and result.runs:
            return _use(request, file, text, result.table["signature"])
        return _shown(request, file, result, text, 422)
    return _shown(request, file, result, text)


def _said(request: LabRequest, file: UploadedFile, reading: FileReading) -> dict[str, Any]:
    if request.method == "POST":
        return from_form(request.POST, reading.table["columns"])
    last = last_mapping(file, reading.table["signature"])
    text: dict[str, Any] = file.mapping or (last.mapping if last else reading.table["guess"])
    return text


def _shown(
    request: LabRequest, file: UploadedFile, reading: FileReading, text: dict[str, object], status: int = 200
) -> HttpResponse:
    pages = RunPages(reading)
    runs = pages[0] if pages else []
    context = {
        "file": file,
        "found": reading,
        "table": reading.table,
        "asked": build_dialog(reading, text),
        "runs": runs,
        "has_points": has_points(runs),
        "last": last_mapping(file, reading.table["signature"]),
        "is_refused": status == 422,
        "is_cut": file.size > TRIED,
        "tried": TRIED,
    }
    template = "uploads/_mapping.html" if request.htmx else "uploads/mapping.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


def _use(request: LabRequest, file: UploadedFile, text: dict[str, object], signature: str) -> HttpResponse:
    try:
        read_again(file, mapping=text)
    except UploadError as error:
        messages.warning(request, f"It was not read again: found {error.found}, expected {error.expected}.")
        return redirect(file)
    remember(file, signature, text, str(request.user))
    AuditEvent.objects.record(request.lab.pk, "table mapped", file.name[:200], actor=str(request.user), file=file.pk)
    messages.success(request, "The mapping is saved, and used for the next table of this look too.")
    return redirect(file)
