"""Services of schedules: set, pause, resume and remove them, and carry out what is due.

A due time is dealt with once, under a lock on its schedule's row: a second task, or a worker that was killed and whose
task comes again, finds nothing to do. What was missed while no worker ran is made up once, late, and never twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from apps.plans.models import (
    Execution,
    ExecutionState,
    FiringOutcome,
    PlanSchedule,
    Preparation,
    ScheduleFiring,
    ScheduleKind,
    execution_of,
)
from apps.plans.schedules.recurrence import Recurrence, RecurrenceError, parse_recurrence
from apps.plans.services import MOST_RETRIES, ExecutionError, record_act, start_plan
from apps.studies.models import Guard, Plan, PlanCell, PlanConfiguration, PlanPoint
from apps.studies.plans.draft import free_name

LATE = timedelta(minutes=5)
MOST_A_DAY = 24
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
Part = TypeVar("Part", PlanConfiguration, PlanPoint, Guard, Preparation)
# What a plan is made of; all else that refers to one belongs to what became of it.
PARTS: tuple[type[Model], ...] = (PlanConfiguration, PlanPoint, Guard, Preparation, PlanCell)
BY_SCHEDULE = "schedule of"  # what starts of a schedule have as their author, before the plan's title


@dataclass(frozen=True)
class ScheduleRequest:
    """A schedule as somebody asks for it. `at` and `weekdays` (0 is Sunday) for nightly and weekly, `cron` else."""

    kind: str
    time_zone: str
    at: time | None = None
    weekdays: Sequence[int] = ()
    cron: str = ""
    retries: int = 0

    @property
    def text(self) -> str:
        """Return the schedule as cron text.

        Raises:
            RecurrenceError: A part is missing or does not fit.
        """
        if self.kind not in ScheduleKind.values:
            raise RecurrenceError("kind", self.kind[:40], f"one of {', '.join(ScheduleKind.values)}")
        if self.kind == ScheduleKind.CRON:
            return " ".join(self.cron.split())
        if self.at is None:
            raise RecurrenceError("at", "", "a time such as 02:30")
        if self.kind == ScheduleKind.NIGHTLY:
            return f"{self.at.minute} {self.at.hour} * * *"
        days = sorted(set(self.weekdays))
        if not days or not set(days) <= set(range(7)):
            raise RecurrenceError("weekdays", ", ".join(map(str, days)), "one day of the week or more, 0 (Sunday) to 6")
        return f"{self.at.minute} {self.at.hour} * * {','.join(map(str, days))}"


def recurrence_of(schedule: PlanSchedule) -> Recurrence:
    return parse_recurrence(schedule.cron, schedule.time_zone)


def next_times(schedule: PlanSchedule, count: int = 3, now: datetime | None = None) -> list[datetime]:
    """Return the next due times in UTC; empty while it is paused."""
    if schedule.is_paused:
        return []
    due = recurrence_of(schedule).after(now or timezone.now())
    return [moment for _, moment in zip(range(count), due, strict=False)]


def words_of(schedule: PlanSchedule) -> str:
    """Return `every day at 02:30, Europe/Rome` or the cron text."""
    minute, hour, _, _, weekday = schedule.cron.split()
    at = "" if schedule.kind == ScheduleKind.CRON else f"{int(hour):02d}:{int(minute):02d}"
    if schedule.kind == ScheduleKind.NIGHTLY:
        return f"every day at {at}, {schedule.time_zone}"
    if schedule.kind == ScheduleKind.WEEKLY:
        days = ", ".join(WEEKDAYS[int(day)] for day in weekday.split(","))
        return f"{days} at {at}, {schedule.time_zone}"
    return f"{schedule.cron} (cron), {schedule.time_zone}"


@transaction.atomic
def set_schedule(plan: Plan, wanted: ScheduleRequest, *, actor: str) -> PlanSchedule:
    """Give a plan a schedule, or another one; it begins with the next due time from now.

    Raises:
        RecurrenceError: It is no schedule, or is due more often than every hour.
        ExecutionError: The plan is a report's, or itself the copy of a schedule.
    """
    refuse_schedule(plan)
    if not 0 <= wanted.retries <= MOST_RETRIES:
        raise RecurrenceError("retries", str(wanted.retries), f"0 to {MOST_RETRIES}")
    recurrence = parse_recurrence(wanted.text, wanted.time_zone)
    if len(recurrence.minutes) * len(recurrence.hours) > MOST_A_DAY:
        raise RecurrenceError("cron", wanted.text[:80], f"at most {MOST_A_DAY} times a day")
    now = timezone.now()
    schedule: PlanSchedule
    schedule, _ = PlanSchedule.objects.update_or_create(
        plan=plan,
        defaults={
            "kind": wanted.kind, "cron": wanted.text, "time_zone": wanted.time_zone, "retries": wanted.retries,
            "is_paused": False, "considered_at": now, "next_at": recurrence.next_after(now), "changed_by": actor,
        },
    )  # fmt: skip
    record_act(plan, "plan schedule set", actor, schedule=words_of(schedule))
    return schedule


def refuse_schedule(plan: Plan) -> None:
    """Raise `ExecutionError` where a plan can have no schedule."""
    if plan.is_from_report:
        raise ExecutionError("A published report's plan cannot be changed.")
    if ScheduleFiring.objects.filter(started_plan=plan).exists():
        raise ExecutionError(
            "This plan is one run of a schedule; set the schedule of the plan that it was copied from."
        )


@transaction.atomic
def pause_schedule(plan: Plan, *, actor: str) -> PlanSchedule:
    """Let a schedule rest; what runs now goes on. Raises `ExecutionError` where there is none or it rests already."""
    schedule = _schedule_of(plan)
    if schedule.is_paused:
        raise ExecutionError("The schedule is paused already.")
    schedule.is_paused, schedule.next_at, schedule.changed_by = True, None, actor
    schedule.save()
    record_act(plan, "plan schedule paused", actor)
    return schedule


@transaction.atomic
def resume_schedule(plan: Plan, *, actor: str) -> PlanSchedule:
    """Go on with a schedule from now; what was due while it was paused is not made up.

    Raises:
        ExecutionError: There is none, or it is not paused.
    """
    schedule = _schedule_of(plan)
    if not schedule.is_paused:
        raise ExecutionError("The schedule is not paused.")
    now = timezone.now()
    schedule.is_paused, schedule.considered_at, schedule.changed_by = False, now, actor
    schedule.next_at = recurrence_of(schedule).next_after(now)
    schedule.save()
    record_act(plan, "plan schedule resumed", actor)
    return schedule


@transaction.atomic
def remove_schedule(plan: Plan, *, actor: str) -> None:
    """Remove a plan's schedule; its past firings and their plans stay. Raises `ExecutionError` where there is none."""
    schedule = _schedule_of(plan)
    words = words_of(schedule)
    schedule.delete()
    record_act(plan, "plan schedule removed", actor, schedule=words)


def _schedule_of(plan: Plan) -> PlanSchedule:
    schedule: PlanSchedule | None = PlanSchedule.objects.select_for_update().filter(plan=plan).first()
    if schedule is None:
        raise ExecutionError("The plan has no schedule.")
    return schedule


@transaction.atomic
def fire(plan_id: int, now: datetime) -> ScheduleFiring | None:
    """Deal with the newest due time of a schedule, and with all before it; None where nothing is due.

    The plan's copy is started, unless the one before still runs: then the firing is skipped, with the reason.
    """
    due = PlanSchedule.objects.due(now).filter(plan=plan_id)
    schedule: PlanSchedule | None = due.select_for_update(skip_locked=True, of=("self",)).first()
    if schedule is None:
        return None
    recurrence, plan = recurrence_of(schedule), schedule.plan
    latest = recurrence.last_between(schedule.considered_at, now)
    first_missed = schedule.considered_at
    schedule.considered_at, schedule.next_at = now, recurrence.next_after(now)
    schedule.save(update_fields=["considered_at", "next_at"])
    if latest is None:  # the zone's rules have changed since
        return None
    missed = recurrence.count_between(first_missed, latest)
    firing = ScheduleFiring(plan=plan, due_at=latest, fired_at=now, missed=missed)
    if reason := _still_runs(plan):
        firing.outcome, firing.reason = FiringOutcome.SKIPPED, reason
    else:
        _start_copy(schedule, firing, now)
    firing.reason = firing.reason[:500]
    firing.save()
    if firing.outcome != FiringOutcome.STARTED:
        record_act(plan, f"plan schedule {firing.outcome}", f"{BY_SCHEDULE} {plan}", reason=firing.reason)
    return firing


def _still_runs(plan: Plan) -> str:
    """Return why a due time is skipped: the plan or a copy of it is not over; empty where all are."""
    states = ExecutionState.RUNNING, ExecutionState.PAUSED
    plans = [plan.pk, *ScheduleFiring.objects.filter(plan=plan).values_list("started_plan_id", flat=True)]
    open_one = Execution.objects.filter(plan__in=[pk for pk in plans if pk], state__in=states).select_related("plan")
    execution = open_one.order_by("-started_at").first()
    if execution is None:
        return ""
    return f"{execution.plan}, started {execution.started_at:%Y-%m-%d %H:%M} UTC, is still {execution.state}."


def _start_copy(schedule: PlanSchedule, firing: ScheduleFiring, now: datetime) -> None:
    plan, actor = schedule.plan, f"{BY_SCHEDULE} {schedule.plan}"
    local = firing.due_at.astimezone(recurrence_of(schedule).zone)
    try:
        with transaction.atomic():
            copy = copy_plan(plan, f"{plan.title[:180]}, {local:%Y-%m-%d %H:%M}", actor=actor)
            former = execution_of(plan)
            guards: dict[str, Any] = (
                {"guard_wait": former.guard_wait, "guard_failure": former.guard_failure} if former else {}
            )
            start_plan(copy, actor=actor, retries=schedule.retries, **guards)
    except ExecutionError as error:
        firing.outcome, firing.reason = FiringOutcome.FAILED, str(error)
        return
    firing.outcome, firing.started_plan = FiringOutcome.STARTED, copy
    if now - firing.due_at > LATE:
        firing.reason = f"Late: it was started {_delay(now - firing.due_at)} after it was due, for no worker ran then."


def _delay(delay: timedelta) -> str:
    minutes = round(delay.total_seconds() / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def copy_plan(plan: Plan, title: str, *, actor: str) -> Plan:
    """Write a plan of the same study with the same rows, points, guards, preparations and excluded cells, without runs."""
    old = Plan.objects.whole().get(pk=plan.pk)
    rows, points = list(old.rows.all()), list(old.points.all())
    guards, cells = list(old.guards.all()), list(old.cells.all())
    copy = Plan.objects.create(
        study=old.study, name=free_name(old.study, title), title=title,
        position=Plan.objects.filter(study=old.study).count(), order=old.order, seed=old.seed, stopping=old.stopping,
        notes=old.notes, repeats=old.repeats, changed_by=actor,
    )  # fmt: skip
    new_rows = PlanConfiguration.objects.bulk_create([_copied(row, copy) for row in rows])
    new_points = PlanPoint.objects.bulk_create([_copied(point, copy) for point in points])
    Guard.objects.bulk_create([_copied(guard, copy) for guard in guards])
    Preparation.objects.bulk_create([_copied(preparation, copy) for preparation in old.preparations.all()])
    row_of = {row.pk: new for row, new in zip(rows, new_rows, strict=True)}
    point_of = {point.pk: new for point, new in zip(points, new_points, strict=True)}
    PlanCell.objects.bulk_create(
        PlanCell(
            plan=copy, row=row_of[cell.row_id], point=point_of[cell.point_id], reason=cell.reason, note=cell.note,
            runs_of=cell.runs_of,
        )
        for cell in cells
    )  # fmt: skip
    return copy  # type: ignore[no-any-return]


def _copied(part: Part, plan: Plan) -> Part:
    """Return an unsaved part of another plan with the same fields."""
    fields = {field.attname: getattr(part, field.attname) for field in part._meta.concrete_fields}
    return type(part)(**{**fields, "id": None, "plan_id": plan.pk})
