"""Plans that run: each host gets one step after another, in the plan's order, until all is done."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.core import task_queue
from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.plans import services
from apps.plans.execution_page import ExecutionPage
from apps.plans.models import Execution, HostWait
from apps.plans.services import ExecutionError
from apps.plans.tasks import advance_host, run_ended, sweep
from apps.runs.models import Run
from apps.runs.services import start_runs
from apps.runs.states import State
from apps.studies.models import Plan, PlanCell, PlannedRun, StudyRun
from apps.studies.plans.plan_page import plans_of_study
from apps.studies.plans.services import PlanCellError, set_cell
from tests.conftest import Cast
from tests.plans.conftest import GIB, HOSTS, JOB, MIB, advance_all, end, end_all, host_id, steps_of
from tests.sampling import for_each

WritePlan = Callable[..., Plan]


def states(plan: Plan) -> dict[tuple[str, str], str]:
    [page] = plans_of_study(plan.study)
    return {(cell.row.name, cell.point.name): cell.state for cell in page.cells}


def start(plan: Plan, **more: int) -> Execution:
    execution = services.start_plan(plan, actor="eve", **more)
    advance_all(plan)
    return execution


def drain(plan: Plan, most: int = 50) -> list[tuple[str, str, int]]:
    """End whatever runs until the plan has ended; the steps of each host in the order in which they were made."""
    steps: list[tuple[str, str, int]] = []
    for _ in range(most):
        if not Run.objects.open().exists():
            return steps
        steps += end_all()
    raise AssertionError(f"not over after {most} turns: {steps}")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """What is sent to the workers, instead of the broker."""
    tasks: list[tuple[str, int, int]] = []
    monkeypatch.setattr(task_queue, "send", lambda *args, **_: tasks.append(args))
    return tasks


def test_each_host_takes_its_steps_in_the_order_of_the_plan(write_plan: WritePlan) -> None:
    plan = write_plan()
    execution = start(plan)
    assert steps_of(Run.objects.open()) == [("alpha", "small", 1), ("beta", "small", 1)]
    steps = drain(plan)
    of_alpha = [(point, number) for row, point, number in steps if row == "alpha"]
    assert of_alpha == [("small", 1), ("large", 1), ("small", 2), ("large", 2)]
    assert sorted(steps) == sorted((row, point, n) for row in HOSTS for point in ("small", "large") for n in (1, 2))
    execution.refresh_from_db()
    assert (execution.state, execution.ended_at is not None) == ("done", True)
    assert set(states(plan).values()) == {"done"}
    assert StudyRun.objects.count() == 8
    assert set(Run.objects.filter(planned_run__round=2).values_list("repetition", flat=True)) == {2}


def test_one_configuration_after_the_other_where_the_order_is_sequential(write_plan: WritePlan) -> None:
    plan = write_plan(order="sequential")
    start(plan)
    of_beta = [(point, number) for row, point, number in drain(plan) if row == "beta"]
    assert of_beta == [("small", 1), ("small", 2), ("large", 1), ("large", 2)]


def test_a_message_that_comes_twice_or_late_starts_nothing_twice(write_plan: WritePlan) -> None:
    plan = write_plan()
    start(plan)
    assert advance_all(plan) == ["under way", "under way"]
    run = Run.objects.open().filter(host__name="alpha").get()
    end(run)
    assert run_ended(run.pk) == "under way"
    assert Run.objects.filter(host__name="alpha").count() == 2


def test_the_sweeper_finds_what_a_lost_message_left(write_plan: WritePlan, django_capture_on_commit_callbacks) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    assert sweep() == len(HOSTS), "nothing was started yet"
    advance_all(plan)
    assert sweep() == 0
    run = Run.objects.open().first()
    ended = {"state": "failed", "problem": "fio ended with 1"}
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now(), **ended)
    assert sweep() == 0, "its own message is under way"
    for clock in (timezone.now() - timedelta(minutes=1), timezone.now() + timedelta(hours=1)):  # a host's may be ahead
        Run.objects.filter(pk=run.pk).update(finished_at=clock)
        assert sweep() == 1


def test_a_rule_that_looks_at_values_stops_when_they_agree(write_plan: WritePlan) -> None:
    rule = {"kind": "half_width", "percent": 2, "at_least": 3, "at_most": 6}
    plan = write_plan(
        stopping=rule, points=[{"name": "small", "tool": "fio", "file_size": GIB, "block_size": MIB, "job": JOB}]
    )
    start(plan)
    alpha = iter([1e8, 1e8, 1e8])
    beta = iter([1e8, 2e8, 1e8, 2e8, 1e8, 2e8])
    for _ in range(20):
        for run in Run.objects.open().select_related("workload", "host"):
            end(run, value=next(alpha if run.host.name == "alpha" else beta))
    counts = {name: Run.objects.filter(host__name=name).count() for name in HOSTS}
    assert counts == {"alpha": 3, "beta": 6}
    assert Execution.objects.get().state == "done"


@pytest.mark.slow
def test_a_rule_that_never_holds_ends_at_its_most_rounds_and_the_cell_says_so(
    write_plan: WritePlan, sign_in: Callable[[str], Client]
) -> None:
    rule = {"kind": "half_width", "percent": 5, "at_least": 3, "at_most": 4}
    plan = write_plan(stopping=rule)
    start(plan)
    while planned := list(PlannedRun.objects.filter(run__in=Run.objects.open()).select_related("run__host")):
        for entry in planned:
            noise = 0.2 * (entry.round % 2) if entry.run.host.name == "alpha" else 0
            end(entry.run, value=2e8 * (1 + noise))
    [page] = plans_of_study(plan.study)
    missed = {cell.row.name: cell.is_rule_missed for cell in page.cells}
    assert missed == {"alpha": True, "beta": False}
    assert {cell.progress.done for cell in page.cells if cell.row.name == "alpha"} == {4}
    client = sign_in("viewer")
    assert "done, <strong>the rule is not met</strong>" in client.get(f"/plans/{plan.pk}/").content.decode()
    cells = client.get(f"/api/v1/plans/{plan.pk}/").json()["cells"]
    assert {cell["configuration"]: cell["is_rule_met"] for cell in cells} == {"alpha": False, "beta": True}


def test_a_plan_is_not_done_while_a_target_is_gone_and_goes_on_when_it_is_there(write_plan: WritePlan) -> None:
    """Its filesystem is unmounted by the end of the first run: the rest waits and says why."""
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    execution = start(plan)
    target = Target.objects.filter(host__name="alpha")
    target.update(is_agents_own=False, gone_at=timezone.now(), gone_reason="nothing is mounted at /data")
    for _ in range(3):
        end_all()
        advance_all(plan)
    execution.refresh_from_db()
    assert execution.state == "running"
    wait = HostWait.objects.get()
    assert (wait.host.name, "nothing is mounted at /data." in wait.reason) == ("alpha", True)
    waits = [cell.waits for row in ExecutionPage(plan).rows for cell in row.cells if cell.waits]
    assert waits == [wait.reason]
    target.update(is_agents_own=True, gone_at=None, gone_reason="")
    sweep()
    advance_all(plan)
    drain(plan)
    advance_all(plan)
    execution.refresh_from_db()
    assert (execution.state, execution.reason) == ("done", "")
    assert set(states(plan).values()) == {"done"}
    assert not HostWait.objects.exists()


def test_a_plan_that_is_done_says_which_cells_no_agent_could_start(write_plan: WritePlan) -> None:
    Target.objects.filter(host__name="beta").update(is_agents_own=False)
    plan = write_plan()
    execution = start(plan)
    drain(plan)
    execution.refresh_from_db()
    assert execution.state == "done"
    assert execution.reason.startswith("2 cells of beta could not be started")


def test_a_paused_plan_starts_nothing_and_goes_on_where_it_was(write_plan: WritePlan) -> None:
    plan = write_plan()
    start(plan)
    services.pause_plan(plan, actor="eve")
    end_all()
    assert not Run.objects.open().exists()
    assert Execution.objects.get().reason == "Paused by eve."
    services.resume_plan(plan, actor="eve")
    advance_all(plan)
    assert steps_of(Run.objects.open()) == [("alpha", "large", 1), ("beta", "large", 1)]


def test_a_cancelled_plan_cancels_its_runs_and_keeps_what_was_measured(write_plan: WritePlan, lab) -> None:
    plan = write_plan()
    start(plan)
    end_all()
    target = Target.objects.get(host__name="alpha")
    other = start_runs(lab=lab, target=target, spec={"jobs": [{**JOB, "file_size": GIB, "block_size": MIB}]})[0]
    services.cancel_plan(plan, actor="eve")
    assert list(Run.objects.open()) == [other], "the plan's runs alone are cancelled"
    assert Run.objects.filter(state=State.FINISHED).count() == 2
    assert advance_all(plan) == ["does not run", "does not run"]
    services.start_plan(plan, actor="eve")  # and it can be started again
    assert Execution.objects.get().state == "running"


def test_a_failed_step_is_made_again_as_often_as_the_plan_says(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan, retries=1)
    run = Run.objects.open().filter(host__name="alpha").get()
    end(run, State.FAILED)
    assert steps_of(Run.objects.open().filter(host__name="alpha")) == [("alpha", "small", 1)]
    end(Run.objects.open().filter(host__name="alpha").get(), State.FAILED)
    assert steps_of(Run.objects.open().filter(host__name="alpha")) == [("alpha", "large", 1)]
    drain(plan)
    assert states(plan)["alpha", "small"] == "failed"
    assert Execution.objects.get().state == "done"


def test_failed_steps_are_retried_on_request_and_the_plan_runs_again(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    end(Run.objects.open().filter(host__name="alpha").get(), State.FAILED)
    drain(plan)
    assert services.retry_failed(plan, actor="eve") == 1
    assert Execution.objects.get().state == "running"
    assert states(plan)["alpha", "small"] == "waiting"
    advance_all(plan)
    assert steps_of(Run.objects.open()) == [("alpha", "small", 1)]
    drain(plan)
    assert set(states(plan).values()) == {"done"}
    with pytest.raises(ExecutionError, match=r"No step has failed\."):
        services.retry_failed(plan, actor="eve")


def test_starting_a_plan_again_of_which_only_failures_are_left_makes_those_again(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    end(Run.objects.open().filter(host__name="alpha").get(), State.FAILED)
    drain(plan)
    assert (Execution.objects.get().state, states(plan)["alpha", "small"]) == ("done", "failed")
    assert start(plan).retries == 0
    assert steps_of(Run.objects.open()) == [("alpha", "small", 1)]
    drain(plan)
    assert set(states(plan).values()) == {"done"}
    with pytest.raises(ExecutionError, match=r"Nothing is left to start: every cell is done or skipped\."):
        start(plan)


def test_a_cancelled_plan_goes_on_with_what_is_missing_when_it_is_started_again(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    end(Run.objects.open().filter(host__name="alpha").get())
    under_way = steps_of(Run.objects.open())
    assert under_way
    services.cancel_plan(plan, actor="eve")
    assert "failed" not in states(plan).values(), "nobody let them fail"
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert sorted(steps_of(Run.objects.open())) == sorted(under_way), "as the page says before it cancels"
    drain(plan)
    assert set(states(plan).values()) == {"done"}


def test_after_three_failures_on_a_host_the_plan_waits_for_somebody(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 5})
    start(plan)
    for _ in range(3):
        end(Run.objects.open().filter(host__name="alpha").get(), State.FAILED)
    execution = Execution.objects.get()
    assert execution.state == "paused"
    assert execution.reason.startswith("The last 3 runs on alpha do not count.")
    assert not Run.objects.open().filter(host__name="alpha").exists()
    services.resume_plan(plan, actor="eve")
    assert advance_host(plan.pk, host_id("alpha")) == "started", "what failed before is forgiven"


def test_a_host_that_is_never_idle_stops_the_plan_and_its_values_do_not_count(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 5}, guards=[{"kind": "idle"}])
    start(plan)
    for _ in range(3):
        end(Run.objects.open().filter(host__name="alpha").get(), facts={"load_before": 6.9})
    execution = Execution.objects.get()
    assert execution.state == "paused"
    assert "guard idle host: load before 6.90 (limits: load 0.5, 1.00\u00a0MB/s)" in execution.reason
    cell = next(entry for row in ExecutionPage(plan).rows for entry in row.cells if entry.cell.runs)
    assert cell.values == []
    assert cell.problem.startswith("guard idle host: load before 6.9")


def test_a_skipped_cell_is_not_run_and_says_why(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    row, point = plan.rows.get(name="alpha"), plan.points.get(name="large")
    set_cell(plan, row, point, actor="eve", reason="Takes too long.")
    assert ("alpha", "large", 1) not in drain(plan)
    assert states(plan)["alpha", "large"] == "not run"
    set_cell(plan, row, point, actor="eve", reason=" ")
    assert states(plan)["alpha", "large"] == "waiting"
    assert not plan.cells.exists()


def test_a_cell_that_a_person_skips_lets_its_hosts_go_on_at_once(
    write_plan: WritePlan, django_capture_on_commit_callbacks: Any
) -> None:
    plan = write_plan()
    row, point = plan.rows.get(name="alpha"), plan.points.get(name="large")
    with django_capture_on_commit_callbacks() as callbacks:
        set_cell(plan, row, point, actor="eve", reason="Takes too long.", note="Ask again in May.")
    assert len(callbacks) == len(set(plan.rows.values_list("configuration__target__host", flat=True)))
    with django_capture_on_commit_callbacks():
        cell = set_cell(plan, row, point, actor="eve", reason="")
    assert (cell.reason, cell.note) == ("", "Ask again in May.")
    acts = AuditEvent.objects.filter(act__startswith="plan cell").order_by("id")
    assert list(acts.values_list("act", flat=True)) == ["plan cell skipped", "plan cell written"]
    plan.is_from_report = True
    with pytest.raises(PlanCellError, match="cannot be changed"):
        set_cell(plan, row, point, actor="eve", reason="No.")


def test_repetitions_can_be_added_to_a_plan_that_is_done(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    drain(plan)
    services.add_repetitions(plan, 2, actor="eve")
    advance_all(plan)
    assert len(drain(plan)) == 8
    assert Execution.objects.get().state == "done"


def test_a_host_in_maintenance_waits_with_the_reason(write_plan: WritePlan) -> None:
    plan = write_plan()
    Host.objects.filter(name="alpha").update(is_in_maintenance=True, maintenance_note="new disks")
    start(plan)
    assert HostWait.objects.get().reason == "alpha is in maintenance (new disks)."
    assert steps_of(Run.objects.open()) == [("beta", "small", 1)]
    Host.objects.filter(name="alpha").update(is_in_maintenance=False)
    assert advance_host(plan.pk, host_id("alpha")) == "started"
    assert not HostWait.objects.exists()


def test_what_a_host_can_never_run_is_excluded_with_the_reason(write_plan: WritePlan) -> None:
    plan = write_plan()
    start(plan)
    Target.objects.filter(host__name="alpha").update(is_agents_own=False)
    end_all()
    assert states(plan)["alpha", "large"] in ("waiting", "not run")
    drain(plan)
    assert Execution.objects.get().state == "done"


def test_runs_from_elsewhere_stand_for_rounds(write_plan: WritePlan, lab) -> None:
    """An earlier run of the cell's own workload that was taken into the study is not made again."""
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    target = Target.objects.get(host__name="alpha")
    run = start_runs(lab=lab, target=target, spec={"jobs": [{**JOB, "file_size": GIB, "block_size": MIB}]})[0]
    StudyRun.objects.create(run=run, configuration=plan.rows.get(name="alpha").configuration)
    end(run)
    start(plan)
    assert steps_of(Run.objects.open()) == [("alpha", "large", 1), ("beta", "small", 1)]


@for_each("act", ["pause", "resume", "cancel"], taken_back=True)
def test_acts_that_do_not_fit_the_state_are_refused(write_plan: WritePlan, act: str) -> None:
    plan = write_plan()
    with pytest.raises(ExecutionError, match="not started yet"):
        getattr(services, f"{act}_plan")(plan, actor="eve")


def test_a_plan_without_anything_to_run_is_refused_with_the_reason(write_plan: WritePlan) -> None:
    plan = write_plan()
    Target.objects.update(is_agents_own=False)
    with pytest.raises(ExecutionError, match="No cell can be started"):
        services.start_plan(plan, actor="eve")


def test_every_act_is_in_the_audit_trail(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan, retries=1)
    set_cell(plan, plan.rows.get(name="beta"), plan.points.get(name="large"), actor="eve", reason=" Full. ")
    services.pause_plan(plan, actor="eve", reason="Lunch.")
    services.resume_plan(plan, actor="eve")
    for _ in range(2):
        end(Run.objects.open().get(host__name="alpha"), State.FAILED)
    drain(plan)
    assert services.retry_failed(plan, actor="eve") == 1
    services.add_repetitions(plan, 1, actor="eve")
    services.cancel_plan(plan, actor="eve")
    events = AuditEvent.objects.filter(subject="reading of disks", lab=plan.study.lab).order_by("pk")
    assert [(event.act, event.who, event.detail) for event in events] == [
        ("plan started", "eve", {"retries": 1}),
        ("plan cell skipped", "eve", {"row": "beta", "point": "large", "reason": "Full."}),
        ("plan paused", "eve", {"reason": "Lunch."}),
        ("plan resumed", "eve", {}),
        ("plan done", "plan Reading", {"done": 2, "failed": 1, "not run": 1}),
        ("plan steps retried", "eve", {"steps": 1}),
        ("plan repetitions added", "eve", {"number": 1}),
        ("plan cancelled", "eve", {}),
    ]


def test_every_act_that_lets_a_plan_go_on_calls_its_hosts_at_once(
    write_plan: WritePlan, sent: list[tuple[str, int, int]], django_capture_on_commit_callbacks: Any
) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    row, point = plan.rows.get(name="alpha"), plan.points.get(name="large")
    calls = [("plans.advance_host", plan.pk, host_id(name)) for name in HOSTS]

    def calls_of(act: Callable[..., Any], *args: Any, **more: Any) -> list[tuple[str, int, int]]:
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act(plan, *args, actor="eve", **more)
        return [call for call in sent if call[0] == "plans.advance_host"]

    assert calls_of(services.start_plan) == calls
    assert calls_of(services.pause_plan) == []
    assert calls_of(services.resume_plan) == calls
    assert calls_of(set_cell, row, point, reason="Takes too long.") == calls
    advance_all(plan)
    end(Run.objects.open().get(host__name="alpha"), State.FAILED)
    assert calls_of(services.retry_failed) == calls
    assert calls_of(services.add_repetitions, 1) == calls
    assert calls_of(services.cancel_plan) == []


def test_one_cell_is_retried_and_the_others_stay_as_they_are(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan)
    for _ in range(2):
        for run in list(Run.objects.open().select_related("workload", "host")):
            end(run, State.FAILED if run.host.name == "alpha" else State.FINISHED)
    assert {place for place, state in states(plan).items() if state == "failed"} == {
        ("alpha", "small"), ("alpha", "large"),
    }  # fmt: skip
    row, point = plan.rows.get(name="alpha"), plan.points.get(name="large")
    assert services.retry_failed(plan, actor="eve", row=row, point=point) == 1
    assert (states(plan)["alpha", "small"], states(plan)["alpha", "large"]) == ("failed", "waiting")
    with pytest.raises(ExecutionError, match=r"No step has failed\."):
        services.retry_failed(plan, actor="eve", row=plan.rows.get(name="beta"), point=point)


def test_a_step_that_succeeded_after_a_failure_is_not_made_again(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    start(plan, retries=1)
    end(Run.objects.open().get(host__name="alpha"), State.FAILED)
    drain(plan)
    with pytest.raises(ExecutionError, match=r"No step has failed\."):
        services.retry_failed(plan, actor="eve")


def test_guards_leave_evidence_and_a_failed_required_one_does_not_count(write_plan: WritePlan) -> None:
    guards = [{"kind": "idle"}, {"kind": "cache_rule", "factor": 2, "required": False}, {"kind": "fresh_system"}]
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1}, guards=guards)
    start(plan)
    busy = Run.objects.open().filter(host__name="alpha").get()
    end(busy, facts={"load_before": 3.0, "disk_before": 10})
    quiet = Run.objects.open().filter(host__name="beta").get()
    end(quiet, facts={"load_before": 0.05, "disk_before": 10})
    outcomes = {
        planned.run.host.name: {entry["guard"]: entry["outcome"] for entry in planned.evidence}
        for planned in PlannedRun.objects.filter(run__in=[busy, quiet]).select_related("run__host")
    }
    assert outcomes == {
        "alpha": {"cache_rule": "failed", "idle": "failed", "fresh_system": "not checked"},
        "beta": {"cache_rule": "failed", "idle": "passed", "fresh_system": "not checked"},
    }
    found = states(plan)
    assert found["alpha", "small"] == "failed", "the host was busy"
    assert found["beta", "small"] == "done"


def test_a_required_guard_that_lasts_excludes_its_cell(write_plan: WritePlan) -> None:
    plan = write_plan(guards=[{"kind": "cache_rule", "factor": 2}])
    start(plan)
    assert steps_of(Run.objects.open()) == [("alpha", "large", 1), ("beta", "large", 1)]
    cell = PlanCell.objects.get(row__name="alpha", point__name="small")
    assert cell.reason == "Guard cache rule: 1\u00a0GiB / 1\u00a0GiB RAM = 1 < 2."


def test_a_plan_of_another_lab_is_not_there(write_plan: WritePlan, cast: Cast) -> None:
    plan = write_plan()
    with lab_scope(cast.other_lab.pk), pytest.raises(Plan.DoesNotExist):
        services.start_plan(plan, actor="mallory")


def test_the_evidence_of_a_run_is_judged_once(write_plan: WritePlan) -> None:
    plan = write_plan(guards=[{"kind": "idle"}])
    start(plan)
    run = Run.objects.open().first()
    end(run)
    planned = PlannedRun.objects.get(run=run)
    assert planned.judged_at <= timezone.now()
    assert [entry.get("phase", "") for entry in planned.evidence] == ["before", ""], "on the host, and around the run"
    run_ended(run.pk)
    planned.refresh_from_db()
    assert len(planned.evidence) == 2


def test_a_plan_says_which_share_of_its_rounds_is_done(write_plan: WritePlan) -> None:
    plan = write_plan()
    assert (ExecutionPage(plan).rounds, ExecutionPage(plan).fraction) == ((0, 8), 0.0)
    start(plan)
    end_all()
    page = ExecutionPage(Plan.objects.whole().get(pk=plan.pk))
    assert (page.rounds, page.fraction) == ((2, 8), 0.25)
    drain(plan)
    page = ExecutionPage(Plan.objects.whole().get(pk=plan.pk))
    assert (page.rounds, page.fraction) == ((8, 8), 1.0)


def test_a_host_with_nothing_left_waits_for_nothing(write_plan: WritePlan) -> None:
    plan = write_plan()
    Host.objects.filter(name="alpha").update(is_in_maintenance=True)
    start(plan)
    assert HostWait.objects.get().host.name == "alpha"
    row = plan.rows.get(name="alpha")
    for point in plan.points.all():
        set_cell(plan, row, point, actor="eve", reason="The host is gone.")
    advance_host(plan.pk, host_id("alpha"))
    assert not HostWait.objects.exists()
