"""Celery tasks of plans. The database holds the state, so a task that runs twice finds nothing to do."""

import logging

from celery import shared_task
from django.utils import timezone

from apps.agents.dispatch import dispatch
from apps.core.task_queue import publish
from apps.labs.isolation import all_labs, lab_scope
from apps.plans.models import Execution, PlanSchedule, PreparationRun
from apps.plans.notices.late_begins import check_begin, find_unchecked
from apps.plans.schedules.services import fire
from apps.plans.steps import STARTED, advance, find_idle_hosts, find_unjudged_runs, note_evidence
from apps.studies.models import PlannedRun

log = logging.getLogger(__name__)
WITH_PLAN = ("run__host__agent", "run__workload", "row__plan", "row__configuration__target__host", "point")


@shared_task(name="plans.run_ended")
def run_ended(run_id: int) -> str:
    """Store what a planned run's guards found, and start its host's next step.

    Sent when an attempt ends without a result, and when a result was read in. It does nothing for other runs.
    """
    with all_labs():
        planned = PlannedRun.objects.select_related(*WITH_PLAN).filter(run=run_id).first()
        prepared = None if planned else PreparationRun.objects.select_related("run", "row").filter(run=run_id).first()
    if prepared is not None:
        with lab_scope(prepared.run.lab_id):
            return _go_on(prepared.row.plan_id, prepared.run.host_id)
    if planned is None:
        return "not planned"
    with lab_scope(planned.run.lab_id):
        note_evidence(planned, timezone.now())
        return _go_on(planned.row.plan_id, planned.run.host_id)


@shared_task(name="plans.advance_host")
def advance_host(plan_id: int, host_id: int) -> str:
    """Start the next step of a running plan on one host, if the host has none of its runs under way."""
    with all_labs():
        execution = Execution.objects.select_related("plan__study").filter(pk=plan_id).first()
    if execution is None:
        return "no such plan"
    with lab_scope(execution.plan.study.lab_id):
        return _go_on(plan_id, host_id)


def _go_on(plan_id: int, host_id: int | None) -> str:
    """Start the host's next step and offer it at once; its own message may wait behind those of other hosts."""
    outcome = advance(plan_id, host_id)
    if outcome in STARTED and host_id is not None:
        dispatch(host_id)
    return outcome


@shared_task(name="plans.sweep")
def sweep() -> int:
    """Send `advance_host` for the hosts of running plans that have nothing under way; every 10 s.

    It finds what a lost message, a worker that was killed, or a guard that held a step back left behind. Who follows a
    plan that does not begin is told once.
    """
    now = timezone.now()
    with all_labs():
        idle = find_idle_hosts()
        left = find_unjudged_runs()
        unchecked = find_unchecked(now)
    for plan_id, host_id in idle:
        publish(advance_host, plan_id, host_id)
    for run_id in left:
        publish(run_ended, run_id)
    for plan_id in unchecked:
        publish(check_plan_begin, plan_id)
    return len(idle)


@shared_task(name="plans.check_begin", expires=60)
def check_plan_begin(plan_id: int) -> bool:
    """Tell those who follow a plan that it has not begun, once; return whether they were told."""
    with all_labs():
        return check_begin(plan_id, timezone.now())


@shared_task(name="plans.fire_schedules")
def fire_schedules() -> int:
    """Carry out the schedules that are due, each in a transaction of its own; every 20 s. Return how many fired.

    A schedule that raises an error is logged, tried again the next time, and holds no other one up.
    """
    now = timezone.now()
    with all_labs():
        due = list(PlanSchedule.objects.due(now).order_by("next_at").values_list("plan_id", "plan__study__lab_id"))
    fired = 0
    for plan_id, lab_id in due:
        try:
            with lab_scope(lab_id):
                fired += fire(plan_id, now) is not None
        except Exception:
            log.exception("The schedule of plan %s could not be carried out", plan_id)
    return fired
