"""Descriptions of machines that lay among the uploaded files: taken to a host, or declined."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.uploads import taking
from apps.uploads.forms import whole_numbers
from apps.uploads.models import FoundInventory


@require_POST
@member_required(Role.ENGINEER)
def decide(request: LabRequest, pk: int) -> HttpResponse:
    """`act`: take (to `host`) or decline."""
    every = FoundInventory.objects.select_related("file__upload", "file__artefact").defer("file__packed")
    found = get_object_or_404(every, pk=pk, file__upload__lab=request.lab)
    if request.POST.get("act") == "decline":
        taking.decline(found)
        messages.success(request, f"{found.summary}: declined. Its bytes are kept.")
    elif (host := _host(request)) is None:
        messages.warning(request, f"{found.summary}: choose the host that it describes.")
    else:
        messages.success(request, taking.take(found, host))
        AuditEvent.objects.record(
            request.lab.pk, "inventory taken", str(host), who=str(request.user), tool=found.tool, found=found.pk
        )
    return redirect(f"{found.file.upload.get_absolute_url()}#inventory")


def _host(request: LabRequest) -> Host | None:
    found: Host | None = Host.objects.filter(
        pk__in=whole_numbers([request.POST.get("host", "")]), lab=request.lab
    ).first()
    return found
