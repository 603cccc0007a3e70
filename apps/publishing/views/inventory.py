"""Hosts, targets and snapshots."""

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.inventory.ceiling_now import ceiling_now
from apps.inventory.models import Host, Snapshot, Target
from apps.inventory.topology import topology
from apps.publishing import schema, shown
from apps.publishing.pagination import page
from apps.publishing.resource import resource


class TargetWithCeiling(schema.Target):
    ceiling = serializers.DictField(
        allow_null=True,
        help_text="`{read, write, unknown}`; of each direction the `bandwidth` (bytes/s) that the topology can carry at "
        "most, the part it is `decided_by`, and all `parts` with their `arithmetic`",
    )


@schema.described(schema.HostShape, paged=True, of="Host", operation_id="hosts_list")
@resource()
def hosts(request: Request) -> Response:
    return page(request, Host.objects.all(), lambda found: schema.HostShape(found, many=True).data)


@schema.described(schema.HostShape, errors=(404,), operation_id="hosts_read")
@resource()
def host(request: Request, pk: int) -> Response:
    return Response(schema.HostShape(get_object_or_404(Host.objects, pk=pk)).data)


@schema.described(dict, errors=(404,), operation_id="hosts_topology")
@resource()
def host_topology(request: Request, pk: int) -> Response:
    """The whole tree: controllers with their disks, arrays with their members, filesystems with their targets."""
    return Response(topology(get_object_or_404(Host.objects, pk=pk)))


@schema.described(schema.Target, paged=True, operation_id="targets_list")
@resource()
def targets(request: Request) -> Response:
    return page(request, Target.objects.select_related("host"), lambda found: map(shown.target, found))


@schema.described(TargetWithCeiling, errors=(404,), operation_id="targets_read")
@resource()
def target(request: Request, pk: int) -> Response:
    """With the bound that the topology under it sets; null where its arrays lie on themselves."""
    found = get_object_or_404(Target.objects.select_related("host"), pk=pk)
    ceiling = ceiling_now(found)
    return Response(shown.target(found) | {"ceiling": ceiling.as_json() if ceiling else None})


@schema.described(schema.Snapshot, errors=(404,), operation_id="snapshots_read")
@resource()
def snapshot(request: Request, pk: int) -> Response:
    """The frozen stack and host state of a run, and the facts taken from it."""
    return Response(shown.snapshot(get_object_or_404(Snapshot.objects, pk=pk)))
