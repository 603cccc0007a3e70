"""Snapshots: what was true when a run began, and what differs between two of them."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from apps.inventory.differences_of import differences_of
from apps.inventory.models import Snapshot
from apps.publishing import schema, shown
from apps.publishing.pagination import page
from apps.publishing.resource import resource


class SnapshotLine(s.Serializer[Any]):
    id = s.IntegerField()
    sha256 = s.CharField()
    created_at = s.DateTimeField()
    facts = s.DictField()


class Change(s.Serializer[Any]):
    group = s.CharField(help_text="host, target, filesystem, array, disk, controller, network, record")
    part = s.CharField()
    kind = s.CharField(help_text="changed, added, removed, replaced, moved, renamed, order, learned, forgotten")
    field = s.CharField(help_text="empty where the whole part came, went or was replaced")
    label = s.CharField()  # type: ignore[assignment]
    before = s.JSONField(allow_null=True, help_text="in base units")
    after = s.JSONField(allow_null=True, help_text="in base units")
    absent_before = s.CharField(allow_null=True, help_text="not_printed, unknown or none, where `before` is null")
    absent_after = s.CharField(allow_null=True)
    is_knowledge = s.BooleanField(help_text="only what is known has changed, not the machine")
    text = s.CharField()


class SnapshotDifference(s.Serializer[Any]):
    before = s.IntegerField()
    after = s.IntegerField()
    is_same = s.BooleanField()
    changes = Change(many=True)


@schema.described(
    SnapshotLine, paged=True, of="Snapshot", operation_id="snapshots_list",
    parameters=[OpenApiParameter("host", str, description="the host's name in the snapshot")],
)  # fmt: skip
@resource()
def snapshots(request: Request) -> Response:
    """Without their contents; the oldest first."""
    found = Snapshot.objects.defer("content")
    if host := request.query_params.get("host"):
        found = found.filter(facts__host=host)
    return page(request, found, lambda rows: SnapshotLine(rows, many=True).data)


@schema.described(schema.Snapshot, errors=(404,), operation_id="snapshots_read")
@resource()
def snapshot(request: Request, pk: int) -> Response:
    """The frozen stack and host state of a run, and the facts taken from it."""
    return Response(shown.snapshot(get_object_or_404(Snapshot.objects, pk=pk)))


@schema.described(SnapshotDifference, errors=(404,), operation_id="snapshots_difference")
@resource()
def difference(request: Request, pk: int, other: int) -> Response:
    """What changed from snapshot `id` to snapshot `other`, part by part; nothing where both hold the same stack."""
    before, after = get_object_or_404(Snapshot.objects, pk=pk), get_object_or_404(Snapshot.objects, pk=other)
    changes = differences_of(before.content, after.content)
    said = [one.as_json() for one in changes]
    return Response({"before": before.pk, "after": after.pk, "is_same": not changes, "changes": said})
