"""A host in maintenance gets no new runs, whichever way they are started; what is queued waits, what runs goes on."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Change, Host, Target
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from apps.runs.services import start_runs
from apps.runs.states import State
from tests.agents.conftest import agent  # noqa: F401  (an approved agent of our lab)
from tests.conftest import Cast

JOB = {"rw": "read", "block_size": 4096, "file_size": 1048576}


@pytest.fixture
def target(cast: Cast, agent: Any) -> Target:  # noqa: F811
    with lab_scope(cast.lab.pk):
        host = agent.row.host if hasattr(agent, "row") else Host.objects.get()
        return Target.objects.create(lab=cast.lab, host=host, name="/data", path="/data", is_agents_own=True)


def begin(client: Client, host: Host, note: str = "new cables until Friday") -> Any:
    return client.post(f"/hosts/{host.pk}/maintenance/", {"is_on": "1", "note": note}, follow=True)


def test_it_is_begun_and_ended_on_the_hosts_page(cast: Cast, target: Target, sign_in: Callable[[str], Client]) -> None:
    engineer = sign_in("engineer")
    text = begin(engineer, target.host).content.decode()
    assert "new cables until Friday" in text
    assert "End maintenance" in text
    for page in ("/hosts/", "/", "/runs/new/"):
        assert "maintenance" in engineer.get(page).content.decode(), page
    engineer.post(f"/hosts/{target.host_id}/maintenance/", {"is_on": "0"})
    with lab_scope(cast.lab.pk):
        host = Host.objects.get(pk=target.host_id)
        assert (host.is_in_maintenance, host.maintenance_note) == (False, "")
        change = Change.objects.of_part("host", host.pk).first()
        assert (change.before["maintenance_note"], change.after["is_in_maintenance"]) == (
            "new cables until Friday",
            False,
        )
    assert sign_in("viewer").post(f"/hosts/{target.host_id}/maintenance/", {"is_on": "1"}).status_code == 403


def test_a_note_that_is_too_long_changes_nothing(cast: Cast, target: Target, sign_in: Callable[[str], Client]) -> None:
    text = begin(sign_in("engineer"), target.host, "x" * 301).content.decode()
    assert "Nothing was changed" in text
    with lab_scope(cast.lab.pk):
        assert not Host.objects.get(pk=target.host_id).is_in_maintenance


def test_no_run_is_started_by_page_or_script(
    cast: Cast, target: Target, sign_in: Callable[[str], Client], token: Callable[[str], str]
) -> None:
    admin = {"Authorization": f"Bearer {token('admin')}"}
    on = Client().patch(
        f"/api/v1/hosts/{target.host_id}/", json.dumps({"is_in_maintenance": True, "maintenance_note": "cables"}),
        content_type="application/json", headers=admin,
    )  # fmt: skip
    assert (on.status_code, on.json()["is_in_maintenance"]) == (200, True)
    asked = json.dumps({"target": target.pk, "workload": JOB})
    refused = Client().post("/api/v1/runs/", asked, content_type="application/json", headers=admin)
    assert (refused.status_code, refused.json()["expected"]) == (
        400,
        f"a host that is not in maintenance; {target.host} is",
    )
    form = {
        "target": str(target.pk), "repetitions": "1", "act": "start", "jobs-TOTAL_FORMS": "1", "jobs-INITIAL_FORMS": "0", "jobs-0-rw": "read",
        "jobs-0-block_size": "4k", "jobs-0-file_size": "1m", "jobs-0-iodepth": "1", "jobs-0-numjobs": "1",
        "jobs-0-ioengine": "psync", "jobs-0-sync": "none",
    }  # fmt: skip
    page = sign_in("engineer").post("/runs/new/", form)
    assert (page.status_code, "not in maintenance" in page.content.decode()) == (422, True)
    with lab_scope(cast.lab.pk):
        assert not Run.objects.exists()


def test_a_queued_run_waits_and_its_page_says_why(
    cast: Cast,
    target: Target,
    agent: Any,  # noqa: F811
    sign_in: Callable[[str], Client],
) -> None:
    with lab_scope(cast.lab.pk):
        (run,) = start_runs(lab=cast.lab, target=target, spec={"jobs": [JOB]}, who="engineer")
    engineer = sign_in("engineer")
    begin(engineer, target.host)
    assert not agent.poll().get("offers")
    with lab_scope(cast.lab.pk):
        assert Run.objects.get(pk=run.pk).state == State.QUEUED
    text = engineer.get(f"/runs/{run.pk}/").content.decode()
    assert f"{target.host} is in maintenance and gets no new runs until that ends (new cables until Friday)" in text
    engineer.post(f"/hosts/{target.host_id}/maintenance/", {"is_on": "0"})
    assert [offer["run"] for offer in agent.poll()["offers"]] == [run.pk]
