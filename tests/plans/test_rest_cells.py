"""Cells of a plan by REST: skipped with a reason, run after all, and made again one by one."""

from collections.abc import Callable

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.plans import services
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Plan, PlanCell
from tests.api.conftest import Script, script
from tests.conftest import Cast
from tests.plans.conftest import advance_all, end
from tests.sampling import for_each

__all__ = ["script"]
Scripts = Callable[[str], Script]
WritePlan = Callable[..., Plan]


def states(client: Script, plan: Plan) -> dict[tuple[str, str], str]:
    cells = client.get(f"plans/{plan.pk}/").json()["cells"]
    return {(cell["configuration"], cell["point"]): cell["state"] for cell in cells}


def test_a_cell_is_skipped_with_a_reason_and_run_after_all(script: Scripts, write_plan: WritePlan) -> None:
    plan, client = write_plan(), script("run")
    address = f"plans/{plan.pk}/cells/alpha/large/skip/"
    answer = client("POST", address, {"reason": "too large for the quota"})
    assert (answer.status_code, answer.json()["state"]) == (202, "not run"), answer.content
    assert answer.json()["reason"] == "too large for the quota"
    assert states(client, plan) == {
        ("alpha", "small"): "waiting", ("alpha", "large"): "not run", ("beta", "small"): "waiting",
        ("beta", "large"): "waiting",
    }  # fmt: skip
    assert AuditEvent.objects.get(act="plan cell skipped").who == "token run token"
    undone = client("DELETE", address)
    assert (undone.status_code, undone.json()["state"], undone.json()["reason"]) == (202, "waiting", "")
    assert set(states(client, plan).values()) == {"waiting"}
    again = client("DELETE", address)
    assert (again.status_code, again.json()["expected"]) == (409, "a cell that was skipped")


def test_a_skipped_cell_is_not_started(script: Scripts, write_plan: WritePlan) -> None:
    plan, client = write_plan(stopping={"kind": "fixed", "rounds": 1}), script("run")
    for point in ("small", "large"):
        assert client("POST", f"plans/{plan.pk}/cells/beta/{point}/skip/", {"reason": "broken"}).status_code == 202
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    assert [run.host.name for run in Run.objects.open().select_related("host")] == ["alpha"]


def test_the_failed_steps_of_one_cell_are_made_again(script: Scripts, write_plan: WritePlan) -> None:
    plan, client = write_plan(stopping={"kind": "fixed", "rounds": 1}), script("run")
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    for _ in range(2):
        for run in list(Run.objects.open().select_related("workload", "host")):
            end(run, State.FAILED if run.host.name == "alpha" else State.FINISHED)
    answer = client("POST", f"plans/{plan.pk}/cells/alpha/large/retry/")
    assert (answer.status_code, answer.json()["state"]) == (202, "waiting"), answer.content
    assert states(client, plan)["alpha", "small"] == "failed"
    nothing = client("POST", f"plans/{plan.pk}/cells/beta/large/retry/")
    assert (nothing.status_code, nothing.json()["detail"]) == (409, "No step has failed.")


@for_each(
    "body", ["null", {}, {"reason": ""}, {"reason": 5}, {"reason": "x" * 501}, {"why": "x"}, ["x"]], taken_back=True
)
def test_a_cell_is_not_skipped_without_a_reason(script: Scripts, write_plan: WritePlan, body) -> None:
    plan = write_plan()
    answer = script("run")("POST", f"plans/{plan.pk}/cells/alpha/large/skip/", body)
    assert answer.status_code == 400, answer.content
    assert not PlanCell.objects.exists()


def test_a_retry_takes_no_body(script: Scripts, write_plan: WritePlan) -> None:
    answer = script("run")("POST", f"plans/{write_plan().pk}/cells/alpha/large/retry/", {"rounds": 1})
    assert (answer.status_code, answer.json()["field"]) == (400, "rounds")


def test_only_who_may_start_runs_changes_cells_of_the_own_lab(
    script: Scripts, write_plan: WritePlan, cast: Cast, sign_in
) -> None:
    plan = write_plan()
    address = f"/api/v1/plans/{plan.pk}/cells/alpha/large/"
    for client in (script("read"), script("upload")):
        assert client("POST", f"{address}skip/", {"reason": "x"}).status_code == 403
        assert client("DELETE", f"{address}skip/").status_code == 403
        assert client("POST", f"{address}retry/").status_code == 403
    sent = {"data": {"reason": "x"}, "content_type": "application/json"}
    assert sign_in("viewer").post(f"{address}skip/", **sent).status_code == 403
    assert sign_in("stranger").post(f"{address}skip/", **sent).status_code == 404
    assert sign_in("stranger").delete(f"{address}skip/").status_code == 404
    with lab_scope(cast.lab.pk):
        assert not PlanCell.objects.exists()
    assert sign_in("engineer").post(f"{address}skip/", **sent).status_code == 202


@pytest.mark.parametrize("place", ["alpha/nothing", "gamma/large"])
def test_a_cell_that_the_plan_does_not_have(script: Scripts, write_plan: WritePlan, place: str) -> None:
    answer = script("run")("POST", f"plans/{write_plan().pk}/cells/{place}/skip/", {"reason": "x"})
    assert answer.status_code == 404
