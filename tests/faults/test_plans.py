"""A plan with real fio while web, workers and agent are killed: every step is done once, and nothing is forgotten."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.management import call_command

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.models import Execution, load_plan
from apps.plans.plan_request import read_jobs, vary_jobs
from apps.plans.tasks import advance_host
from apps.runs.models import Attempt, Run
from apps.studies.models import Plan, PlannedRun
from apps.studies.plans.plan_page import CELL_METRICS, PlanPage
from apps.studies.plans.run_assignment import runs_of
from tests.faults.stack import Stack, until

pytestmark = [pytest.mark.faults, pytest.mark.fio]
MIB = 1 << 20
ROUNDS = 3
JOB = {"rw": "write", "direct": False, "sync": "none", "time_based": True, "runtime": 1}


def write_plan(stack: Stack) -> Plan:
    target = stack.target()
    assert target
    point = {"tool": "fio", "file_size": MIB, "job": JOB}
    points = [{**point, "name": f"by-{size}", "block_size": size} for size in (4096, 65536)]
    wanted = services.PlanRequest(
        stack.lab, "Through kills", [target], points, {"kind": "fixed", "rounds": ROUNDS}, guards=[{"kind": "space"}]
    )
    return services.create_plan(wanted, actor="test")


def start(stack: Stack) -> Plan:
    with lab_scope(stack.lab.pk):
        plan = write_plan(stack)
        services.start_plan(plan, actor="test")
    return plan


def state(stack: Stack, plan: Plan) -> str:
    with lab_scope(stack.lab.pk):
        return str(Execution.objects.get(plan=plan).state)


def finished(stack: Stack) -> int:
    with lab_scope(stack.lab.pk):
        return int(Run.objects.filter(state="finished").count())


def check_ledger(stack: Stack, plan: Plan) -> None:
    """Every step has exactly one finished run, in its order, no run was attempted twice, and no byte differs."""
    call_command("check_ledger", f"--spool={stack.state}")
    with lab_scope(stack.lab.pk):
        planned = PlannedRun.objects.filter(row__plan=plan).select_related("run", "point").order_by("run_id")
        steps = [(entry.round, entry.point.name) for entry in planned]
        assert steps == [(number, name) for number in range(1, ROUNDS + 1) for name in ("by-4096", "by-65536")]
        assert {entry.run.state for entry in planned} == {"finished"}, stack.logs()
        assert {entry.guard_outcome for entry in planned} == {"passed"}
        attempts = Counter(Attempt.objects.values_list("run_id", flat=True))
        assert set(attempts.values()) == {1}
        assert all(run.samples.exists() for run in Run.objects.all())


def restart_worker(stack: Stack) -> None:
    stack.kill("worker")
    stack.start_worker()


def restart_dispatcher(stack: Stack) -> None:
    stack.kill("dispatcher")
    stack.start_dispatcher()


def restart_web(stack: Stack) -> None:
    stack.kill("web")
    stack.start_web()


def restart_agent(stack: Stack) -> None:
    stack.kill("agent")
    stack.start_agent()


KILLS: list[Callable[[Stack], None]] = [restart_worker, restart_dispatcher, restart_web, restart_agent]


def test_a_plan_goes_on_after_each_kill(stack: Stack) -> None:
    stack.start_beat(quick=True)
    plan = start(stack)
    order = random.Random(20261126).sample(KILLS, len(KILLS))
    for number, kill in enumerate(order):
        until(lambda number=number: f"{number + 1} runs\n{stack.logs()}", 90, lambda n=number: finished(stack) > n)
        kill(stack)
    until(lambda: f"the plan is done\n{stack.logs()}", 120, lambda: state(stack, plan) == "done")
    check_ledger(stack, plan)


READER_BESIDE_WRITER = """[global]
size=8m
runtime=2
time_based
[reader]
rw=randread
bs=4k
rate=4m
numjobs=2
[writer]
rw=write
bs=64k
rate=2m
[alone]
stonewall
rw=randread
bs=4k
rate=8m
"""


def test_jobs_that_run_together_are_measured_together_and_told_apart(stack: Stack) -> None:
    """fio's rates are bounded, so that what each job and each operation must give is known."""
    with lab_scope(stack.lab.pk):
        target = stack.target()
        assert target
        points = vary_jobs(read_jobs(READER_BESIDE_WRITER), {}, {}).points
        wanted = services.PlanRequest(stack.lab, "Together", [target], points, {"kind": "fixed", "rounds": 1})
        plan = services.create_plan(wanted, actor="test")
        services.start_plan(plan, actor="test")
    until(lambda: f"the plan is done\n{stack.logs()}", 120, lambda: state(stack, plan) == "done")
    with lab_scope(stack.lab.pk):
        loaded = load_plan(plan.pk)
        page = PlanPage(loaded, runs_of(loaded.study, plan_id=plan.pk, metrics=CELL_METRICS[1:]))
        both, alone = page.cells
        assert (both.state, alone.state, page.not_counted) == ("done", "done", []), stack.logs()
        run = Run.objects.get(pk=both.runs[0].pk)
        assert list(run.sections) == ["0", "1"], "the two processes of the reader are one result, the writer another"
        assert "stonewall" not in run.sections["1"]["options"]
        values = both.operation_values("bandwidth")
        assert [(entry.operation, len(entry.jobs)) for entry in values] == [("randread", 1), ("write", 1)]
        rates = [entry.value.mean / MIB for entry in values if entry.value]
        assert rates == [pytest.approx(8, rel=0.25), pytest.approx(2, rel=0.25)]
        [single] = [entry.value.mean / MIB for entry in alone.operation_values("bandwidth") if entry.value]
        assert single == pytest.approx(8, rel=0.25)


@pytest.mark.long
def test_a_pause_lets_the_running_cell_end_and_starts_no_other(stack: Stack) -> None:
    plan = start(stack)
    until(lambda: f"the first run\n{stack.logs()}", 60, lambda: finished(stack) >= 1)
    with lab_scope(stack.lab.pk):
        services.pause_plan(plan, actor="test")
        until("nothing runs", 60, lambda: not Run.objects.open().exists())
        count = Run.objects.count()
        assert count < 2 * ROUNDS
        assert advance_host(plan.pk, stack.target().host_id) == "does not run"
        assert Run.objects.count() == count
        services.resume_plan(plan, actor="test")
    until(lambda: f"the plan is done\n{stack.logs()}", 120, lambda: state(stack, plan) == "done")
    check_ledger(stack, plan)
