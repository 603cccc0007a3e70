"""Agents, for owners: enrol a host, approve it, quarantine or revoke it."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.agents.models import Agent, Enrolment
from apps.agents.trust import DECISIONS, accept_hardware, refuse_hardware, replace, twins_of
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
    context: dict[str, object] = {"server": settings.SITE_URL, "local_only": is_local_only(settings.SITE_URL)}
    if request.method == "POST":
        enrolment, secret = Enrolment.objects.issue(request.lab, str(request.user))
        AuditEvent.objects.record(
            request.lab.pk, "enrolment token made", f"enrolment {enrolment.pk}", actor=str(request.user)
        )
        context |= {"enrolment": enrolment, "secret": secret, "line": install_line(settings.SITE_URL, secret)}
    return render(request, "agents/enrol.html", context)


@member_required(Role.OWNER)
def awaited(request: LabRequest, pk: int) -> HttpResponse:
    """Return the fragment that the enrolment page polls until the agent has enrolled."""
    enrolment = get_object_or_404(Enrolment.objects.select_related("agent__host"), pk=pk, lab=request.lab)
    agent = enrolment.agent
    twins = twins_of([agent]).get(agent.pk, []) if agent else []
    return render(request, "agents/_awaited.html", {"enrolment": enrolment, "twins": twins})


@require_POST
@member_required(Role.OWNER)
def decide(request: LabRequest, pk: int, act: str) -> HttpResponse:
    agent = get_object_or_404(Agent.objects.select_related("host"), pk=pk)
    if act == "replace":
        return _replace(request, agent)
    if act in HARDWARE:
        decided, text = HARDWARE[act]
        _tell(request, agent, decided(agent, str(request.user)), text)
        return redirect("agents")
    if act not in DECISIONS:
        raise Http404
    if take_decision(agent, act, str(request.user)):
        messages.success(request, f"{agent.host}: {DECISIONS[act][2]}.")
    else:
        messages.warning(request, f"{agent.host} is {agent.get_state_display()}; nothing was changed.")
    return redirect("agents")


HARDWARE = {
    "accept-hardware": (accept_hardware, "its new network cards are accepted."),
    "refuse-hardware": (refuse_hardware, "the copy stays refused; enrol it anew with --again to give it work."),
}


def _replace(request: LabRequest, agent: Agent) -> HttpResponse:
    """Assign a waiting agent to the existing host that it runs on."""
    former = get_object_or_404(Agent.objects.select_related("host"), pk=_number(request.POST.get("former", "")))
    _tell(
        request, former, replace(agent, former, str(request.user)), "its agent was replaced by the newly enrolled one."
    )
    return redirect("agents")


def _number(text: str) -> int:
    return int(text[:18]) if text.isascii() and text.isdigit() else 0


def _tell(request: LabRequest, agent: Agent, changed: bool, text: str) -> None:
    if changed:
        messages.success(request, f"{agent.host}: {text}")
    else:
        messages.warning(request, f"{agent.host}: that was decided meanwhile; nothing was changed.")


def is_local_only(server: str) -> bool:
    """Return whether only this machine reaches the server under this address."""
    host = urlsplit(server).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def install_line(server: str, token: str) -> str:
    """Return the command to paste on a host.

    Its token is in the environment, for every account can read command lines.
    """
    script = f"{server}/agent/install.sh"
    python = f"python3 -c \"import urllib.request as r;print(r.urlopen('{script}').read().decode())\""
    download = f"curl -fsSL {script} 2>/dev/null || wget -qO- {script} 2>/dev/null || {python}"
    return f"{{ {download}; }} | SPINDLE_ENROL_TOKEN={token} sh"
