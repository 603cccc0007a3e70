"""One host's timeline."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.dashboard.timeline import entries_of, with_changes
from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest

PAGE = 25
KINDS = {"": "everything", "snapshot": "snapshots", "look": "discovery", "maintenance": "maintenance"}


@member_required()
def timeline(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Host, pk=pk)
    only = request.GET.get("only", "")
    entries = [one for one in entries_of(part) if only not in KINDS or not only or one.kind == only]
    page = Paginator(entries, PAGE).get_page(request.GET.get("page"))
    with_changes(list(page))
    return render(request, "dashboard/timeline.html", {"part": part, "page": page, "kinds": KINDS, "only": only})
