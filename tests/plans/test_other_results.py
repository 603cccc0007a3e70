"""A run of a plan that finished and measured something else than it was asked: a failure that is not made again for ever."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.parsers.core.models import ParsedSample
from apps.plans import services
from apps.plans.models import Execution
from apps.plans.tasks import run_ended
from apps.runs.models import Run
from apps.runs.samples import save_samples
from apps.runs.states import State
from apps.studies.models import Plan, PlannedRun
from apps.studies.plans import run_assignment
from apps.studies.plans.plan_page import PlanPage, plans_of_study
from tests.plans.conftest import GIB, JOB, MIB, advance_all, end_all, written


def page_of(plan: Plan) -> PlanPage:
    [page] = plans_of_study(plan.study)
    return page


def finish_with_other_blocks(run: Run) -> None:
    """Let a run end with a result of blocks that it was not asked for."""
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED, started_at=now - timedelta(seconds=5), finished_at=now)
    sizes = {"file_size": GIB, "block_size": 64 * 1024, "threads": 1, "iodepth": 1}
    save_samples(run, [ParsedSample("read", "bandwidth", 1e8, **sizes)], None)
    run_ended(run.pk)


def test_a_result_of_something_else_is_a_failure_and_is_not_measured_for_ever(
    write_plan: Callable[..., Plan],
) -> None:
    plan = write_plan(points=written()["points"][:1])
    services.start_plan(plan, actor="me")
    advance_all(plan)
    for _ in range(10):
        for run in list(Run.objects.open().order_by("pk")):
            finish_with_other_blocks(run)
    assert Run.objects.count() == 4, "two rounds on each of two hosts, each once"
    assert Execution.objects.get(plan=plan).state == "done"
    planned = PlannedRun.objects.order_by("run_id").first()
    assert planned
    assert planned.failed_guard == (
        "result: measured something else than was asked: block size: 64\u00a0KiB; the plan asks for 1\u00a0MiB"
    )
    page = page_of(plan)
    assert {cell.state for cell in page.cells} == {"failed"}
    assert page.not_counted == []
    services.retry_failed(plan, actor="me")
    advance_all(plan)
    assert Run.objects.open().count() == 2


def test_a_result_of_what_the_plan_asked_before_it_was_changed_is_no_failure(write_plan: Callable[..., Plan]) -> None:
    plan = write_plan(points=written()["points"][:1])
    services.start_plan(plan, actor="me")
    advance_all(plan)
    end_all()
    services.cancel_plan(plan, actor="me")
    plan.points.update(block_size=MIB // 2)
    page = page_of(plan)
    assert {cell.state for cell in page.cells} == {"waiting"}
    finished = set(Run.objects.filter(state=State.FINISHED).values_list("pk", flat=True))
    assert len(finished) == 2
    assert finished <= {run for group in page.not_counted for run in group.runs}


def test_a_run_that_counts_for_its_step_is_not_compared_with_all_other_points(
    write_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"p{number}" for number in range(8)]
    points = [
        {"name": name, "tool": "fio", "file_size": (at + 1) << 30, "block_size": 1 << 20, "job": JOB}
        for at, name in enumerate(names)
    ]
    plan = write_plan(points=points, stopping={"kind": "fixed", "rounds": 1})
    services.start_plan(plan, actor="eve")
    for _ in names:
        advance_all(plan)
        end_all()
    compared: list[int] = []
    compare = run_assignment.differences

    def count(*facts: Any) -> Any:
        compared.append(1)
        return compare(*facts)

    monkeypatch.setattr(run_assignment, "differences", count)
    page = PlanPage(Plan.objects.whole().get(pk=plan.pk), run_assignment.runs_of(plan.study, plan_id=plan.pk))
    assert [cell.state for cell in page.cells] == ["done"] * 16
    assert len(compared) == 2 * 16, "twice with its own point, and with none of the others"
