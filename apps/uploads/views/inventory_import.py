"""Views that import the inventory outputs of an upload into hosts, or decline them."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.uploads import inventory_import
from apps.uploads.forms import whole_numbers
from apps.uploads.inventory_import import ImportOutcome, StaleImportError, import_all, preview_import
from apps.uploads.models import FoundInventory, Upload

_TOLD = 5  # of each host, that did not go into the inventory


@require_POST
@member_required(Role.ENGINEER)
def decide(request: LabRequest, pk: int) -> HttpResponse:
    """Import one output into the inventory of `host`, or decline it, by `act`."""
    every = FoundInventory.objects.select_related("file__upload", "file__artefact").defer("file__packed")
    with transaction.atomic():
        held = every.select_for_update(of=("self",))  # its file may be being read again, which makes its pieces anew
        result = get_object_or_404(held, pk=pk, file__upload__lab=request.lab)
        _decide(request, result)
    return redirect(f"{result.file.upload.get_absolute_url()}#inventory")


def _decide(request: LabRequest, output: FoundInventory) -> None:
    if request.POST.get("act") == "decline":
        inventory_import.decline(output)
        messages.success(request, f"{output.summary}: declined. Its bytes are kept.")
    elif (host := _host(request)) is None:
        messages.warning(request, f"{output.summary}: choose the host that it describes.")
    else:
        messages.success(request, inventory_import.take(output, host))
        AuditEvent.objects.record(
            request.lab.pk, "inventory taken", str(host), actor=str(request.user), tool=output.tool, found=output.pk
        )


@member_required(Role.ENGINEER)
def all_of(request: LabRequest, pk: int) -> HttpResponse:
    """Show what importing all outputs with a certain host changes.

    On POST, import them if `digest` matches what was shown.
    """
    upload = get_object_or_404(Upload.objects.select_related("host", "lab"), pk=pk, lab=request.lab)
    if request.method != "POST":
        return _shown(request, upload, preview_import(upload))
    try:
        outcome = import_all(upload, request.POST.get("digest", ""))
    except StaleImportError as stale:
        return _shown(request, upload, stale.outcome, str(stale), 409)
    for host in outcome.hosts:
        tools = ", ".join(dict.fromkeys(result.tool for result, _ in host.taken))
        AuditEvent.objects.record(
            request.lab.pk, "inventory taken", str(host.host), actor=str(request.user), tool=tools,
            found=[result.pk for result, _ in host.taken],
        )  # fmt: skip
        messages.success(request, f"{host.host}: {len(host.taken)} description{'s' * (len(host.taken) != 1)} taken.")
        for results, words in [pair for pair in host.taken if pair[1]][:_TOLD]:
            messages.warning(request, f"{results.summary}: {words}.")
    return redirect(f"{upload.get_absolute_url()}#inventory")


def _shown(
    request: LabRequest, upload: Upload, outcome: ImportOutcome, stale: str = "", status: int = 200
) -> HttpResponse:
    context = {"upload": upload, "outcome": outcome, "stale": stale}
    return render(request, "uploads/inventory.html", context, status=status)


def _host(request: LabRequest) -> Host | None:
    host: Host | None = Host.objects.filter(
        pk__in=whole_numbers([request.POST.get("host", "")]), lab=request.lab
    ).first()
    return host
