"""A plan's schedule: read it with its next and last due times, set it, let it rest, remove it."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import who
from apps.api.fields import LinkField, TextField, show
from apps.api.openapi import problems
from apps.api.problems import ProblemError
from apps.api.resources.runs import KnownFieldsSerializer
from apps.api.viewsets import ScopedAPIView
from apps.labs.models import Lab, TokenScope
from apps.plans.models import PlanSchedule, ScheduleFiring, ScheduleKind
from apps.plans.schedules.recurrence import RecurrenceError
from apps.plans.schedules.services import (
    ScheduleRequest,
    next_times,
    pause_schedule,
    remove_schedule,
    resume_schedule,
    set_schedule,
    words_of,
)
from apps.plans.services import MOST_RETRIES
from apps.studies.models import Plan

MOST_FIRINGS = 100
TIMES_OF = {  # which kinds of schedule each field is of
    "at": (ScheduleKind.NIGHTLY, ScheduleKind.WEEKLY), "weekdays": (ScheduleKind.WEEKLY,),
    "cron": (ScheduleKind.CRON,),
}  # fmt: skip


RECIPIENTS = ("recipients__destination", "fired_by__plan__recipients__destination")  # that `describe_recipients` reads


def describe_recipients(plan: Plan, lab: Lab) -> list[dict[str, Any]]:
    """Return the notification channels that are told of a plan, by their names; to members of its own lab alone.

    Those of one run of a schedule are its schedule's.
    """
    if plan.study.lab_id != lab.pk:
        return []
    firing = getattr(plan, "fired_by", None)
    followed = firing.plan if firing else plan
    channels = sorted((entry.destination for entry in followed.recipients.all()), key=lambda channel: channel.name)
    return [{"id": channel.pk, "name": channel.name} for channel in channels]


class FiringSerializer(serializers.ModelSerializer[ScheduleFiring]):
    """What became of one due time."""

    outcome = serializers.CharField(help_text="started, skipped, failed")
    reason = serializers.CharField(help_text="why it was skipped, failed or late, or which hosts were left out")
    started_plan = serializers.IntegerField(source="started_plan_id", allow_null=True, help_text="the copy that runs")

    class Meta:
        model = ScheduleFiring
        fields = ("due_at", "fired_at", "outcome", "reason", "missed", "started_plan")
        read_only_fields = fields


class ScheduleSerializer(serializers.ModelSerializer[PlanSchedule]):
    """A plan's schedule. Each due time makes a copy of the plan and starts it."""

    plan = LinkField("api-plan")
    kind = serializers.CharField(help_text="nightly, weekly, cron")
    cron = serializers.CharField(help_text="minute, hour, day of month, month, day of week")
    words = serializers.SerializerMethodField()
    next_times = serializers.SerializerMethodField(help_text="the next three; empty while it is paused")
    recipients = serializers.SerializerMethodField(
        help_text="the notification channels of the plan, which are told when a run pauses itself or is not started: "
        "`{id, name}`"
    )
    reason = serializers.CharField(help_text="why it has paused itself; empty where a person did")
    firings = serializers.SerializerMethodField(help_text=f"the last {MOST_FIRINGS} due times, newest first")

    class Meta:
        model = PlanSchedule
        fields = (
            "plan", "kind", "cron", "time_zone", "words", "retries", "is_paused", "reason", "next_at", "next_times", "recipients",
            "firings", "changed_by", "changed_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_words(self, schedule: PlanSchedule) -> str:
        return words_of(schedule)

    @extend_schema_field(serializers.ListField(child=serializers.DateTimeField()))
    def get_next_times(self, schedule: PlanSchedule) -> list[Any]:
        return list(next_times(schedule))

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_recipients(self, schedule: PlanSchedule) -> list[Any]:
        plan = Plan.objects.select_related("study").prefetch_related(*RECIPIENTS).get(pk=schedule.plan_id)
        return describe_recipients(plan, self.context["view"].lab)

    @extend_schema_field(FiringSerializer(many=True))
    def get_firings(self, schedule: PlanSchedule) -> Any:
        return FiringSerializer(ScheduleFiring.objects.filter(plan=schedule.plan_id)[:MOST_FIRINGS], many=True).data


class SetScheduleSerializer(KnownFieldsSerializer):
    """A schedule to set."""

    kind = serializers.ChoiceField(choices=ScheduleKind.values)
    time_zone = TextField(max_length=64, help_text="such as Europe/Rome or UTC")
    at = serializers.TimeField(
        required=False,
        format="%H:%M",
        input_formats=["%H:%M"],
        help_text="`02:30` by the clock of the zone: nightly, weekly",
    )
    weekdays = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=6), required=False, help_text="weekly; 0 is Sunday"
    )
    cron = TextField(required=False, max_length=100, help_text="cron; `30 2 * * 1-5`, at most 24 times a day")
    retries = serializers.IntegerField(default=0, min_value=0, max_value=MOST_RETRIES, help_text="of a failed step")
    recipients = serializers.ListField(
        child=serializers.IntegerField(min_value=1), required=False, allow_null=True, default=None, max_length=100,
        help_text="ids of notification channels that are told when a run pauses itself or is not started; "
        "left out: as before",
    )  # fmt: skip

    def validate(self, attrs: Any) -> Any:
        """Refuse the times of another kind: the answer would look as if they had been applied."""
        kind = attrs["kind"]
        for name, kinds in TIMES_OF.items():
            if name in attrs and kind not in kinds:
                expected = f"nothing: a {kind} schedule has {' and '.join(n for n in TIMES_OF if kind in TIMES_OF[n])}"
                raise serializers.ValidationError({name: f"found {show(attrs[name])}, expected {expected}"})
        return attrs


class PlanScheduleMixin(ScopedAPIView):
    """What the addresses of a schedule share."""

    keeps_answers = True
    serializer_class: Any = ScheduleSerializer
    needed_scope = TokenScope.RUN

    def own_plan(self, pk: int) -> Plan:
        plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk, study__lab=self.lab)
        return plan

    def represent(self, schedule: PlanSchedule) -> Response:
        return Response(ScheduleSerializer(schedule, context=self.get_serializer_context()).data)


class PlanScheduleView(PlanScheduleMixin):
    """The schedule of a plan."""

    @extend_schema(operation_id="plans_schedule", responses={200: ScheduleSerializer, **problems(404)})
    def get(self, request: Request, pk: int) -> Response:
        """Return a plan's schedule with its next and last due times; 404 where it has none."""
        plan = get_object_or_404(Plan, pk=pk)
        schedule = PlanSchedule.objects.filter(plan=plan).first()
        if schedule is None:
            raise NotFound("This plan has no schedule.")
        return self.represent(schedule)

    @extend_schema(
        operation_id="plans_schedule_set", request=SetScheduleSerializer,
        responses={200: ScheduleSerializer, **problems(404, 409)},
    )  # fmt: skip
    def put(self, request: Request, pk: int) -> Response:
        """Set a plan's schedule, or change it; it begins with the next due time from now. A paused one stays paused."""
        plan = self.own_plan(pk)
        wanted = self.validate_body(SetScheduleSerializer)
        try:
            schedule = set_schedule(plan, ScheduleRequest(**wanted), actor=who(request))
        except RecurrenceError as error:
            raise ProblemError(400, str(error), field=error.field, found=error.found, expected=error.expected) from None
        return self.represent(schedule)

    @extend_schema(operation_id="plans_schedule_remove", request=None, responses={204: None, **problems(404, 409)})
    def delete(self, request: Request, pk: int) -> Response:
        """Remove a plan's schedule; its past runs stay."""
        remove_schedule(self.own_plan(pk), actor=who(request))
        return Response(status=204)


class PlanSchedulePauseView(PlanScheduleMixin):
    """A schedule that rests."""

    @extend_schema(
        operation_id="plans_schedule_pause", request=None, responses={200: ScheduleSerializer, **problems(404, 409)}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Let a schedule rest; what runs now goes on."""
        plan = self.own_plan(pk)
        self.refuse_body()
        return self.represent(pause_schedule(plan, actor=who(request)))


class PlanScheduleResumeView(PlanScheduleMixin):
    """A schedule that goes on."""

    @extend_schema(
        operation_id="plans_schedule_resume", request=None, responses={200: ScheduleSerializer, **problems(404, 409)}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Go on with a schedule from now; what was due while it was paused is not made up."""
        plan = self.own_plan(pk)
        self.refuse_body()
        return self.represent(resume_schedule(plan, actor=who(request)))
