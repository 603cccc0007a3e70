"""What a plan will take before it is started: of a written plan, or of one that is only asked for."""

from dataclasses import replace

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.fields import NumberField
from apps.api.openapi import problems
from apps.api.viewsets import ScopedAPIView
from apps.plans.estimates.plan_estimate import (
    CellEstimate,
    DiskEstimate,
    HostEstimate,
    PlanEstimate,
    SpaceEstimate,
    estimate_page,
    estimate_plan,
)
from apps.plans.execution_page import ExecutionPage
from apps.plans.host_limits import Refusal
from apps.plans.preparations.estimate import ExtraTime
from apps.studies.models import Plan


class CellAheadSerializer(serializers.Serializer[CellEstimate]):
    """One round of a cell."""

    configuration = serializers.CharField(source="cell.row")
    point = serializers.CharField(source="cell.point")
    target = serializers.IntegerField(source="cell.target.pk")
    rounds = serializers.IntegerField(source="cell.rounds")
    seconds = NumberField(help_text="of one round, filling of test files included")
    written = NumberField(help_text="bytes of one round, test files included")
    source = serializers.CharField(  # type: ignore[assignment]  # a field of this name is meant
        help_text="target or host: the median of earlier runs of this workload there; guess: from size, runtime and ceiling"
    )
    runs = serializers.IntegerField(help_text="earlier runs that it is the median of")


class HostAheadSerializer(serializers.Serializer[HostEstimate]):
    """All rounds of a host, one after another."""

    host = serializers.IntegerField(source="host.pk")
    seconds = NumberField()
    most_seconds = NumberField(help_text="where the stopping rule asks for all rounds that it may")
    rounds = serializers.IntegerField()
    guessed = serializers.IntegerField(help_text="of the rounds")


class DiskAheadSerializer(serializers.Serializer[DiskEstimate]):
    """What a disk will take."""

    disk = serializers.IntegerField(source="disk.pk")
    written = NumberField(help_text="bytes")
    share = NumberField(allow_null=True, help_text="of its label `endurance`, as a fraction; null where it has none")


class SpaceAheadSerializer(serializers.Serializer[SpaceEstimate]):
    """The largest test files of a target against its free space and its quota."""

    target = serializers.IntegerField(source="target.pk")
    needed = serializers.IntegerField(help_text="bytes")
    free = serializers.IntegerField(allow_null=True, help_text="bytes, as its host last reported")
    quota = serializers.IntegerField(
        allow_null=True, help_text="bytes that the host allows the files of one run there; null where it has not said"
    )
    is_enough = serializers.BooleanField(allow_null=True, help_text="free space and quota")
    cells = serializers.ListField(child=serializers.CharField(), help_text="points whose files are larger")


class RefusedCellSerializer(serializers.Serializer[Refusal]):
    """A cell that its host would refuse by its agent.conf, so that a start leaves it out."""

    configuration = serializers.CharField(source="row")
    point = serializers.CharField()
    target = serializers.IntegerField(source="target.pk")
    field = serializers.CharField(source="problem.field", help_text="file_size, runtime, iodepth, numjobs")
    found = serializers.CharField(source="problem.found")
    expected = serializers.CharField(source="problem.expected")


class RefusedPreparationSerializer(serializers.Serializer[Refusal]):
    """A preparation that a host would refuse by its agent.conf, so that the plan would pause there."""

    configuration = serializers.CharField(source="row")
    preparation = serializers.CharField(source="point")
    target = serializers.IntegerField(source="target.pk")
    field = serializers.CharField(source="problem.field", help_text="file_size, runtime, iodepth, numjobs")
    found = serializers.CharField(source="problem.found")
    expected = serializers.CharField(source="problem.expected")


class ExtraTimeSerializer(serializers.Serializer[ExtraTime]):
    """What guards and preparations add to the time that remains."""

    seconds = NumberField(help_text="as far as it is known; hosts work side by side")
    unknown = serializers.ListField(child=serializers.CharField(), help_text="what takes as long as it takes")
    written = serializers.IntegerField(help_text="bytes of sequential fills, on all hosts together")


class PlanAheadSerializer(serializers.Serializer[PlanEstimate]):
    """Hosts work side by side, so the plan takes as long as the slowest."""

    seconds = NumberField()
    most_seconds = NumberField()
    is_at_most = serializers.BooleanField(help_text="a search for saturation may end before its last points")
    rounds = serializers.IntegerField()
    guessed = serializers.IntegerField(help_text="of the rounds: nothing like them has run on their host")
    written = NumberField(help_text="bytes, to all targets")
    hosts = HostAheadSerializer(many=True)
    disks = DiskAheadSerializer(many=True)
    spaces = SpaceAheadSerializer(many=True)
    cells = CellAheadSerializer(many=True)
    refused = RefusedCellSerializer(
        many=True, help_text="cells whose hosts allow less; neither their time nor writes count"
    )
    refused_preparations = RefusedPreparationSerializer(
        many=True, help_text="preparations whose hosts allow less: the plan would pause there"
    )
    extra = ExtraTimeSerializer(help_text="of guards and preparations, beyond `seconds`")
    unknown_disks = serializers.SerializerMethodField(help_text="targets of which no disk is known")

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_unknown_disks(self, estimate: PlanEstimate) -> list[int]:
        return [target.pk for target in estimate.unknown_disks]


class PlanEstimateView(ScopedAPIView):
    """The estimate of a written plan."""

    serializer_class = PlanAheadSerializer

    @extend_schema(operation_id="plans_estimate", responses={200: PlanAheadSerializer, **problems(404)})
    def get(self, request: Request, pk: int) -> Response:
        """Return what is left of a plan: time, bytes written and space; empty where nothing is left."""
        plan: Plan = get_object_or_404(Plan.objects.whole().prefetch_related("preparations"), pk=pk)
        page = ExecutionPage(plan)
        estimate = estimate_page(page.matrix)
        refused = tuple(page.refused_preparations)
        estimate = replace(estimate, extra=page.extra, refused_preparations=refused) if estimate else estimate_plan([])
        return Response(PlanAheadSerializer(estimate).data)
