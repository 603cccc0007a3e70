"""Whether the last runs of a schedule failed one after the other, so that it is of no use to start a further one."""

from itertools import takewhile

from apps.plans.models import FiringOutcome, PlanSchedule, PreparationRun, ScheduleFiring
from apps.runs.states import ENDED, State
from apps.studies.models import Plan, PlannedRun

MOST_FAILED = 3  # runs of a schedule in a row


def find_failed_nights(schedule: PlanSchedule) -> list[Plan]:
    """Return the newest runs of a schedule, newest first, as far back as each has failed; `MOST_FAILED` at most.

    What was started before a person set or resumed the schedule is forgiven. A due time that started nothing is none.
    """
    started = ScheduleFiring.objects.filter(plan=schedule.plan_id, outcome=FiringOutcome.STARTED)
    newest = started.filter(fired_at__gt=schedule.changed_at).select_related("started_plan__execution")[:MOST_FAILED]
    return [firing.started_plan for firing in takewhile(_has_failed, newest) if firing.started_plan]


def _has_failed(firing: ScheduleFiring) -> bool:
    """Return whether a run of the schedule has paused itself, some of its runs having failed and none that counts.

    A guard that refuses a run is no failure: the host is in use, and may be free the next night.
    """
    plan = firing.started_plan
    execution = getattr(plan, "execution", None)
    if execution is None or not execution.has_paused_itself:
        return False
    ended = PlannedRun.objects.filter(row__plan=plan, run__state__in=ENDED).exclude(run__state=State.CANCELLED)
    planned = list(ended.select_related("run"))
    if any(entry.run.state == State.FINISHED and not entry.failed_guard for entry in planned):
        return False
    failed = PreparationRun.objects.filter(row__plan=plan, run__state__in=ENDED)
    is_unprepared = failed.exclude(run__state__in=[State.CANCELLED, State.FINISHED]).exists()
    return is_unprepared or any(not entry.is_refused for entry in planned)
