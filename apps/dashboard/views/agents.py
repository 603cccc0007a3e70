"""Agents, for owners: enrol a host, approve it, quarantine or revoke it."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.agents.models import Agent, Enrolment
from apps.agents.trust import DECISIONS
from apps.agents.trust import decide as take_decision
from apps.dashboard.hosts import with_agents
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role


@member_required()
def agents(request: LabRequest) -> HttpResponse:
    return render(request, "agents/list.html", {"statuses": with_agents(request.lab)})


@member_required(Role.OWNER)
def enrol(request: LabRequest) -> HttpResponse:
    """GET explains; POST makes the one-use token and shows it this once."""
    context: dict[str, object] = {"server": settings.SITE_URL}
    if request.method == "POST":
        enrolment, secret = Enrolment.objects.issue(request.lab, str(request.user))
        AuditEvent.objects.record(
            request.lab.pk, "enrolment token made", f"enrolment {enrolment.pk}", who=str(request.user)
        )
        context |= {"enrolment": enrolment, "secret": secret}
    return render(request, "agents/enrol.html", context)


@member_required(Role.OWNER)
def awaited(request: LabRequest, pk: int) -> HttpResponse:
    """The fragment that the enrolment page asks for again until the agent is there."""
    enrolment = get_object_or_404(Enrolment.objects.select_related("agent__host"), pk=pk, lab=request.lab)
    return render(request, "agents/_awaited.html", {"enrolment": enrolment})


@require_POST
@member_required(Role.OWNER)
def decide(request: LabRequest, pk: int, act: str) -> HttpResponse:
    if act not in DECISIONS:
        raise Http404
    agent = get_object_or_404(Agent.objects.select_related("host"), pk=pk)
    if take_decision(agent, act, str(request.user)):
        messages.success(request, f"{agent.host}: {DECISIONS[act][2]}.")
    else:
        messages.warning(request, f"{agent.host} is {agent.get_state_display()}; nothing was changed.")
    return redirect("agents")
