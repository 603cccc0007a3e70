"""Maintenance: new runs wait until it ends, those that run go on."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from apps.inventory.editing.kinds import BY_NAME
from apps.inventory.editing.saving import change
from apps.inventory.editing.wanted import EditError, Wanted
from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role


def set_maintenance(host: Host, is_on: bool, note: str = "") -> None:
    """The note goes with it. Raises `EditError` for a note that is too long."""
    change(BY_NAME["host"], host, Wanted({"is_in_maintenance": is_on, "maintenance_note": note if is_on else ""}))


@require_POST
@member_required(Role.ENGINEER)
def maintenance(request: LabRequest, pk: int) -> HttpResponse:
    """`is_on` 1 begins it or changes its note, anything else ends it."""
    host = get_object_or_404(Host, pk=pk, lab=request.lab)
    is_on = request.POST.get("is_on") == "1"
    try:
        set_maintenance(host, is_on, request.POST.get("note", "").strip())
        begun = f"{host} is in maintenance: new runs wait, those that run go on."
        messages.success(request, begun if is_on else f"{host} is out of maintenance: what waits begins now.")
    except EditError as error:
        messages.error(request, f"Nothing was changed. {error}")
    return redirect(host)
