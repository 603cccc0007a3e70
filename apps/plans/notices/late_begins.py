"""Plans that were started and do not begin: who follows one is told once, after a while, what its hosts wait for."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.inventory.models import Host
from apps.plans.models import Execution, PreparationRun
from apps.plans.notices.messages import tell_not_begun
from apps.plans.schedules.busy_hosts import find_waits
from apps.studies.models import PlannedRun

BEGINS_WITHIN = timedelta(minutes=15)
MOST_AT_ONCE = 100


def find_unchecked(now: datetime) -> list[int]:
    """Return the ids of running plans of which it is time to look whether they have begun, in the labs in scope."""
    running = Execution.objects.running().filter(start_checked_at=None, started_at__lte=now - BEGINS_WITHIN)
    return list(running.order_by("started_at").values_list("pk", flat=True)[:MOST_AT_ONCE])


@transaction.atomic
def check_begin(plan_id: int, now: datetime) -> bool:
    """Look once whether a plan has begun, and tell those who follow it where it has not; return whether it was told."""
    execution = Execution.objects.running().select_related("plan__study").filter(pk=plan_id).first()
    unchecked = Execution.objects.running().filter(pk=plan_id, start_checked_at=None)
    waits = find_waits(execution) if execution and not _has_begun(execution) else {}  # before the row is locked
    if execution is None or not unchecked.update(start_checked_at=now) or _has_begun(execution):
        return False
    names = Host.objects.in_bulk(waits)
    reasons = [f"{names[host]}: {' '.join(why) or 'its first step is not started yet.'}" for host, why in waits.items()]
    return bool(tell_not_begun(execution, reasons))


def _has_begun(execution: Execution) -> bool:
    """Return whether a host has begun a run of the plan since it was started; one that ended without a start counts too."""
    return any(
        model.objects.filter(row__plan=execution.plan_id, run__created_at__gte=execution.started_at)
        .exclude(run__started_at=None, run__finished_at=None)
        .exists()
        for model in (PlannedRun, PreparationRun)
    )
