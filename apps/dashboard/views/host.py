"""One host: facts, the stack of its storage, its agent, its runs, and what its tools printed."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.dashboard.hosts import statuses
from apps.dashboard.tree import tree
from apps.inventory.described import described
from apps.inventory.models import Host
from apps.inventory.topology import topology
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest

FACTS = (
    "fqdn", "cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes", "ram_type", "board", "os",
    "kernel",
    "architecture", "environment", "hypervisor", "role", "is_in_maintenance",
)  # fmt: skip


@member_required()
def host(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Host, pk=pk)
    [status] = statuses([part])
    context = {
        "part": part,
        "facts": described(part, *FACTS),
        "status": status,
        "tree": tree(topology(part)),
        "runs": part.runs.select_related("host", "target", "workload").order_by("-created_at", "-id")[:15],
        "outputs": newest_outputs(part),
        "offers": part.targets.filter(is_agents_own=True).first(),
    }
    return render(request, "inventory/host.html", context)


def newest_outputs(part: Host) -> list[object]:
    """The newest output of each tool, without the texts themselves."""
    outputs = part.tool_outputs.defer("stdout", "stderr").order_by("tool", "-id").distinct("tool")
    return list(outputs)
