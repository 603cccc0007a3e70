"""Pages of a plan's schedule: set it, let it rest, remove it."""

from dataclasses import dataclass
from functools import cached_property

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.plans.models import PlanSchedule, ScheduleFiring
from apps.plans.schedules import services
from apps.plans.schedules.forms import ScheduleForm, initial_of
from apps.plans.schedules.recurrence import RecurrenceError
from apps.plans.services import ExecutionError
from apps.studies.models import Plan

MOST_FIRINGS = 10


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

    @property
    def next_times(self) -> list[str]:
        """Return the next due times by the clock of the schedule's zone."""
        if self.schedule is None:
            return []
        zone = services.recurrence_of(self.schedule).zone
        return [f"{due.astimezone(zone):%a %Y-%m-%d %H:%M %Z}" for due in services.next_times(self.schedule)]

    @cached_property
    def firings(self) -> list[ScheduleFiring]:
        firings = ScheduleFiring.objects.filter(plan=self.plan).select_related("started_plan__execution")
        return list(firings[:MOST_FIRINGS])

    @cached_property
    def fired_by(self) -> ScheduleFiring | None:
        """Return the firing that made this plan as a copy."""
        firing = ScheduleFiring.objects.filter(started_plan=self.plan).select_related("plan")
        return firing.first()  # type: ignore[no-any-return]


@member_required(Role.ENGINEER)
def schedule(request: LabRequest, pk: int) -> HttpResponse:
    """GET: the form. POST: set the schedule."""
    plan = _own(request, pk)
    panel = SchedulePanel(plan)
    form = ScheduleForm(request.POST or None, initial=initial_of(panel.schedule, request.lab))
    if request.method == "POST" and form.is_valid():
        try:
            made = services.set_schedule(plan, form.request(), actor=str(request.user))
        except RecurrenceError as error:
            form.place_error(error)
        except ExecutionError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{plan} runs {services.words_of(made)}.")
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
