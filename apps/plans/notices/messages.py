"""What is told of a plan's runs, and in which words: one way for runs that a person starts and for those of a schedule.

Whoever calls these functions need not know who follows the plan: where nobody does, nothing is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from apps.core.units import elapsed, moment
from apps.notifications.models import Delivery
from apps.notifications.services import send
from apps.plans.models import Execution, FiringOutcome, PlanSchedule, ScheduleFiring
from apps.plans.notices.recipients import find_firing, recipients_of
from apps.plans.schedules.failed_nights import MOST_FAILED, find_failed_nights
from apps.studies.models import Plan, PlannedRun

PLAN_PAUSED, PLAN_DONE, NOT_BEGUN = "plan-paused", "plan-done", "plan-not-begun"
RUN_PAUSED, NOT_STARTED, SCHEDULE_PAUSED = "scheduled-run-paused", "schedule-not-started", "schedule-paused"
SUBJECTS = {
    PLAN_PAUSED: "has paused itself", PLAN_DONE: "is done", NOT_BEGUN: "has not begun", RUN_PAUSED: "has paused itself",
    NOT_STARTED: "was not started", SCHEDULE_PAUSED: "is not started by its schedule any more",
}  # fmt: skip
RESUME = "It goes on when somebody resumes it."
AND_THEN = "The next due time ends it and starts a new run, unless something of it still runs then."
AND_NO_MORE = (
    f"It is the last of {MOST_FAILED} runs in a row of which none succeeded: the next due time pauses the schedule,"
    " unless a run of it has succeeded by then."
)
MOST_TOLD = 5  # hosts that have not begun


def tell_paused(plan: Plan, reason: str) -> list[Delivery]:
    """Tell those who follow a plan that it has paused itself, with the reason."""
    firing = find_firing(plan)
    schedule = _schedule_of(firing)
    then = _say_what_follows(schedule) if schedule else RESUME
    return _tell(plan, RUN_PAUSED if firing else PLAN_PAUSED, f"{plan} has paused itself. {reason} {then}", reason)


def _say_what_follows(schedule: PlanSchedule) -> str:
    if schedule.next_at is None:
        return "The schedule is paused."
    return AND_NO_MORE if len(find_failed_nights(schedule)) >= MOST_FAILED else AND_THEN


def tell_done(execution: Execution, counts: Mapping[str, int]) -> list[Delivery]:
    """Tell those who follow a plan that it is done; nobody of each run of a schedule, which is done night by night.

    Args:
        counts: The number of its cells by their state.
    """
    plan = execution.plan
    if find_firing(plan):
        return []
    finished = PlannedRun.objects.filter(row__plan=plan, run__state="finished").count()
    cells = ", ".join(f"{number} cell{'' if number == 1 else 's'} {state}" for state, number in counts.items())
    took = elapsed((timezone.now() - execution.started_at).total_seconds())
    runs = f"{finished} run{'' if finished == 1 else 's'} finished"
    text = f"{plan} is done, {took} after {execution.started_by or 'somebody'} started it: {runs}, {cells}."
    return _tell(plan, PLAN_DONE, f"{text} {execution.reason}".strip(), execution.reason)


def tell_not_begun(execution: Execution, reasons: Sequence[str]) -> list[Delivery]:
    """Tell those who follow a plan that none of its runs has begun, with what its hosts wait for, in sentences."""
    plan = execution.plan
    more = [f"{len(reasons) - MOST_TOLD} more hosts have not begun either."] if len(reasons) > MOST_TOLD else []
    reason = " ".join([*reasons[:MOST_TOLD], *more])
    text = f"{plan}, started {moment(execution.started_at)}, has not begun: none of its runs has. {reason}".strip()
    return _tell(plan, NOT_BEGUN, f"{text} It begins by itself when its hosts can.", reason)


def tell_not_started(firing: ScheduleFiring) -> list[Delivery]:
    """Tell those who follow a plan that a due time has started nothing; of several in a row only of the first.

    What was before a person set or resumed the schedule is no part of such a row.
    """
    known = ScheduleFiring.objects.filter(plan=firing.plan, due_at__lt=firing.due_at, is_left_out=False)
    if schedule := _schedule_of(firing):
        known = known.filter(fired_at__gt=schedule.changed_at)
    former = known.order_by("-due_at").first()
    if firing.outcome == FiringOutcome.STARTED or (former and former.outcome == firing.outcome):
        return []
    text = f"{firing.plan}: the run that was due {moment(firing.due_at)} was {firing.outcome}. {firing.reason}"
    return _tell(firing.plan, NOT_STARTED, text, firing.reason, firing)


def tell_schedule_paused(firing: ScheduleFiring) -> list[Delivery]:
    """Tell those who follow a plan that its schedule has paused itself at a due time, with the reason."""
    return _tell(firing.plan, SCHEDULE_PAUSED, f"{firing.plan}: {firing.reason}", firing.reason, firing)


def _tell(plan: Plan, event: str, text: str, reason: str, firing: ScheduleFiring | None = None) -> list[Delivery]:
    firing = firing or find_firing(plan)
    payload = {
        "event": event,
        "text": text,
        "plan": {"id": plan.pk, "title": plan.title, "url": _address_of(plan)},
        "reason": reason,
        **(_describe_schedule(firing) if firing else {}),
    }
    return [send(recipient, payload) for recipient in recipients_of(plan)]


def _describe_schedule(firing: ScheduleFiring) -> dict[str, Any]:
    """Return what a webhook gets about the schedule whose due time this is."""
    schedule = _schedule_of(firing)
    next_at = schedule.next_at if schedule else None
    return {
        "schedule": {
            "plan": firing.plan_id,
            "url": _address_of(firing.plan),
            "next_at": next_at.isoformat() if next_at else None,
        },
        "due_at": firing.due_at.isoformat(),
    }


def _schedule_of(firing: ScheduleFiring | None) -> PlanSchedule | None:
    """Return the schedule of a firing's plan as it is now; None where there is none any more."""
    return PlanSchedule.objects.filter(plan=firing.plan_id).first() if firing else None


def _address_of(plan: Plan) -> str:
    return f"{settings.SITE_URL}{plan.get_absolute_url()}"


def subject_of(payload: Mapping[str, Any]) -> str:
    """Return the subject of an e-mail about a plan."""
    return f"Spindle: {payload['plan']['title']} {SUBJECTS[payload['event']]}"


def text_of(payload: Mapping[str, Any]) -> str:
    """Return the text of an e-mail about a plan."""
    schedule = payload.get("schedule")
    lines = [payload["text"], "", f"Its page: {payload['plan']['url']}"]
    if schedule and schedule["url"] != payload["plan"]["url"]:
        lines.append(f"The schedule: {schedule['url']}")
    return "\n".join([*lines, ""])
