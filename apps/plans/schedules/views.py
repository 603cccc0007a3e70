"""Pages of a plan's schedule: set it, let it rest, remove it."""

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.notifications.models import Destination
from apps.plans.models import Execution, ExecutionState, PlanSchedule, ScheduleFiring
from apps.plans.notices.recipients import find_firing, recipients_of
from apps.plans.schedules import services
from apps.plans.schedules.failed_nights import MOST_FAILED, find_failed_nights
from apps.plans.schedules.forms import ScheduleForm, initial_of
from apps.plans.schedules.recurrence import RecurrenceError
from apps.plans.services import ExecutionError
from apps.studies.models import Plan

MOST_FIRINGS = 10
SOON = timedelta(minutes=2)  # until which a due time is carried out where everything runs


@dataclass
class SchedulePanel:
    """A plan's schedule as its page shows it, with what became of the last due times."""

    plan: Plan

    @cached_property
    def schedule(self) -> PlanSchedule | None:
        return PlanSchedule.objects.filter(plan=self.plan).first()  # type: ignore[no-any-return]

    @property
    def words(self) -> str:
        return services.words_of(self.schedule) if self.schedule else ""

    @cached_property
    def problem(self) -> str:
        """Return why this server cannot say when it is due; empty where it can."""
        try:
            if self.schedule is not None:
                services.recurrence_of(self.schedule)
        except RecurrenceError as error:
            return str(error)
        return ""

    @cached_property
    def next_times(self) -> list[str]:
        """Return the next due times by the clock of the schedule's zone, the first also by that of UTC."""
        schedule = self.schedule
        if schedule is None:
            return []
        due = services.next_times(schedule)
        words = [services.words_of_due(schedule, moment) for moment in due]
        return [f"{words[0]} = {due[0]:%H:%M} UTC, {schedule.time_zone}", *words[1:]] if due else []

    @cached_property
    def overdue(self) -> str:
        """Return the due time that nobody has carried out although it is past; empty where there is none."""
        schedule = self.schedule
        if schedule is None or self.problem or not schedule.next_at or timezone.now() - schedule.next_at < SOON:
            return ""
        return services.words_of_due(schedule, schedule.next_at)

    @cached_property
    def firings(self) -> list[tuple[ScheduleFiring, str]]:
        """Return the last due times, each with its time by the clock of the schedule's zone."""
        firings = ScheduleFiring.objects.filter(plan=self.plan).select_related("started_plan__execution")
        schedule = None if self.problem else self.schedule
        zone = services.recurrence_of(schedule).zone if schedule else None
        return [
            (firing, f"{firing.due_at.astimezone(zone):%a %H:%M %Z}" if zone else "")
            for firing in firings[:MOST_FIRINGS]
        ]

    @cached_property
    def stopped(self) -> Execution | None:
        """Return the newest run of the schedule where it is paused: by itself, or by a person."""
        started = ScheduleFiring.objects.filter(plan=self.plan, started_plan__isnull=False)
        newest = started.select_related("started_plan__execution").first()
        execution: Execution | None = getattr(newest.started_plan, "execution", None) if newest else None
        return execution if execution and execution.state == ExecutionState.PAUSED else None

    @cached_property
    def will_pause(self) -> bool:
        """Return whether the next due time pauses the schedule, because none of its last runs has succeeded."""
        return self.schedule is not None and len(find_failed_nights(self.schedule)) >= MOST_FAILED

    @cached_property
    def recipients(self) -> list[Destination]:
        """Return the notification channels that are told what becomes of the plan's runs."""
        return recipients_of(self.plan)

    @cached_property
    def fired_by(self) -> ScheduleFiring | None:
        """Return the firing that made this plan as a copy."""
        return find_firing(self.plan)


@member_required(Role.ENGINEER)
def schedule(request: LabRequest, pk: int) -> HttpResponse:
    """GET: the form. POST: set the schedule."""
    plan = _own(request, pk)
    panel = SchedulePanel(plan)
    form = ScheduleForm(request.lab, request.POST or None, initial=initial_of(plan, panel.schedule))
    if request.method == "POST" and form.is_valid():
        try:
            made = services.set_schedule(plan, form.request(), actor=str(request.user))
        except RecurrenceError as error:
            form.place_error(error)
        except ExecutionError as error:
            form.add_error(None, str(error))
        else:
            rests = " once its schedule is resumed, which is paused" if made.is_paused else ""
            messages.success(request, f"{plan} runs {services.words_of(made)}{rests}.")
            return redirect("plan", plan.pk)
    context = {"plan": plan, "form": form, "panel": panel}
    return render(request, "plans/schedule.html", context, status=422 if form.errors else 200)


@require_POST
@member_required(Role.ENGINEER)
def act(request: LabRequest, pk: int, act: str) -> HttpResponse:
    """Pause, resume or remove a schedule."""
    plan = _own(request, pk)
    acts = {
        "pause": (services.pause_schedule, "The schedule is paused; what runs now goes on."),
        "resume": (services.resume_schedule, "The schedule goes on from now."),
        "remove": (services.remove_schedule, "The schedule is removed; its past runs stay."),
    }
    do, words = acts[act]
    try:
        do(plan, actor=str(request.user))
        messages.success(request, words)
    except ExecutionError as error:
        messages.error(request, str(error))
    return redirect("plan", plan.pk)


def _own(request: LabRequest, pk: int) -> Plan:
    plan: Plan = get_object_or_404(Plan.objects.whole(), pk=pk, study__lab=request.lab, is_from_report=False)
    return plan
