"""The view that reverts saved runs: a preview first, then the deletion."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.core.task_queue import publish
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.uploads.forms import whole_numbers
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.revert import preview_revert, take_back
from apps.uploads.tasks import take_back_upload

AT_ONCE = 200  # runs that one request takes back


@member_required(Role.ENGINEER)
def taken_back(request: LabRequest, pk: int) -> HttpResponse:
    """Show what reverting an upload, or its file `file`, deletes; on POST, do it."""
    upload = get_object_or_404(Upload.objects.select_related("lab"), pk=pk, lab=request.lab)
    query = (request.POST if request.method == "POST" else request.GET).get("file")
    files = whole_numbers([query]) if query else None
    file = UploadedFile.objects.filter(upload=upload, pk__in=files).light().first() if files else None
    going = preview_revert(upload, files)
    back = file or upload
    if request.method != "POST":
        context = {"upload": upload, "file": file, "going": going, "back": back}
        return render(request, "uploads/take-back.html", context)
    is_for_worker = going.runs > AT_ONCE
    if is_for_worker and not publish(take_back_upload, upload.pk, files):
        message = "Nothing was undone: Redis, which brings work to the workers, does not answer. Try again soon."
        messages.warning(request, message)
        return redirect(back)
    AuditEvent.objects.record(
        request.lab.pk, "runs taken back", upload.name[:200], actor=str(request.user), upload=pk, runs=going.runs, files=going.files
    )  # fmt: skip
    if is_for_worker:
        messages.success(request, f"{going.runs} runs are being removed; that goes on without this page.")
    else:
        count = take_back(upload, files)
        messages.success(request, f"{count} run{'s' * (count != 1)} removed. The preview is shown again in a moment.")
    return redirect(back)
