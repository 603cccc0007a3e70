"""How a host hangs together, and what is wrong with that."""

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from apps.inventory.findings import findings_of
from apps.inventory.models import Host
from apps.inventory.topology import topology
from apps.lib.reader_base import base
from apps.publishing import schema
from apps.publishing.resource import resource
from apps.publishing.topology_schema import HostFindings, Topology


@schema.described(Topology, errors=(404,), operation_id="hosts_topology", parameters=[schema.BASE])
@resource()
def host_topology(request: Request, pk: int) -> Response:
    """The whole tree: controllers with their disks, arrays with their members, filesystems with their targets, storage paths
    with their sections, the network that the host reaches, and the findings about all of it.
    """
    whole = topology(get_object_or_404(Host.objects, pk=pk))
    return Response(whole | {"findings": [one.as_json(base()) for one in findings_of(whole)]})


@schema.described(HostFindings, errors=(404,), operation_id="hosts_findings", parameters=[schema.BASE])
@resource()
def host_findings(request: Request, pk: int) -> Response:
    """What is wrong or doubtful about how the host is put together, computed now, with its arithmetic."""
    found = findings_of(topology(get_object_or_404(Host.objects, pk=pk)))
    return Response({"host": pk, "findings": [one.as_json(base()) for one in found]})
