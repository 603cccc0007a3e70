from datetime import timedelta

import pytest
from django.utils import timezone

from apps.agents import identity
from apps.agents.models import Agent
from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent


def test_a_wrong_secret_is_401(agent) -> None:
    agent.secret = "0" * 64
    assert agent.post("inventory/", outputs=[]).status_code == 401


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer spa_x_y", "Basic spa_1_a", "Bearer spa_99999999999999999999_a"]
)
def test_a_malformed_secret_is_401(agent, client, header) -> None:
    answer = client.post(
        "/agent/v1/inventory/", "{}", content_type="application/json", headers={"Authorization": header}
    )
    assert answer.status_code == 401


def test_a_revoked_secret_is_401(agent) -> None:
    with all_labs():
        Agent.objects.update(state=Agent.State.REVOKED)
    assert agent.post("inventory/", outputs=[]).status_code == 401


def test_a_copied_secret_is_quarantined_and_gets_no_work(agent, start) -> None:
    start()
    agent.machine = "0" * 64
    assert agent.post("inventory/", outputs=[]).status_code == 403
    assert agent.row.state == Agent.State.QUARANTINED
    with pytest.raises(identity.RefusedError, match="quarantine"):
        agent.poll()
    with all_labs():
        assert AuditEvent.objects.filter(act="agent quarantined").count() == 1


def test_a_second_living_copy_gets_409(agent) -> None:
    agent.poll()
    with all_labs():
        Agent.objects.update(polling_until=timezone.now() + timedelta(seconds=20))
    agent.instance = "second"
    assert agent.post("inventory/", outputs=[]).status_code == 409


def test_a_poll_that_was_lost_with_its_web_process_keeps_nobody_out_for_long(agent) -> None:
    agent.poll()
    with all_labs():
        Agent.objects.update(polling_until=timezone.now() - timedelta(seconds=1))
    agent.instance = "second"
    assert agent.post("inventory/", outputs=[]).status_code == 202


def test_a_restarted_agent_takes_its_predecessors_place(agent) -> None:
    agent.poll()
    agent.instance = "second"
    agent.poll()
    assert agent.row.instance == "second"
