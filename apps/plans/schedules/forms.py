"""The form of a plan's schedule."""

from typing import Any

from django import forms

from apps.core.forms import SiteForm, dress
from apps.labs.models import Lab
from apps.notifications.models import Destination
from apps.plans.forms import make_recipients_field
from apps.plans.models import PlanSchedule, ScheduleKind
from apps.plans.notices.recipients import find_chosen
from apps.plans.schedules.recurrence import RecurrenceError, zone_names
from apps.plans.schedules.services import WEEKDAYS, ScheduleRequest
from apps.plans.services import MOST_RETRIES
from apps.studies.models import Plan


class ScheduleForm(SiteForm):
    kind = forms.ChoiceField(choices=ScheduleKind.choices, label="How often")
    at = forms.TimeField(
        required=False, label="Time", input_formats=["%H:%M"], widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text="by the clock of the time zone; not used for cron text",
    )  # fmt: skip
    weekdays = forms.TypedMultipleChoiceField(
        required=False, coerce=int, label="Days", widget=forms.CheckboxSelectMultiple,
        choices=[(number % 7, WEEKDAYS[number % 7]) for number in range(1, 8)], help_text="for days of the week",
    )  # fmt: skip
    cron = forms.CharField(
        required=False, max_length=100, label="Cron text",
        help_text="minute, hour, day of month, month, day of week: 30 2 * * 1-5",
    )  # fmt: skip
    time_zone = forms.ChoiceField(label="Time zone")
    retries = forms.IntegerField(
        min_value=0,
        max_value=MOST_RETRIES,
        initial=0,
        label="Retries of a failed step",
        help_text="in each scheduled run",
    )

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["recipients"] = make_recipients_field(lab, "Notify when a run pauses itself or is not started")
        dress(self)
        zones: Any = self.fields["time_zone"]
        zones.choices = [(name, name) for name in zone_names()]

    def request(self) -> ScheduleRequest:
        """Return the schedule that is asked for."""
        typed = self.cleaned_data
        names = ("kind", "time_zone", "at", "weekdays", "cron", "retries")
        recipients = [channel.pk for channel in typed["recipients"]]
        return ScheduleRequest(**{name: typed[name] for name in names}, recipients=recipients)

    def place_error(self, error: RecurrenceError) -> None:
        """Put an error on the field that it is about."""
        name = error.field if error.field in self.fields else "cron"
        self.add_error(
            name, f"Found {error.found!r}, expected {error.expected}." if error.found else f"Expected {error.expected}."
        )


def initial_of(plan: Plan, schedule: PlanSchedule | None) -> dict[str, Any]:
    """Return what the form shows first: the schedule, else a night in the zone that the lab used last."""
    chosen = find_chosen(plan)
    if schedule is None:
        lab = plan.study.lab
        last = PlanSchedule.objects.filter(plan__study__lab=lab).order_by("-changed_at").first()
        every = list(Destination.objects.filter(lab=lab, is_active=True).values_list("pk", flat=True))
        zone = last.time_zone if last else "UTC"
        return {"kind": ScheduleKind.NIGHTLY, "at": "02:30", "time_zone": zone, "recipients": chosen or every}
    first = {
        "kind": schedule.kind, "time_zone": schedule.time_zone, "retries": schedule.retries, "recipients": chosen,
    }  # fmt: skip
    minute, hour, _, _, weekday = schedule.cron.split()
    if schedule.kind == ScheduleKind.CRON:
        return {**first, "cron": schedule.cron}
    days = [int(day) for day in weekday.split(",")] if schedule.kind == ScheduleKind.WEEKLY else []
    return {**first, "at": f"{int(hour):02d}:{int(minute):02d}", "weekdays": days}
