"""The ledger's check of plans finds a step that counts twice, two runs of a plan at once, and a cell without evidence."""

from collections.abc import Callable

from apps.plans import services
from apps.plans.ledger import find_plan_breaks
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Plan, PlannedRun
from tests.plans.conftest import advance_all, end_all


def finish_first_round(write_plan: Callable[..., Plan]) -> Plan:
    plan = write_plan(guards=[{"kind": "space"}])
    services.start_plan(plan, actor="me")
    advance_all(plan)
    end_all()
    return plan


def test_a_plan_that_went_well_has_no_breaks(write_plan: Callable[..., Plan]) -> None:
    finish_first_round(write_plan)
    assert PlannedRun.objects.filter(run__state=State.FINISHED).count() == 2
    assert list(find_plan_breaks()) == []


def test_a_step_that_counts_twice_and_runs_twice_is_named(write_plan: Callable[..., Plan]) -> None:
    finish_first_round(write_plan)
    done = PlannedRun.objects.filter(run__state=State.FINISHED).select_related("row").order_by("run_id").first()
    assert done
    waiting = PlannedRun.objects.filter(row=done.row, run__state=State.QUEUED).get()
    run = Run.objects.get(pk=waiting.run_id)
    double = Run.objects.create(
        lab=run.lab, tool="fio", origin=Run.Origin.DISPATCHED, workload=run.workload, host=run.host, target=run.target,
    )  # fmt: skip
    PlannedRun.objects.create(run=double, row=done.row, point=done.point, round=done.round, evidence=done.evidence)
    assert list(find_plan_breaks()) == [
        f"Plan {done.row.plan_id} has 2 runs under way on host {run.host}; expected at most one.",
        f"Round {done.round} of row {done.row_id} and point {done.point_id} counts 2 runs; expected one.",
    ]


def test_a_finished_run_without_evidence_is_named(write_plan: Callable[..., Plan]) -> None:
    finish_first_round(write_plan)
    done = PlannedRun.objects.filter(run__state=State.FINISHED).order_by("run_id").first()
    assert done
    PlannedRun.objects.filter(pk=done.pk).update(evidence=[])
    assert list(find_plan_breaks()) == [
        f"Run {done.pk} counts for a plan with guards, and has no evidence of any of them."
    ]
