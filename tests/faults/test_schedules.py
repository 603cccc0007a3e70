"""A schedule with real processes: nights that were missed while everything was down are made up once, late."""

from datetime import time, timedelta
from pathlib import Path

import pytest
from celery.beat import PersistentScheduler
from django.utils import timezone

from apps.labs.isolation import lab_scope
from apps.plans.models import Execution, PlanSchedule, ScheduleFiring
from apps.plans.schedules.services import ScheduleRequest, set_schedule
from apps.plans.services import PlanRequest, create_plan
from apps.runs.models import Run
from tests.faults.stack import Stack, until
from worker.beat import app

pytestmark = [pytest.mark.faults, pytest.mark.fio]
MIB = 1 << 20
JOB = {"rw": "write", "direct": False, "sync": "none", "time_based": True, "runtime": 1}


def leave_month_ahead(file: Path) -> None:
    """Store what the scheduler stores, as it was when the server's clock was a month ahead."""
    before = PersistentScheduler(app=app, schedule_filename=str(file))
    for entry in before.schedule.values():
        entry.last_run_at = timezone.now() + timedelta(days=30)
    before.close()


def test_missed_nights_are_made_up_once_whoever_is_killed(stack: Stack) -> None:
    target = stack.target()
    assert target
    points = [{"tool": "fio", "name": "small", "file_size": MIB, "block_size": 4096, "job": JOB}]
    with lab_scope(stack.lab.pk):
        wanted = PlanRequest(stack.lab, "Nights", [target], points, {"kind": "fixed", "rounds": 1})
        plan = create_plan(wanted, actor="test")
        at = (timezone.now() - timedelta(hours=3)).time().replace(second=0, microsecond=0)
        set_schedule(plan, ScheduleRequest("nightly", "UTC", at=time(at.hour, at.minute)), actor="test")
        down_since = timezone.now() - timedelta(days=3)
        PlanSchedule.objects.update(considered_at=down_since, next_at=down_since + timedelta(hours=21))
    leave_month_ahead(stack.folder / "beat-schedule")  # and was set right since
    stack.start_beat(quick=True)

    def fired() -> bool:
        with lab_scope(stack.lab.pk):
            return bool(ScheduleFiring.objects.exists())

    until(lambda: f"the schedule has fired\n{stack.logs()}", 90, fired)
    stack.kill("dispatcher")
    stack.kill("beat")
    stack.start_dispatcher()
    stack.start_beat(quick=True)

    def is_done() -> bool:
        with lab_scope(stack.lab.pk):
            return bool(Execution.objects.filter(state="done").exists())

    until(lambda: f"the copy is done\n{stack.logs()}", 120, is_done)
    with lab_scope(stack.lab.pk):
        firing = ScheduleFiring.objects.get()
        assert (firing.outcome, firing.missed) == ("started", 2)
        assert firing.reason.startswith("Late: it was started 3 h")
        assert Run.objects.filter(state="finished", planned_run__row__plan=firing.started_plan).count() == 1
        assert PlanSchedule.objects.get().next_at > timezone.now()
