"""Plans by REST: what a script leaves out is the preset's, and what it says goes before it."""

from collections.abc import Callable

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab, Token
from apps.plans.presets import BY_NAME
from apps.plans.published_procedure import compare_with_report, find_procedures
from apps.plans.services import ExecutionError, add_repetitions
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Plan, Study
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.schema import plan_of
from apps.studies.plans.stopping_rule import MOST_ROUNDS, stopping_of
from tests.api.conftest import Script, script
from tests.conftest import Cast
from tests.plans.conftest import HOSTS, advance_all, end, written
from tests.plans.test_rest import body
from tests.sampling import for_each

__all__ = ["script"]
Scripts = Callable[[str], Script]
WritePlan = Callable[..., Plan]


@for_each("preset", BY_NAME, taken_back=True)
def test_what_a_script_leaves_out_is_as_the_preset_has_it(script: Scripts, study: Study, preset: str) -> None:
    answer = script("run")("POST", "plans/", {"title": "Usual", "targets": body()["targets"], "preset": preset})
    assert answer.status_code == 201, answer.content
    usual, plan = BY_NAME[preset], Plan.objects.get()
    assert plan.stopping == stopping_of(usual.rule).data
    assert [guard.kind for guard in plan.guards.all()] == [guard["kind"] for guard in usual.guards]
    assert (plan.order, plan.seed) == ("interleaved", None)
    assert plan.study != study, "a study of its own"


def test_what_a_script_says_goes_before_the_preset(script: Scripts, study: Study) -> None:
    rule = {"kind": "fixed", "rounds": 3}
    wanted = body(preset="steady-state", stopping=rule, guards=[], order="randomized", notes="By night.")
    del wanted["iodepths"]
    answer = script("run")("POST", "plans/", wanted)
    assert answer.status_code == 201, answer.content
    plan = Plan.objects.get()
    assert (plan.stopping, plan.guards.count(), plan.notes) == ({**plan.stopping, **rule}, 0, "By night.")
    assert (plan.order, plan.seed) == ("randomized", 0)


def test_a_script_retries_what_failed_and_reads_each_cell(script: Scripts, write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 1})
    client = script("run")
    client("POST", f"plans/{plan.pk}/start/", {})
    advance_all(plan)
    end(Run.objects.open().get(host__name="alpha"), State.FAILED)
    cells = {
        (cell["configuration"], cell["point"]): cell["state"]
        for cell in client.get(f"plans/{plan.pk}/").json()["cells"]
    }
    assert cells == {
        ("alpha", "small"): "failed", ("alpha", "large"): "running",
        ("beta", "small"): "running", ("beta", "large"): "waiting",
    }  # fmt: skip
    answer = client("POST", f"plans/{plan.pk}/retry/", {})
    assert (answer.status_code, answer.json()["execution"]["state"]) == (202, "running")
    cells = {
        (cell["configuration"], cell["point"]): cell["state"]
        for cell in client.get(f"plans/{plan.pk}/").json()["cells"]
    }
    assert cells["alpha", "small"] == "waiting"
    assert AuditEvent.objects.get(act="plan steps retried").detail == {"steps": 1}


def test_the_list_of_plans_is_that_of_the_study_that_was_asked_for(script: Scripts, write_plan: WritePlan, lab) -> None:
    plan = write_plan()
    other = Study.objects.create(lab=lab, slug="tapes", title="Tapes")
    other.configurations.create(name="alpha", label="alpha")
    alone = [{"configuration": "alpha"}]
    save_plan(other, plan_of(written(name="tapes", configurations=alone)), actor="me", position=0)
    client = script("read")
    assert [row["study"] for row in client.get("plans/?study=disks").json()["results"]] == ["disks"]
    assert [row["id"] for row in client.get("plans/?study=disks").json()["results"]] == [plan.pk]
    assert {row["study"] for row in client.get("plans/").json()["results"]} == {"disks", "tapes"}
    assert client.get("plans/?study=none").json()["results"] == []


@pytest.mark.parametrize("body", [{}, {"repetitions": 0}, {"repetitions": 1}])
def test_another_labs_plan_is_not_there_whatever_the_body(
    script: Scripts, write_plan: WritePlan, cast: Cast, body: dict[str, int]
) -> None:
    pk = write_plan().pk
    with lab_scope(cast.other_lab.pk):
        secret = Token.objects.issue(cast.other_lab, "run", "theirs")[1]
    assert Script(secret)("POST", f"plans/{pk}/repetitions/", body).status_code == 404
    assert Script(secret)("POST", f"plans/{pk}/start/", {"retries": -1}).status_code == 404
    own = script("run")("POST", f"plans/{pk}/repetitions/", body)
    assert own.status_code == (202 if body.get("repetitions") else 400)


def test_as_many_rounds_are_added_as_a_plan_may_have(write_plan: WritePlan) -> None:
    plan = write_plan(stopping={"kind": "fixed", "rounds": 3})
    left = MOST_ROUNDS - 3
    for number in (0, left + 1):
        with pytest.raises(ExecutionError, match=f"found {number}, expected 1 to {left} more"):
            add_repetitions(plan, number, actor="eve")
    assert add_repetitions(plan, left, actor="eve").rule.most == MOST_ROUNDS


def test_only_the_procedures_of_published_reports_are_offered(write_plan: WritePlan, lab: Lab) -> None:
    point = {"name": "one", "tool": "bonnie", "file_size": 1 << 30, "operations": ["write"]}
    own = write_plan(name="own", points=[point])
    assert find_procedures() == [], "a plan of one's own is no report's"
    Lab.objects.filter(pk=lab.pk).update(is_published=True)
    assert find_procedures() == []
    Plan.objects.filter(pk=own.pk).update(is_from_report=True)
    assert [plan.pk for plan in find_procedures()] == [own.pk]


def test_a_plan_stands_beside_the_report_that_it_repeats_and_no_other(write_plan: WritePlan, lab: Lab) -> None:
    reports = [write_plan(name=name, configurations=[{"configuration": name}]) for name in HOSTS]
    Lab.objects.filter(pk=lab.pk).update(is_published=True)
    for report in reports:
        ours = write_plan(name=f"again-{report.name}")
        ours.repeats = report
        ours.save()
        assert compare_with_report(ours, {})[0] == [report.name]
