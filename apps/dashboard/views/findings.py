"""The findings about the lab's hosts: the whole list, and the short form on the start page."""

from itertools import islice

from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import render

from apps.inventory.models import Host
from apps.inventory.topology.current_findings import findings_of_hosts
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest

HOSTS, LOOKED_AT, SHORT = 25, 100, 8


@member_required()
def findings(request: LabRequest) -> HttpResponse:
    """Show the findings by host; the start page loads the short form with `?short=1`."""
    hosts = Host.objects.filter(lab=request.lab).order_by("name")
    if request.GET.get("short"):
        return _short(request)
    page = Paginator(hosts, HOSTS).get_page(request.GET.get("page"))
    context = {"page": page, "found": findings_of_hosts(page), "hosts": page.paginator.count}
    return render(request, "inventory/findings.html", context)


def _short(request: LabRequest) -> HttpResponse:
    """Show the most serious findings of the first hosts, those with an agent first."""
    hosts = Host.objects.filter(lab=request.lab).order_by(F("agent").asc(nulls_last=True), "name")
    result = [(host, item) for host, some in findings_of_hosts(hosts[:LOOKED_AT]) for item in some]
    rank = {"serious": 0, "warning": 1, "note": 2}
    first = islice(sorted(result, key=lambda pair: rank[pair[1].severity]), SHORT)
    context = {"first": list(first), "count": len(result), "is_all": hosts.count() <= LOOKED_AT, "looked_at": LOOKED_AT}
    return render(request, "inventory/_findings-short.html", context)
