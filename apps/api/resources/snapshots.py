"""Snapshots: what was true when a run began, and what differs between two of them."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.viewsets import ScopedViewSet
from apps.inventory.models import Snapshot
from apps.inventory.snapshots.differences import differences_of


class SnapshotLineSerializer(serializers.ModelSerializer[Snapshot]):
    """A snapshot without its content."""

    sha256 = serializers.CharField()
    facts = serializers.DictField()

    class Meta:
        model = Snapshot
        fields: tuple[str, ...] = ("id", "sha256", "created_at", "facts")
        read_only_fields = fields


class SnapshotSerializer(SnapshotLineSerializer):
    """The frozen stack and host state of a run, and the facts taken from it."""

    content = serializers.DictField()

    class Meta(SnapshotLineSerializer.Meta):
        fields = (*SnapshotLineSerializer.Meta.fields, "content")
        read_only_fields = fields


class ChangeSerializer(serializers.Serializer[Any]):
    """What is different of one part."""

    group = serializers.CharField(help_text="host, target, filesystem, array, disk, controller, network, record")
    part = serializers.CharField()
    kind = serializers.CharField(
        help_text="changed, added, removed, replaced, moved, renamed, order, learned, forgotten"
    )
    field = serializers.CharField(help_text="empty where the whole part came, went or was replaced")
    label = serializers.CharField()  # type: ignore[assignment]
    before = serializers.JSONField(allow_null=True, help_text="in base units")
    after = serializers.JSONField(allow_null=True, help_text="in base units")
    absent_before = serializers.CharField(
        allow_null=True, help_text="not_printed, unknown or none, where `before` is null"
    )
    absent_after = serializers.CharField(allow_null=True)
    is_knowledge = serializers.BooleanField(help_text="only what is known has changed, not the machine")
    text = serializers.CharField()


class SnapshotDifferenceSerializer(serializers.Serializer[Any]):
    """What changed from one snapshot to another."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    is_same = serializers.BooleanField()
    changes = ChangeSerializer(many=True)


HOST = OpenApiParameter("host", str, description="the host's name in the snapshot")


@extend_schema_view(
    list=extend_schema(description="Without their contents; the oldest first.", parameters=[HOST]),
    retrieve=extend_schema(description="The frozen stack and host state of a run, and the facts taken from it."),
)
class SnapshotViewSet(ListModelMixin, RetrieveModelMixin, ScopedViewSet[Snapshot]):
    """What was true when a run began."""

    model = Snapshot
    serializer_class = SnapshotSerializer
    serializer_classes = {"list": SnapshotLineSerializer}
    filters = ("host",)

    def filter_queryset(self, queryset: Any) -> Any:
        snapshots = super().filter_queryset(queryset).defer("content")
        hosts = list(filter(None, self.request.query_params.getlist("host")))
        return snapshots.filter(facts__host__in=hosts) if hosts else snapshots

    @extend_schema(responses=SnapshotDifferenceSerializer)
    @action(detail=True, url_path="difference/<int:other>", url_name="difference")
    def difference(self, request: Request, pk: int, other: int) -> Response:
        """Return what changed from snapshot `id` to snapshot `other`, part by part.

        `changes` is empty where both hold the same stack.
        """
        before, after = self.get_object(), get_object_or_404(self.get_queryset(), pk=other)
        changes = differences_of(before.content, after.content)
        data = {
            "before": before.pk,
            "after": after.pk,
            "is_same": not changes,
            "changes": [change.as_json() for change in changes],
        }
        return Response(SnapshotDifferenceSerializer(data).data)
