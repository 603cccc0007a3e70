"""Plans of studies: matrix with states, order, guards. Reading only; plans do not start by themselves yet."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request

from apps.api.conditional import no_document, publish
from apps.api.fields import LinkField, NumberField, PageField
from apps.api.resources.claims import match_studies
from apps.api.viewsets import ScopedViewSet
from apps.studies.models import Guard, Plan, PlanConfiguration, PlanPoint
from apps.studies.plans.matrix import CacheFinding
from apps.studies.plans.plan_page import PlanPage, PlanPageCell, difference_text, with_standing
from apps.studies.plans.progress import Estimate
from apps.studies.plans.run_assignment import NotCounted, runs_of

Json = dict[str, Any]


class PlanSummarySerializer(serializers.ModelSerializer[Plan]):
    """A plan without its matrix."""

    url = LinkField("api-plan")
    page = PageField()
    study = serializers.CharField(source="study.slug")
    name = serializers.CharField()
    order = serializers.CharField(help_text="interleaved, randomized, sequential, not_printed")
    seed = serializers.IntegerField(allow_null=True)
    stopping = serializers.DictField(help_text="`{kind: fixed | half_width | steady_state | not_printed, …}`")
    is_from_report = serializers.BooleanField()
    standing = serializers.CharField(
        help_text="of its order, rounds and guards: `asked for; not checked`, or `as reported` for a published report"
    )

    class Meta:
        model = Plan
        fields: tuple[str, ...] = (
            "id", "url", "page", "study", "name", "title", "order", "seed", "stopping", "are_means", "is_from_report",
            "standing", "notes",
        )  # fmt: skip
        read_only_fields = fields


class PlanConfigurationShapeSerializer(serializers.Serializer[PlanConfiguration]):
    """A row of a plan's matrix."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    largest_file_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    limit_reason = serializers.CharField()
    reason = serializers.CharField(help_text="why the whole row is not run")
    configuration = serializers.SerializerMethodField(
        help_text="of the study; null where the source has no numbers of it"
    )
    host = serializers.SerializerMethodField()

    def get_configuration(self, row: PlanConfiguration) -> str | None:
        return row.configuration.name if row.configuration else None

    def get_host(self, row: PlanConfiguration) -> int | None:
        return row.host.pk if row.host else None


class PlanPointShapeSerializer(serializers.ModelSerializer[PlanPoint]):
    """A column of a plan's matrix."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    tool = serializers.CharField()
    command = serializers.CharField()
    file_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    ram_multiple = NumberField(allow_null=True, help_text="file size = this × RAM of the host")
    block_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    threads = serializers.IntegerField(allow_null=True)
    iodepth = serializers.IntegerField(allow_null=True)
    operations = serializers.ListField(child=serializers.CharField())
    labels = serializers.DictField()

    class Meta:
        model = PlanPoint
        fields = (
            "name", "label", "tool", "command", "file_size", "ram_multiple", "block_size", "threads", "iodepth",
            "operations", "labels",
        )  # fmt: skip


class PlanGuardShapeSerializer(serializers.ModelSerializer[Guard]):
    """What has to be true before a round."""

    kind = serializers.CharField()
    parameters = serializers.DictField()
    sentence = serializers.SerializerMethodField(help_text="in words, with its standing behind it")
    standing = serializers.CharField(
        source="plan.standing", help_text="`asked for; not checked`, or `as reported` for a published report"
    )

    class Meta:
        model = Guard
        fields = ("kind", "is_required", "parameters", "note", "sentence", "standing")
        read_only_fields = fields

    def get_sentence(self, guard: Guard) -> str:
        return str(with_standing(guard.sentence, guard.plan.standing))


class PlanCellShapeSerializer(serializers.Serializer[PlanPageCell]):
    """A cell of a plan's matrix, with the runs that count for it."""

    configuration = serializers.CharField(source="row.name", help_text="name of the plan's row")
    point = serializers.CharField(source="point.name")
    state = serializers.CharField(
        help_text="waiting, running, partly, done, failed, not run; of a published report: as reported, not held"
    )
    done = serializers.IntegerField(source="progress.done")
    least = serializers.IntegerField(source="progress.least", help_text="rounds")
    most = serializers.IntegerField(source="progress.most", help_text="rounds")
    progress = NumberField(source="progress.fraction", help_text="of the runs under way, 0 to 1")
    file_size = serializers.IntegerField(allow_null=True, help_text="bytes")
    reason = serializers.CharField(help_text="why it is not run")
    note = serializers.CharField()
    workload = serializers.DictField(allow_null=True, help_text="for `POST runs/`, where fio can run it")
    runs = serializers.SerializerMethodField()

    def get_runs(self, cell: PlanPageCell) -> list[int]:
        return [run.pk for run in cell.runs]


class PlanNotCountedSerializer(serializers.Serializer[NotCounted]):
    """Runs of a plan's configurations that count for none of its cells."""

    configuration = serializers.CharField(source="row.name", help_text="name of the plan's row")
    point = serializers.CharField(source="point.name", help_text="the one that the runs come nearest to")
    runs = serializers.ListField(child=serializers.IntegerField())
    reason = serializers.SerializerMethodField(help_text="what is different from what the plan asks for, or not known")

    def get_reason(self, not_counted: NotCounted) -> str:
        return ", ".join(map(difference_text, not_counted.differences))


class PlanStepSerializer(serializers.Serializer[Any]):
    """A step of a plan: one configuration at one point in one round."""

    position = serializers.IntegerField()
    round = serializers.IntegerField()
    configuration = serializers.CharField()
    point = serializers.CharField()


class CacheRuleSerializer(serializers.Serializer[CacheFinding]):
    """Whether a host's largest file is large enough to be no memory."""

    host = serializers.CharField()
    ram = serializers.IntegerField(allow_null=True, help_text="bytes")
    largest = serializers.IntegerField(help_text="bytes")
    multiple = NumberField(allow_null=True)
    factor = NumberField()
    is_met = serializers.BooleanField(allow_null=True)


class PlanEstimateSerializer(serializers.Serializer[Estimate]):
    """How long what remains will take."""

    seconds = NumberField(help_text="at least; hosts work side by side")
    by_host = serializers.DictField()
    known = serializers.IntegerField(help_text="rounds whose time is known")
    unknown = serializers.IntegerField()


class PlanSerializer(PlanSummarySerializer):
    """A plan with its `matrix`, which the view computes: what it is made of, and how far it is."""

    configurations = PlanConfigurationShapeSerializer(source="rows.all", many=True)
    points = PlanPointShapeSerializer(source="points.all", many=True)
    guards = PlanGuardShapeSerializer(source="guards.all", many=True)
    cells = PlanCellShapeSerializer(source="matrix.cells", many=True)
    not_counted = PlanNotCountedSerializer(
        source="matrix.not_counted", many=True, help_text="runs of its configurations that count for no cell"
    )
    steps = serializers.SerializerMethodField(help_text="all steps in their order, `least` rounds")
    cache_rule = CacheRuleSerializer(source="matrix.cache", many=True)
    remaining = PlanEstimateSerializer(source="matrix.remaining", allow_null=True)

    class Meta(PlanSummarySerializer.Meta):
        fields = (
            *PlanSummarySerializer.Meta.fields, "configurations", "points", "guards", "cells", "not_counted", "steps",
            "cache_rule", "remaining",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(PlanStepSerializer(many=True))
    def get_steps(self, plan: Any) -> list[Json]:
        rows, points = list(plan.rows.all()), list(plan.points.all())
        return [
            {
                "position": step.position,
                "round": step.round,
                "configuration": rows[step.row].name,
                "point": points[step.point].name,
            }
            for step in plan.matrix.steps
        ]


STUDY = OpenApiParameter("study", description="slug or id")


@extend_schema_view(list=extend_schema(description="Plans of own studies and of published ones.", parameters=[STUDY]))
class PlanViewSet(ListModelMixin, ScopedViewSet[Plan]):
    """Plans of own studies and of published ones."""

    model = Plan
    serializer_class = PlanSummarySerializer
    serializer_classes = {"retrieve": PlanSerializer}
    filters = ("study",)

    def get_queryset(self) -> QuerySet[Plan]:
        plans: QuerySet[Plan] = (
            Plan.objects.whole() if self.action == "retrieve" else Plan.objects.select_related("study")
        )
        return plans

    def filter_queryset(self, queryset: Any) -> Any:
        plans = super().filter_queryset(queryset)
        study = self.request.query_params.get("study")
        return plans.filter(match_studies([study])) if study else plans

    @extend_schema(responses={200: PlanSerializer, 304: None})
    def retrieve(self, request: Request, pk: int) -> HttpResponseBase:
        """Return one plan with the state of every cell and all its steps in their order."""
        plan: Any = self.get_object()
        plan.matrix = PlanPage(plan, runs_of(plan.study))
        permalink = request.build_absolute_uri(plan.get_absolute_url())
        return publish(request, self.get_serializer(plan).data, no_document, permalink)
