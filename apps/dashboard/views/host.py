"""The page of one host: findings, facts, topology of storage and network, targets, agent and runs."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.agents.models import Agent
from apps.dashboard.drawings import drawing
from apps.dashboard.hosts import statuses
from apps.dashboard.tree import tree
from apps.inventory.ceilings.current import ceilings_in
from apps.inventory.descriptions import described
from apps.inventory.discovery.root_facts import find_missing
from apps.inventory.editing.registry import BY_NAME
from apps.inventory.findings import findings_of
from apps.inventory.models import Host
from apps.inventory.target_identity import explain_no_runs
from apps.inventory.topology.host_parts import HostParts, parts_of
from apps.inventory.topology.tree import topology_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.runs.models import Run

FACTS = BY_NAME["host"].facts
TARGETS = 15
NOT_FOUND = 127  # what a shell says of a program that is not there


@member_required()
def host(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Host, pk=pk)
    [status] = statuses([part])
    parts = parts_of([part])[part.pk]
    explain_targets(parts, status.agent)
    context = {
        "part": part,
        "facts": described(part, *FACTS),
        "status": status,
        "runs": Run.objects.for_list().filter(host=part)[:15],
        **tool_outputs(part),
        "offers": next((target for target in parts.targets if target.is_agents_own), None),
        **put_together(parts, request.GET.get("targets")),
    }
    return render(request, "inventory/host.html", context)


def explain_targets(parts: HostParts, agent: Agent | None) -> None:
    """Set on each target why it takes no runs; nothing for a host without an agent, of which none takes any."""
    targets: list[Any] = list(parts.targets)
    for target in targets:
        target.no_runs_because = explain_no_runs(target, agent) if agent else ""


def put_together(parts: HostParts, page: str | None) -> dict[str, Any]:
    """Return the context that all parts of a host add up to; the parts are loaded once."""
    whole = topology_of(parts)
    targets = Paginator(parts.targets, TARGETS).get_page(page)
    return {
        "findings": findings_of(whole),
        "drawing": drawing(whole),
        "tree": tree(whole),
        "targets": targets,
        "ceilings": ceilings_in(parts, targets),
        "network": parts.network,
        "paths": parts.paths,
        "is_large": len(parts.disks) > 100,
    }


def tool_outputs(part: Host) -> dict[str, Any]:
    """Return the newest output of each tool without its text, and the names of tools that are not installed."""
    silent = ExpressionWrapper(Q(stdout=""), BooleanField())
    outputs = part.tool_outputs.defer("stdout", "stderr").annotate(is_silent=silent)
    newest = list(outputs.order_by("tool", "-id").distinct("tool"))
    answered = [item for item in newest if item.exit_status != NOT_FOUND]
    return {
        "outputs": answered, "missing_root_facts": find_missing(newest),
        "not_installed": [item.tool for item in newest if item.exit_status == NOT_FOUND],
    }  # fmt: skip
