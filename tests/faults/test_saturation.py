"""Searches for saturation with real fio on a real agent, where the answer is known: a bound that no write keeps, and one
that every write keeps."""

from itertools import pairwise

import pytest

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Run
from apps.studies.models import Plan
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.saturation.row_ladders import RowLadder
from tests.faults.stack import Stack, until

pytestmark = [pytest.mark.faults, pytest.mark.fio]
MIB = 1 << 20
JOBS = (1, 2, 4)
JOB = {"rw": "randwrite", "direct": False, "sync": "dsync", "time_based": True, "runtime": 1}


def search(stack: Stack, bound_ms: float) -> tuple[Plan, RowLadder]:
    """Carry a search out and return it when its plan has ended."""
    target = stack.target()
    assert target
    point = {"tool": "fio", "file_size": MIB, "block_size": 4096, "iodepth": 1, "job": JOB}
    points = [{**point, "name": f"jobs-{jobs}", "threads": jobs} for jobs in JOBS]
    rule = {"kind": "saturation", "percentile": 99, "bound_ms": bound_ms, "rounds": 1}
    with lab_scope(stack.lab.pk):
        wanted = services.PlanRequest(stack.lab, f"Within {bound_ms:g} ms", [target], points, rule)
        plan = services.create_plan(wanted, actor="test")
        services.start_plan(plan, actor="test")

    def is_done() -> bool:
        with lab_scope(stack.lab.pk):
            return bool(Execution.objects.get(plan=plan).state == "done")

    until("the search has ended", 120, is_done)
    with lab_scope(stack.lab.pk):
        [ladder] = PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study)).ladders
    return plan, ladder


def test_real_fio_finds_the_answers_that_are_known(stack: Stack) -> None:
    stack.start_beat(quick=True)
    _, within = search(stack, 60_000)
    assert within.ladder.state == "capped", stack.logs()
    assert [result.rounds for result in within.ladder.results] == [1] * len(JOBS)
    best = within.ladder.results[within.ladder.best or 0]
    assert best.iops == max(result.iops or 0 for result in within.ladder.results)
    assert "The latency never passed the bound: capped at depth 1 × 4 jobs" in within.statement

    plan, beyond = search(stack, 0.001)
    assert (beyond.ladder.state, beyond.ladder.best, beyond.ladder.passed) == ("passed", None, 0)
    assert beyond.statement.startswith("No point is within p99 ≤ 1.00\u00a0µs. The first point beyond the bound,")
    with lab_scope(stack.lab.pk):
        runs = Run.objects.filter(planned_run__row__plan=plan)
        assert runs.count() == 1, "nothing heavier is measured"
        ended = Run.objects.filter(state="finished").order_by("pk").values_list("started_at", "finished_at")
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(ended)), (
        "each point after the result of the one before"
    )
