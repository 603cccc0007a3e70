"""One host: what is wrong with it, its facts, how its storage and network hang together, its targets, agent and runs."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.dashboard.drawings import drawing
from apps.dashboard.hosts import statuses
from apps.dashboard.tree import tree
from apps.dashboard.tree_html import tree_html
from apps.inventory.ceiling_now import ceilings_in
from apps.inventory.described import described
from apps.inventory.findings import findings_of
from apps.inventory.host_parts import HostParts, parts_of
from apps.inventory.models import Host
from apps.inventory.topology import topology_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.runs.models import Run

FACTS = (
    "vendor", "model", "serial", "fqdn", "cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes",
    "ram_type", "board", "os", "kernel", "architecture", "environment", "hypervisor", "hypervisor_version", "role",
    "is_in_maintenance",
)  # fmt: skip
TARGETS = 15
NOT_FOUND = 127  # what a shell says of a program that is not there


@member_required()
def host(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Host, pk=pk)
    [status] = statuses([part])
    parts = parts_of([part])[part.pk]
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


def put_together(parts: HostParts, page: str | None) -> dict[str, Any]:
    """What the parts say together; they are read once for all of it."""
    whole = topology_of(parts)
    targets = Paginator(parts.targets, TARGETS).get_page(page)
    return {
        "findings": findings_of(whole),
        "drawing": drawing(whole),
        "tree": tree_html(tree(whole)),
        "targets": targets,
        "ceilings": ceilings_in(parts, targets),
        "network": parts.network,
        "paths": parts.paths,
        "is_large": len(parts.disks) > 100,
    }


def tool_outputs(part: Host) -> dict[str, Any]:
    """The newest output of each tool that answered, without the texts themselves; the names of those that are not there."""
    silent = ExpressionWrapper(Q(stdout=""), BooleanField())
    outputs = part.tool_outputs.defer("stdout", "stderr").annotate(is_silent=silent)
    newest = list(outputs.order_by("tool", "-id").distinct("tool"))
    answered = [one for one in newest if one.exit_status != NOT_FOUND]
    return {"outputs": answered, "not_installed": [one.tool for one in newest if one.exit_status == NOT_FOUND]}
