"""Services of schedules: set, pause, resume and remove them, and carry out what is due.

A due time is dealt with once, under a lock on its schedule's row: a second task, or a worker that was killed and whose
task comes again, finds nothing to do. What was missed while no worker ran is made up once, late, and never twice. What
a person's act leaves out (a pause, another time) is not made up, and stands among the firings with that reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from apps.core.text import shorten
from apps.plans.models import (
    FiringOutcome,
    PlanSchedule,
    Preparation,
    ScheduleFiring,
    ScheduleKind,
    execution_of,
)
from apps.plans.notices.messages import tell_not_started, tell_schedule_paused
from apps.plans.notices.recipients import set_recipients
from apps.plans.schedules.busy_hosts import BusyHosts, find_busy_hosts, find_stopped_copies, leave_out
from apps.plans.schedules.failed_nights import MOST_FAILED, find_failed_nights
from apps.plans.schedules.recurrence import Recurrence, RecurrenceError, parse_recurrence
from apps.plans.services import LONGEST_REASON, MOST_RETRIES, ExecutionError, cancel_plan, record_act, start_plan
from apps.studies.models import Guard, Plan, PlanCell, PlanConfiguration, PlanPoint
from apps.studies.plans.draft import free_name
from apps.studies.plans.problems import PlanError

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
    recipients: Sequence[int] | None = None  # ids of notification channels; None: as before

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
    """Return the next due times in UTC; empty while it is paused, and where this server does not know its zone."""
    if schedule.is_paused:
        return []
    try:
        due = recurrence_of(schedule).after(now or timezone.now())
    except RecurrenceError:
        return []
    return [moment for _, moment in zip(range(count), due, strict=False)]


def words_of_due(schedule: PlanSchedule, due: datetime, form: str = "%a %Y-%m-%d %H:%M %Z") -> str:
    """Return a due time by the clock of the schedule's zone, with what a change of the clock does to it that day."""
    recurrence = recurrence_of(schedule)
    words = f"{due.astimezone(recurrence.zone):{form}}"
    if left_out := recurrence.left_out_time(due):
        return f"{words} ({left_out:%H:%M} does not exist that day: the clock goes forward)"
    return f"{words} (the first of two that day: the clock goes back)" if recurrence.comes_twice(due) else words


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
    """Give a plan a schedule, or another one; it begins with the next due time from now, or stays paused if it is.

    Raises:
        RecurrenceError: It is no schedule, or is due more often than every hour.
        ExecutionError: The plan is a report's, or itself the copy of a schedule.
    """
    refuse_schedule(plan)
    try:
        set_recipients(plan, wanted.recipients)
    except PlanError as error:
        raise RecurrenceError(error.field, str(error.found), error.expected) from None
    if not 0 <= wanted.retries <= MOST_RETRIES:
        raise RecurrenceError("retries", str(wanted.retries), f"0 to {MOST_RETRIES}")
    recurrence = parse_recurrence(wanted.text, wanted.time_zone)
    if len(recurrence.minutes) * len(recurrence.hours) > MOST_A_DAY:
        raise RecurrenceError("cron", wanted.text[:80], f"at most {MOST_A_DAY} times a day")
    now = timezone.now()
    schedule: PlanSchedule
    former = PlanSchedule.objects.select_for_update().filter(plan=plan).first()
    if former:
        _leave_out(former, now, f"{actor} changed the schedule before this was carried out.")
    is_paused = bool(former and former.is_paused)  # a change of the recipients alone must start nothing
    schedule, _ = PlanSchedule.objects.update_or_create(
        plan=plan,
        defaults={
            "kind": wanted.kind, "cron": wanted.text, "time_zone": wanted.time_zone, "retries": wanted.retries,
            "is_paused": is_paused, "reason": former.reason if former and is_paused else "", "considered_at": now,
            "next_at": None if is_paused else recurrence.next_after(now), "changed_by": actor,
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
    now = timezone.now()
    _leave_out(schedule, now, f"{actor} paused the schedule before this was carried out.")
    schedule.is_paused, schedule.considered_at, schedule.next_at, schedule.changed_by = True, now, None, actor
    schedule.reason = ""
    schedule.save()
    record_act(plan, "plan schedule paused", actor)
    return schedule


@transaction.atomic
def resume_schedule(plan: Plan, *, actor: str) -> PlanSchedule:
    """Go on with a schedule from now; what was due while it was paused is not made up, and is shown as skipped.

    Raises:
        ExecutionError: There is none, it is not paused, or this server does not know its zone.
    """
    schedule = _schedule_of(plan)
    if not schedule.is_paused:
        raise ExecutionError("The schedule is not paused.")
    now = timezone.now()
    try:
        recurrence = recurrence_of(schedule)
    except RecurrenceError as error:
        raise ExecutionError(f"The schedule cannot go on: {error}. Change it.") from None
    _leave_out(schedule, now, "")
    schedule.is_paused, schedule.considered_at, schedule.changed_by = False, now, actor
    schedule.next_at, schedule.reason = recurrence.next_after(now), ""
    schedule.save()
    record_act(plan, "plan schedule resumed", actor)
    return schedule


@transaction.atomic
def remove_schedule(plan: Plan, *, actor: str) -> None:
    """Remove a plan's schedule; its past firings and their plans stay. Raises `ExecutionError` where there is none."""
    schedule = _schedule_of(plan)
    words = words_of(schedule)
    _leave_out(schedule, timezone.now(), f"{actor} removed the schedule before this was carried out.")
    schedule.delete()
    record_act(plan, "plan schedule removed", actor, schedule=words)


def _schedule_of(plan: Plan) -> PlanSchedule:
    schedule: PlanSchedule | None = PlanSchedule.objects.select_for_update().filter(plan=plan).first()
    if schedule is None:
        raise ExecutionError("The plan has no schedule.")
    return schedule


def _leave_out(schedule: PlanSchedule, now: datetime, reason: str) -> None:
    """Store that the due times up to now are not made up: for this reason, or because the schedule was paused."""
    try:
        recurrence = recurrence_of(schedule)
    except RecurrenceError:  # nobody can say any more what was due
        return
    latest = recurrence.last_between(schedule.considered_at, now)
    if latest is None or _is_dealt_with(schedule, latest):
        return
    ScheduleFiring.objects.create(
        plan_id=schedule.plan_id, due_at=latest, fired_at=now, outcome=FiringOutcome.SKIPPED,
        reason=shorten(
            f"{schedule.changed_by} had paused the schedule." if schedule.is_paused else reason, LONGEST_REASON
        ),
        missed=recurrence.count_between(schedule.considered_at, latest), is_left_out=True,
    )  # fmt: skip


def _is_dealt_with(schedule: PlanSchedule, due: datetime) -> bool:
    """Return whether a due time was dealt with before: the server's clock was set back, and it comes again."""
    return bool(ScheduleFiring.objects.filter(plan=schedule.plan_id, due_at=due).exists())


@transaction.atomic
def fire(plan_id: int, now: datetime) -> ScheduleFiring | None:
    """Deal with the newest due time of a schedule, and with all before it; None where nothing is due.

    The plan's copy is started, without the hosts that still work on the one before. Where all of them do, the firing is
    skipped, with the reason. A run before that has paused itself after failures is ended first; while a person has
    paused it, the firing is skipped. After `MOST_FAILED` runs in a row of which none succeeded, the schedule pauses
    itself and nothing is started.
    """
    due = PlanSchedule.objects.due(now).filter(plan=plan_id)
    schedule: PlanSchedule | None = due.select_for_update(skip_locked=True, of=("self",)).first()
    if schedule is None:
        return None
    plan = schedule.plan
    try:
        recurrence = recurrence_of(schedule)
    except RecurrenceError as error:
        reason = f"The schedule is paused, because this server cannot find its times: {error}. Change it."
        stopped = ScheduleFiring(plan=plan, due_at=schedule.next_at or now, outcome=FiringOutcome.FAILED, reason=reason)
        tell_schedule_paused(_pause_itself(schedule, stopped, now))
        return stopped
    latest = recurrence.last_between(schedule.considered_at, now)  # none where the clock was set back
    first_missed = schedule.considered_at
    schedule.considered_at, schedule.next_at = now, recurrence.next_after(now)
    schedule.save(update_fields=["considered_at", "next_at"])
    if latest is None or _is_dealt_with(
        schedule, latest
    ):  # the zone's rules, or the server's clock, have changed since
        return None
    missed = recurrence.count_between(first_missed, latest)
    firing = ScheduleFiring(plan=plan, due_at=latest, fired_at=now, missed=missed)
    busy = find_busy_hosts(plan)
    failed = [] if busy.whole else find_failed_nights(schedule)
    if len(failed) >= MOST_FAILED:
        firing.outcome, firing.reason = FiringOutcome.SKIPPED, _say_why_it_rests(failed)
        tell_schedule_paused(_pause_itself(schedule, firing, now))
        return firing
    if busy.whole:
        firing.outcome, firing.reason = FiringOutcome.SKIPPED, busy.whole
    else:
        _start_copy(schedule, firing, now, busy)
    firing.reason = shorten(firing.reason, LONGEST_REASON)
    firing.save()
    if firing.outcome != FiringOutcome.STARTED:
        record_act(plan, f"plan schedule {firing.outcome}", f"{BY_SCHEDULE} {plan}", reason=firing.reason)
        tell_not_started(firing)
    return firing


def _pause_itself(schedule: PlanSchedule, firing: ScheduleFiring, now: datetime) -> ScheduleFiring:
    """Pause a schedule that a person has to look at, for the reason of a firing that starts nothing; return that, stored."""
    firing.fired_at, firing.reason = now, shorten(firing.reason, LONGEST_REASON)
    firing.save()
    author = f"{BY_SCHEDULE} {schedule.plan}"
    schedule.is_paused, schedule.considered_at, schedule.next_at, schedule.changed_by = True, now, None, author[:200]
    schedule.reason = firing.reason
    schedule.save()
    record_act(schedule.plan, f"plan schedule {firing.outcome}", author, reason=firing.reason)
    return firing


def _say_why_it_rests(failed: Sequence[Plan]) -> str:
    """Return why a schedule pauses itself after these runs, newest first, with what the newest one said."""
    newest = failed[0]
    execution = execution_of(newest)
    why = f" {execution.reason}" if execution else ""
    head = f"The schedule is paused, because of its last {len(failed)} runs none succeeded. Look into {newest}, then"
    return f"{head} resume the schedule.{why}"


def _start_copy(schedule: PlanSchedule, firing: ScheduleFiring, now: datetime, busy: BusyHosts) -> None:
    plan, actor = schedule.plan, f"{BY_SCHEDULE} {schedule.plan}"
    local = firing.due_at.astimezone(recurrence_of(schedule).zone)
    try:
        with transaction.atomic():
            copy = copy_plan(plan, f"{plan.title[:180]}, {local:%Y-%m-%d %H:%M}", actor=actor)
            leave_out(copy, busy)
            former = execution_of(plan)
            guards: dict[str, Any] = (
                {"guard_wait": former.guard_wait, "guard_failure": former.guard_failure} if former else {}
            )
            start_plan(copy, actor=actor, retries=schedule.retries, **guards)
    except ExecutionError as error:
        firing.outcome, firing.reason = FiringOutcome.FAILED, str(error)
        return
    words = " ".join(filter(None, [_end_stopped_copies(plan, actor), busy.words]))
    firing.outcome, firing.started_plan, firing.reason = FiringOutcome.STARTED, copy, words
    if now - firing.due_at > LATE:
        late = f"Late: it was started {_delay(now - firing.due_at)} after it was due, for no worker ran then."
        firing.reason = f"{late} {words}".strip()


def _end_stopped_copies(plan: Plan, actor: str) -> str:
    """End the runs before that have paused themselves; return which, in a sentence. What they measured stays."""
    stopped = find_stopped_copies(plan)
    for execution in stopped:
        ended = "The schedule ended this run when the next one was due: it had paused itself."
        cancel_plan(execution.plan, actor=actor, reason=f"{ended} {execution.reason}")
    names = ", ".join(str(execution.plan) for execution in stopped)
    return f"{shorten(names, 250)} had paused itself after failures, and was ended." if stopped else ""


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
        are_means=old.are_means, notes=old.notes, priority=old.priority, time_limit=old.time_limit,
        repeats=old.repeats, question=old.question, changed_by=actor,
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
