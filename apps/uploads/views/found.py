"""Descriptions of machines that lay among the uploaded files: taken to a host, or declined."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.uploads import taking
from apps.uploads.forms import whole_numbers
from apps.uploads.models import FoundInventory, Upload
from apps.uploads.taking_all import Outcome, StaleError, take_all, what_if

_TOLD = 5  # of each host, that did not go into the inventory


@require_POST
@member_required(Role.ENGINEER)
def decide(request: LabRequest, pk: int) -> HttpResponse:
    """`act`: take (to `host`) or decline."""
    every = FoundInventory.objects.select_related("file__upload", "file__artefact").defer("file__packed")
    with transaction.atomic():
        held = every.select_for_update(of=("self",))  # its file may be being read again, which makes its pieces anew
        found = get_object_or_404(held, pk=pk, file__upload__lab=request.lab)
        _decide(request, found)
    return redirect(f"{found.file.upload.get_absolute_url()}#inventory")


def _decide(request: LabRequest, found: FoundInventory) -> None:
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


@member_required(Role.ENGINEER)
def all_of(request: LabRequest, pk: int) -> HttpResponse:
    """GET: what would change if all whose host is sure were taken. POST: take them, if `digest` is of what was shown."""
    upload = get_object_or_404(Upload.objects.select_related("host", "lab"), pk=pk, lab=request.lab)
    if request.method != "POST":
        return _shown(request, upload, what_if(upload))
    try:
        outcome = take_all(upload, request.POST.get("digest", ""))
    except StaleError as stale:
        return _shown(request, upload, stale.outcome, str(stale), 409)
    for one in outcome.hosts:
        tools = ", ".join(dict.fromkeys(found.tool for found, _ in one.taken))
        AuditEvent.objects.record(
            request.lab.pk, "inventory taken", str(one.host), who=str(request.user), tool=tools,
            found=[found.pk for found, _ in one.taken],
        )  # fmt: skip
        messages.success(request, f"{one.host}: {len(one.taken)} description{'s' * (len(one.taken) != 1)} taken.")
        for found, words in [pair for pair in one.taken if pair[1]][:_TOLD]:
            messages.warning(request, f"{found.summary}: {words}.")
    return redirect(f"{upload.get_absolute_url()}#inventory")


def _shown(request: LabRequest, upload: Upload, outcome: Outcome, stale: str = "", status: int = 200) -> HttpResponse:
    context = {"upload": upload, "outcome": outcome, "stale": stale}
    return render(request, "uploads/inventory.html", context, status=status)


def _host(request: LabRequest) -> Host | None:
    found: Host | None = Host.objects.filter(
        pk__in=whole_numbers([request.POST.get("host", "")]), lab=request.lab
    ).first()
    return found
