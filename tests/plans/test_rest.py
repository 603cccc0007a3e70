"""Plans by REST: made, started, paused, resumed and cancelled by scripts, with the same rules as on the page."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.inventory.models import Target
from apps.labs.models import AuditEvent
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Plan, Study
from tests.api.conftest import Script, script
from tests.plans.conftest import HOSTS, advance_all, end
from tests.sampling import for_each

__all__ = ["script"]
Scripts = Callable[[str], Script]
WritePlan = Callable[..., Plan]


def body(**changes: Any) -> dict[str, Any]:
    targets = list(Target.objects.values_list("pk", flat=True))
    return {"title": "Depths", "targets": targets, "preset": "queue-depth", "iodepths": "1,2..8", **changes}


@pytest.mark.usefixtures("study")
def test_a_plan_is_made_and_run_by_a_script(script: Scripts) -> None:
    client = script("run")
    answer = client("POST", "plans/", body())
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert answer.headers["Location"] == made["url"]
    assert made["execution"] is None
    plan = Plan.objects.get(pk=made["id"])
    assert [point.iodepth for point in plan.points.all()] == [1, 2, 4, 8]
    address = f"plans/{plan.pk}/"
    started = client("POST", f"{address}start/", {"retries": 1})
    assert (started.status_code, started.json()["execution"]["state"]) == (202, "running")
    advance_all(plan)
    assert Run.objects.open().count() == len(HOSTS)
    assert client("POST", f"{address}pause/", {}).json()["execution"]["state"] == "paused"
    assert client("POST", f"{address}resume/", {}).json()["execution"]["state"] == "running"
    end(Run.objects.open().first(), State.FAILED)
    read = client.get(address).json()
    assert {cell["state"] for cell in read["cells"]} == {"running", "waiting"}
    assert client("POST", f"{address}repetitions/", {"repetitions": 2}).json()["stopping"]["rounds"] == 7
    assert client("POST", f"{address}cancel/", {}).json()["execution"]["state"] == "cancelled"
    assert not Run.objects.open().exists()
    assert AuditEvent.objects.filter(act="plan started").exists()


@for_each(
    "changed, status, field",
    [
        ({"preset": "nonsense"}, 400, "preset"),
        ({"points": []}, 400, "preset"),
        ({"iodepths": "8..1"}, 400, "iodepths"),
        ({"targets": [10**9]}, 404, "targets"),
        ({"targets": []}, 400, "targets"),
        ({"stopping": {"kind": "fixed", "rounds": 0}}, 400, "stopping.rounds"),
        ({"study": "nowhere"}, 400, "study"),
        ({"preset": None, "repeats": 10**9}, 400, "preset"),
        ({"order": "any"}, 400, "plan.order"),
        ({"stopping": {"kind": ["fixed"]}}, 400, "stopping.kind"),
        ({"guards": [{"kind": {}}]}, 400, "plan.guards[0].kind"),
        ({"iodepth": "1"}, 400, "found iodepth="),
        ({"block_sizes": "4k"}, 400, "block_sizes"),
        ({"runtime": 5, "preset": "sync-trio", "iodepths": "4"}, 400, "expected nothing: the procedure Sync trio"),
        ({"file_sizes": "9" * 400 + "x"}, 400, "file_sizes"),
        ({"targets": [1, "x"]}, 400, "targets: [1] A valid integer is required."),
    ],
)
@pytest.mark.usefixtures("study")
def test_what_does_not_fit_is_refused_by_its_name(script: Scripts, changed, status: int, field: str) -> None:
    answer = script("run")("POST", "plans/", body(**changed))
    assert answer.status_code == status, answer.content
    assert field in answer.content.decode()
    assert not Plan.objects.exists()
    assert Study.objects.count() == 1, "nothing half made stays"


def test_what_does_not_fit_the_state_is_a_conflict(script: Scripts, write_plan: WritePlan) -> None:
    plan = write_plan()
    client = script("run")
    assert client("POST", f"plans/{plan.pk}/pause/", {}).status_code == 409
    assert client("POST", f"plans/{plan.pk}/retry/", {}).status_code == 409
    services.start_plan(plan, actor="eve")
    again = client("POST", f"plans/{plan.pk}/start/", {})
    assert (again.status_code, "already" in again.json()["detail"]) == (409, True)


def test_a_read_token_and_another_lab_start_nothing(script: Scripts, write_plan: WritePlan, cast) -> None:
    plan = write_plan()
    assert script("read")("POST", f"plans/{plan.pk}/start/", {}).status_code == 403
    assert not Execution.objects.exists()


def test_nothing_is_retried_of_a_cancelled_plan(script: Scripts, write_plan: WritePlan) -> None:
    plan = write_plan()
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    end(Run.objects.open().first(), State.FAILED)
    services.cancel_plan(plan, actor="eve")
    answer = script("run")("POST", f"plans/{plan.pk}/retry/", {})
    assert (answer.status_code, "start it again" in answer.json()["detail"]) == (409, True)


def test_points_of_ones_own(script: Scripts, study: Study) -> None:
    job = {"rw": "read", "direct": True}
    point = {"name": "one", "tool": "fio", "file_size": 1 << 30, "block_size": 4096, "job": job}
    wanted = body(points=[point], study=study.slug, guards=[{"kind": "cache_rule", "factor": 4}])
    del wanted["preset"], wanted["iodepths"]
    answer = script("run")("POST", "plans/", wanted)
    assert answer.status_code == 201, answer.content
    plan = Plan.objects.get()
    assert plan.study == study
    assert plan.guards.get().parameters == {"factor": 4.0, "tolerance": 0.0}
    assert {row.configuration.name for row in plan.rows.all()} == set(HOSTS), "the study's own configurations"
