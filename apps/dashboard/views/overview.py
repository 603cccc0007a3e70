"""The start page: hosts, running and queued runs, latest results. Its live part is polled every few seconds."""

from typing import Any

from django.db.models import Case, Count, When
from django.http import HttpResponse
from django.shortcuts import render

from apps.agents.queue import waiting_reasons
from apps.dashboard.hosts import with_agents
from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Lab
from apps.runs.models import DISPATCH_ORDER, Run
from apps.runs.states import ON_HOST, State
from apps.studies.models import Study

LATEST, QUEUE = 12, 10


def live_part(lab: Lab) -> dict[str, Any]:
    """Return the context of the part that refreshes itself, in seven queries whatever the lab's size."""
    ours = Run.objects.filter(lab=lab)
    queue = ours.filter(state__in=[State.QUEUED, State.OFFERED])
    offered_first = Case(When(state=State.OFFERED, then=0), default=1)
    in_order = queue.select_related("host", "target__host", "workload").order_by(offered_first, *DISPATCH_ORDER)
    waiting = list(in_order[:QUEUE])
    reasons = waiting_reasons(waiting)
    for run in waiting:
        run.waiting_because = reasons.get(run.pk, "")
    return {
        "statuses": with_agents(lab),
        "running": ours.filter(state__in=ON_HOST).for_list().select_related("target__host")[:50],
        "queue": waiting,
        "queued": queue.count(),
        "latest": ours.exclude(state__in=[State.QUEUED, State.OFFERED, *ON_HOST]).for_list()[:LATEST],
    }


@member_required()
def overview(request: LabRequest) -> HttpResponse:
    context = live_part(request.lab)
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "dashboard/_live.html", context)
    context["studies"] = Study.objects.annotate(n=Count("configurations__study_runs")).order_by("-id")[:8]
    context["other_hosts"] = Host.objects.filter(lab=request.lab, agent__isnull=True).count()
    return render(request, "dashboard/overview.html", context)
