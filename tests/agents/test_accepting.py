"""An offer is accepted by the agent that it was made to, by its own token, and by nobody else."""

from typing import Any

import pytest

from apps.agents import poll
from apps.agents.models import Agent, Enrolment
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt
from apps.runs.states import State
from tests.agents.conftest import FakeAgent


@pytest.fixture
def offered(agent, start) -> dict[str, Any]:
    start()
    return agent.poll()["offers"][0]


def _accept(agent, offer: dict[str, Any], **body: Any) -> tuple[int, Any]:
    answer = agent.post(f"attempts/{offer['attempt']}/accept/", **{"token": offer["token"], **body})
    return answer.status_code, answer.json()


def _state(offer: dict[str, Any]) -> str:
    with all_labs():
        attempt = Attempt.objects.select_related("run").get(pk=offer["attempt"])
        assert attempt.run.state == attempt.state
        return str(attempt.state)


@pytest.mark.slow
def test_the_same_agent_as_ever_accepts_its_offer(agent, offered) -> None:
    assert _accept(agent, offered) == (200, {"state": "accepted"})
    assert _state(offered) == State.ACCEPTED


def test_a_repeated_accept_after_a_lost_answer_is_no_error(agent, offered) -> None:
    _accept(agent, offered)
    assert _accept(agent, offered) == (200, {"state": "accepted"})
    assert _state(offered) == State.ACCEPTED


def test_a_run_that_has_gone_on_is_not_taken_back(agent, offered) -> None:
    _accept(agent, offered)
    agent.post(f"attempts/{offered['attempt']}/running/", token=offered["token"], started_at=1.0)
    assert _accept(agent, offered)[0] == 410
    assert _state(offered) == State.RUNNING


@pytest.mark.parametrize("token", [2**62, 0, -1, 2**70, True, None, [7]])
def test_another_token_changes_nothing(agent, offered, token) -> None:
    assert _accept(agent, offered, token=token)[0] == 409
    assert _state(offered) == State.OFFERED


@pytest.mark.parametrize(
    ("state", "status"), [(Agent.State.PENDING, 403), (Agent.State.QUARANTINED, 403), (Agent.State.REVOKED, 401)]
)
def test_an_agent_that_is_not_approved_any_more_changes_nothing(agent, offered, state, status) -> None:
    with all_labs():
        Agent.objects.filter(pk=agent.pk).update(state=state)
    assert _accept(agent, offered)[0] == status
    assert _state(offered) == State.OFFERED


@pytest.mark.parametrize(("what", "status"), [("secret", 401), ("machine", 403), ("pk", 401)])
def test_a_caller_that_is_another_changes_nothing(agent, offered, what, status) -> None:
    setattr(agent, what, 10**9 if what == "pk" else "another")
    assert _accept(agent, offered)[0] == status
    assert _state(offered) == State.OFFERED


def test_an_agent_accepts_no_other_hosts_offer(agent, offered, cast) -> None:
    rival = FakeAgent(cast.other_lab)
    with lab_scope(cast.other_lab.pk):
        _, token = Enrolment.objects.issue(cast.other_lab, "owner", trusted=True)
    assert rival.enrol(token).status_code == 201
    rival.poll()  # its instance is known from now on
    assert _accept(rival, offered)[0] == 404
    assert _state(offered) == State.OFFERED


def test_a_revoked_agent_is_offered_nothing_though_its_poll_is_still_held(agent, offered) -> None:
    held = agent.row
    with lab_scope(agent.lab.pk):
        assert poll.answer(held, poll.Report())
    with all_labs():
        Agent.objects.filter(pk=agent.pk).update(state=Agent.State.REVOKED)
    with lab_scope(agent.lab.pk):
        assert poll.answer(held, poll.Report()) is None


@pytest.mark.parametrize("clock", [1e18, -1e18, 2**63, "noon", True, [1]])
def test_a_clock_that_no_date_can_show_is_refused_and_the_attempt_goes_on(agent, offered, clock) -> None:
    _accept(agent, offered)
    answer = agent.post(f"attempts/{offered['attempt']}/running/", token=offered["token"], started_at=clock)
    assert answer.status_code == 400
    assert "started_at" in answer.json()["detail"]
    assert _state(offered) == State.ACCEPTED
    answer = agent.post(f"attempts/{offered['attempt']}/running/", token=offered["token"], started_at=1.0)
    assert _state(offered) == State.RUNNING
