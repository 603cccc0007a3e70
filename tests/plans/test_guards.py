"""Guards of a plan: what each finds, with its figures, and what a plan does with it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.core.quantities import written
from apps.inventory.models import Array, Filesystem, Host, Target
from apps.plans import services
from apps.plans.guards import array_state, cache_rule, idle, space
from apps.plans.guards.evidence import ArrayReport, GuardEvidence, RunReport, StepFacts
from apps.plans.models import HostWait
from apps.plans.tasks import advance_host
from apps.runs.models import Run
from apps.studies.models import Plan, PlanCell, PlannedRun
from tests.plans.conftest import GIB, advance_all, end, host_id, steps_of

WritePlan = Callable[..., Plan]
REPORTED = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def arrays(*states: str) -> StepFacts:
    return StepFacts(arrays=[ArrayReport(f"md{n}", state) for n, state in enumerate(states)], reported_at=REPORTED)


def result(evidence: GuardEvidence | None) -> tuple[str, str]:
    assert evidence
    return evidence.outcome, written(evidence.text)


@pytest.mark.parametrize(
    ("step", "outcome", "text"),
    [
        (arrays("clean", "clean"), "passed", "md0: clean, md1: clean, as reported 2026-03-04 05:06 UTC"),
        (arrays("clean", "resyncing"), "failed", "md0: clean, md1: resyncing, as reported 2026-03-04 05:06 UTC"),
        (arrays("degraded"), "failed", "md0: degraded, as reported 2026-03-04 05:06 UTC"),
        (arrays("clean", ""), "not checked", "md0: clean, md1: state not reported, as reported 2026-03-04 05:06 UTC"),
        (
            arrays("", "rebuilding"), "failed",
            "md0: state not reported, md1: rebuilding, as reported 2026-03-04 05:06 UTC",
        ),
        (arrays(), "passed", "no array lies under the target, as reported 2026-03-04 05:06 UTC"),
        (StepFacts(), "passed", "no array lies under the target"),
        (StepFacts(is_stack_known=False), "not checked", "what the target lies on is not known"),
    ],
)  # fmt: skip
def test_an_array_that_is_not_clean_fails_its_guard(step: StepFacts, outcome: str, text: str) -> None:
    assert result(array_state.check_before(step, {})) == (outcome, text)


@pytest.mark.parametrize(
    ("file_size", "ram", "parameters", "outcome", "text"),
    [
        (4 * GIB, GIB, {"factor": 4}, "passed", "4\u00a0GiB / 1\u00a0GiB RAM = 4 ≥ 4"),
        (7 * GIB // 2, GIB, {"factor": 4}, "failed", "3\u202f584\u00a0MiB / 1\u00a0GiB RAM = 3.5 < 4"),
        (3 * GIB, GIB, {"factor": 4, "tolerance": 0.25}, "passed", "3\u00a0GiB / 1\u00a0GiB RAM = 3 ≥ 3"),
        (2 * GIB, GIB, {"factor": 4, "tolerance": 0.25}, "failed", "2\u00a0GiB / 1\u00a0GiB RAM = 2 < 3"),
        (GIB >> 10, 2 * GIB, {"factor": 2}, "failed", "1\u00a0MiB / 2\u00a0GiB RAM = 0.0005 < 2"),
        (None, GIB, {"factor": 4}, "not checked", "the step has no test file of its own size"),
        (GIB, None, {"factor": 4}, "not checked", "the host's RAM is not known"),
    ],
)
def test_a_file_smaller_than_the_cache_rule_asks_fails_it(
    file_size: int | None, ram: int | None, parameters: Mapping[str, float], outcome: str, text: str
) -> None:
    assert result(cache_rule.check_before(StepFacts(file_size, ram), parameters)) == (outcome, text)


@pytest.mark.parametrize(
    ("facts", "outcome", "text"),
    [
        ({"load_before": 0.5, "disk_before": 1_000_000}, "passed", "disk before 1.00\u00a0MB/s; load before 0.500"),
        ({"load_before": 0.51, "disk_before": 10}, "failed", "load before 0.510"),
        ({"load_before": 0.1, "network_during": 1_000_001}, "failed", "network during 1.00\u00a0MB/s"),
        ({"load_during": 0.1, "network_during_max": 9e9}, "passed", "load during 0.100"),
    ],
)
def test_a_host_that_does_something_else_fails_its_guard(facts: dict[str, float], outcome: str, text: str) -> None:
    limits = " (limits: load 0.5, 1.00\u00a0MB/s)"
    assert result(idle.check_after(RunReport(True, facts), {})) == (outcome, text + limits)


def test_the_limits_that_were_asked_for_hold_around_the_run_too() -> None:
    facts = {"load_before": 1.5, "disk_before": 3e6}
    asked = {"load": 2, "rate": 4e6}
    assert result(idle.check_after(RunReport(True, facts), asked))[0] == "passed"
    outcome, text = result(idle.check_after(RunReport(True, facts), {**asked, "load": 0}))
    assert outcome == "failed"
    assert text.endswith("(limits: load 0, 4.00\u00a0MB/s)")


def test_what_nobody_measured_is_not_called_idle() -> None:
    evidence = idle.check_after(RunReport(True, {"network_during_max": 1.0}), {})
    assert result(evidence) == ("not checked", "the host's agent reported no activity figures")
    assert idle.check_after(RunReport(False, {"load_before": 9.0}), {}) is None, "the run has not finished"


def test_the_room_that_the_agent_found_is_evidence_of_a_finished_run() -> None:
    assert result(space.check_after(RunReport(True, files_bytes=3 * GIB), {})) == (
        "passed", "the agent found room for 3\u00a0GiB before it started fio",
    )  # fmt: skip
    assert space.check_after(RunReport(False, files_bytes=GIB), {}) is None


@pytest.fixture
def array() -> Array:
    """The array under alpha's target, which resyncs."""
    target = Target.objects.select_related("host").get(host__name="alpha")
    host: Host = target.host
    array: Array = Array.objects.create(lab=host.lab, host=host, name="md7", level="5", state="resyncing")
    target.filesystem = Filesystem.objects.create(
        lab=host.lab, host=host, array=array, type="ext4", mount_point="/data"
    )
    target.save()
    return array


@pytest.fixture
def guarded(write_plan: WritePlan) -> Plan:
    return write_plan(guards=[{"kind": "array_settled"}], stopping={"kind": "fixed", "rounds": 1})


def evidence_of(run: Run) -> list[dict[str, Any]]:
    planned: PlannedRun = PlannedRun.objects.get(run=run)
    return list(planned.evidence)


def test_a_step_waits_until_its_array_has_settled(guarded: Plan, array: Array) -> None:
    services.start_plan(guarded, actor="eve")
    assert advance_all(guarded) == ["waits", "started"]
    assert HostWait.objects.get().reason == "Guard array settled: md7: resyncing."
    Array.objects.filter(pk=array.pk).update(state="clean")
    assert advance_host(guarded.pk, host_id("alpha")) == "started"
    assert not HostWait.objects.exists()
    run = Run.objects.open().get(host__name="alpha")
    [entry] = evidence_of(run)
    assert (entry["guard"], entry["outcome"], entry["text"]) == ("array_settled", "passed", "md7: clean")
    end(run)
    by_inventory, on_host = evidence_of(run)
    assert by_inventory == entry, "it was looked at before the step, and not again"
    assert (on_host["source"], on_host["phase"]) == ("host", "before"), "the host has looked itself"


def test_a_target_on_nothing_known_starts_and_says_that_nobody_checked(guarded: Plan) -> None:
    services.start_plan(guarded, actor="eve")
    assert advance_all(guarded) == ["started", "started"]
    [entry] = evidence_of(Run.objects.open().get(host__name="alpha"))
    assert (entry["outcome"], entry["text"]) == ("not checked", "what the target lies on is not known")


def test_a_step_that_waits_for_too_long_is_left_out_with_the_reason(guarded: Plan, array: Array) -> None:
    execution = services.start_plan(guarded, actor="eve")
    assert advance_host(guarded.pk, host_id("alpha")) == "waits"
    just_before = timedelta(seconds=execution.guard_wait - 60)
    HostWait.objects.update(since=timezone.now() - just_before)
    assert advance_host(guarded.pk, host_id("alpha")) == "waits"
    HostWait.objects.update(since=timezone.now() - timedelta(seconds=execution.guard_wait))
    assert advance_host(guarded.pk, host_id("alpha")) == "waits", "the next step has its own time"
    [cell] = PlanCell.objects.filter(row__plan=guarded)
    assert (cell.row.name, cell.reason) == ("alpha", "Guard array settled: md7: resyncing.")
    assert steps_of(Run.objects.open()) == []


def test_a_guard_that_is_not_required_only_leaves_its_evidence(write_plan: WritePlan, array: Array) -> None:
    plan = write_plan(guards=[{"kind": "array_settled", "required": False}])
    services.start_plan(plan, actor="eve")
    assert advance_all(plan) == ["started", "started"]
    [entry] = evidence_of(Run.objects.open().get(host__name="alpha"))
    assert (entry["outcome"], entry["is_required"]) == ("failed", False)


@pytest.mark.slow
def test_the_page_shows_what_the_guards_found_for_the_newest_run_that_was_looked_at(
    write_plan: WritePlan, sign_in: Callable[[str], Any]
) -> None:
    plan = write_plan(guards=[{"kind": "idle"}], stopping={"kind": "fixed", "rounds": 1})
    other = write_plan(name="other", title="Other", guards=[{"kind": "idle"}])

    def shown() -> str:
        return " ".join(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode().split())

    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert "Asked for; nothing was checked yet" in shown()
    first = Run.objects.open().get(host__name="alpha")
    end(first, facts={"load_before": 0.125})
    assert f'<a href="/runs/{first.pk}/">{first.pk}</a>' in shown()
    assert "load before 0.125" in shown()
    second = Run.objects.open().get(host__name="beta")
    end(second, facts={"load_before": 3.25})
    text = shown()
    assert f'Guards of run <a href="/runs/{second.pk}/">{second.pk}</a>' in text
    assert "load before 3.25" in text
    failed = Run.objects.open().filter(host__name="alpha").get()
    end(failed, "failed")
    text = shown()
    assert f'Guards of run <a href="/runs/{failed.pk}/">{failed.pk}</a>' in text, "its host had looked before it failed"
    services.start_plan(other, actor="eve")
    advance_all(other)
    end(Run.objects.open().filter(planned_run__row__plan=other).first(), facts={"load_before": 9.5})
    assert "load before 9.5" not in shown(), "that was a run of another plan"
