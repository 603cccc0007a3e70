"""A schedule, a trend and a notification with real processes: what nights measured becomes slower, and that is told once.

The agent runs real fio; its report is replaced by one that says what the night is to have measured. Between two nights
the past is moved back by a day.
"""

import json
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.comparison.question import parse
from apps.labs.isolation import lab_scope
from apps.notifications.models import Delivery, Destination
from apps.plans.models import Execution, PlanSchedule, ScheduleFiring
from apps.plans.schedules.services import ScheduleRequest, set_schedule
from apps.plans.services import PlanRequest, create_plan
from apps.plans.tasks import fire_schedules
from apps.runs.models import Run
from apps.studies.models import Plan
from apps.trends.candidates import candidates
from apps.trends.models import Recipient, Watch
from tests.faults.fio_reports import fio_report
from tests.faults.stack import MIB, Stack, until
from tests.trends.nights import noise

pytestmark = [pytest.mark.faults, pytest.mark.fio, pytest.mark.long]
JOB = {"rw": "write", "direct": False, "sync": "none", "time_based": True, "runtime": 1}
STEADY, SLOW = 10, 5  # nights
SLOWER = 0.85
DAY = timedelta(days=1)
FIO = """#!/usr/bin/python3 -I
import subprocess, sys
outputs = [word for word in sys.argv if word.startswith("--output=")]
status = subprocess.call(["/usr/bin/fio"] + ["--output=/dev/null" if word in outputs else word for word in sys.argv[1:]])
for output in outputs:
    with open({answer!r}, "rb") as source, open(output[9:], "wb") as target:
        target.write(source.read())
sys.exit(status)
"""


@pytest.fixture
def told(transactional_db: None, cast: Any, tmp_path: Path) -> Any:
    """A stack whose agent's fio reports what `tmp_path/answer.json` says."""
    stack, program, answer = Stack(tmp_path, cast.lab), tmp_path / "fio", tmp_path / "answer.json"
    program.write_text(FIO.format(answer=str(answer)))
    program.chmod(0o755)
    answer.write_bytes(report(1.0))
    try:
        stack.start_web()
        stack.start_worker()
        stack.start_dispatcher()
        stack.enrol()
        conf = stack.state / "agent.conf"
        conf.write_text(conf.read_text().replace("\nfio =\n", f"\nfio = {program}\n"))
        stack.start_agent()
        until("the agent describes its host", 30, stack.target)
        yield stack, answer
    finally:
        stack.down()


def report(factor: float) -> bytes:
    made = json.loads(fio_report("write", 4096, MIB))
    writes = made["jobs"][0]["write"]
    for name in ("bw", "bw_bytes", "iops", "io_bytes", "io_kbytes", "total_ios"):
        writes[name] = type(writes[name])(writes[name] * factor)
    return json.dumps(made).encode()


def pass_a_night(stack: Stack, plan: Plan, ago: int) -> Run:
    """Let the schedule come due, so many nights ago as far as its rows say, and wait until its copy is done."""

    def done() -> Run | None:
        with lab_scope(stack.lab.pk):
            if not Execution.objects.filter(plan__fired_by=newest, state="done").exists():
                return None
            return Run.objects.get(planned_run__row__plan__fired_by=newest)  # type: ignore[no-any-return]

    with lab_scope(stack.lab.pk):
        for firing in ScheduleFiring.objects.order_by("due_at"):
            ScheduleFiring.objects.filter(pk=firing.pk).update(due_at=firing.due_at - DAY)
        now = timezone.now()
        known = ScheduleFiring.objects.count()
        PlanSchedule.objects.update(considered_at=now - timedelta(hours=23), next_at=now - timedelta(hours=1))
    fire_schedules.delay()

    def fired() -> ScheduleFiring | None:
        with lab_scope(stack.lab.pk):
            return ScheduleFiring.objects.order_by("-pk").first() if ScheduleFiring.objects.count() > known else None

    newest = until(lambda: f"the schedule has fired\n{stack.logs()}", 60, fired)
    assert newest.outcome == "started", newest.reason
    run: Run = until(lambda: f"its copy is done\n{stack.logs()}", 60, done)
    ended = timezone.now() - ago * DAY
    with lab_scope(stack.lab.pk):
        Run.objects.filter(pk=run.pk).update(started_at=ended, finished_at=ended)
    return run


def follow(stack: Stack, plan: Plan) -> Watch:
    lab = stack.lab
    words = {"metric": ["bandwidth"], "operation": ["write"], "study": [plan.study.slug]}
    [series] = candidates(parse(words), lab.pk)
    with lab_scope(lab.pk):
        watch: Watch = Watch.objects.create(lab=lab, name="nightly", query=series.query, created_by="test")
        team = Destination.objects.create(
            lab=lab, kind="email", address="team@example.org", name="team", created_by="test"
        )
        Recipient.objects.create(lab=lab, watch=watch, destination=team)
    return watch


def test_slower_nights_are_told_once_through_all_processes(told: tuple[Stack, Path]) -> None:
    stack, answer = told
    target = stack.target()
    assert target
    with lab_scope(stack.lab.pk):
        points = [{"tool": "fio", "name": "small", "file_size": MIB, "block_size": 4096, "job": JOB}]
        plan = create_plan(
            PlanRequest(stack.lab, "Nights", [target], points, {"kind": "fixed", "rounds": 1}), actor="test"
        )
        at = (timezone.now() - timedelta(hours=2)).time()
        set_schedule(plan, ScheduleRequest("nightly", "UTC", at=time(at.hour, at.minute)), actor="test")
    usual = noise(STEADY + SLOW, seed=4, cv=0.01)
    runs, watch = [], None
    for number, value in enumerate(usual):
        answer.write_bytes(report(value * (SLOWER if number >= STEADY else 1)))
        runs.append(pass_a_night(stack, plan, STEADY + SLOW - number))
        watch = watch or follow(stack, plan)
        if number < STEADY:
            assert deliveries(stack) == []
    assert watch

    def is_evaluated(since: datetime) -> bool:
        with lab_scope(stack.lab.pk):
            found = Watch.objects.get(pk=watch.pk)
        return bool(found.evaluated_at and found.evaluated_at > since and found.summary["runs"] == STEADY + SLOW)

    begun = timezone.now()
    with lab_scope(stack.lab.pk):
        Watch.objects.filter(pk=watch.pk).call(begun)
    stack.start_beat()  # its sweep finds the watch due, however long ago
    until(lambda: f"the trend is looked at\n{stack.logs()}", 120, lambda: is_evaluated(begun))
    until(lambda: f"it was sent\n{stack.logs()}", 60, lambda: any(one.state == "sent" for one in deliveries(stack)))
    [delivery] = deliveries(stack)
    assert delivery.payload["text"].startswith("nightly: bandwidth of write became worse: −1")
    with lab_scope(stack.lab.pk):
        change = watch.change_points.get()
        assert change.run_id == runs[STEADY].pk, "the first slow night"
        assert change.low < SLOWER < change.high
        assert ScheduleFiring.objects.filter(plan=plan, outcome="started").count() == STEADY + SLOW


def deliveries(stack: Stack) -> list[Delivery]:
    with lab_scope(stack.lab.pk):
        return list(Delivery.objects.all())
