"""A plan with real fio while web, workers and agent are killed: every step is done once, and nothing is forgotten."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.management import call_command

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Attempt, Run
from apps.studies.models import Plan, PlannedRun
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
    stack.start_beat()
    plan = start(stack)
    order = random.Random(20261126).sample(KILLS, len(KILLS))
    for number, kill in enumerate(order):
        until(lambda number=number: f"{number + 1} runs\n{stack.logs()}", 90, lambda n=number: finished(stack) > n)
        kill(stack)
    until(lambda: f"the plan is done\n{stack.logs()}", 120, lambda: state(stack, plan) == "done")
    check_ledger(stack, plan)


@pytest.mark.long
def test_a_pause_lets_the_running_cell_end_and_starts_no_other(stack: Stack) -> None:
    plan = start(stack)
    until(lambda: f"the first run\n{stack.logs()}", 60, lambda: finished(stack) >= 1)
    with lab_scope(stack.lab.pk):
        services.pause_plan(plan, actor="test")
        until("nothing runs", 60, lambda: not Run.objects.open().exists())
        count = Run.objects.count()
        assert count < 2 * ROUNDS
        services.resume_plan(plan, actor="test")
    until(lambda: f"the plan is done\n{stack.logs()}", 120, lambda: state(stack, plan) == "done")
    check_ledger(stack, plan)
