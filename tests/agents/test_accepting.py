"""The usual accept is answered outside Django, in one statement; everything else by the view, which knows the reason."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import polling
from apps.agents.accepting import accept
from apps.agents.models import Agent, Enrolment
from apps.labs.isolation import all_labs, lab_scope
from apps.lib.sql import rows
from apps.runs.attempts import Attempt, accepting, following
from apps.runs.models import Run
from apps.runs.states import State
from tests.agents.conftest import FakeAgent
from tests.threads import own_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


async def _went_on(scope: Any, receive: Any, send: Any) -> None:
    """Stands where Django is, and gives back the body that reached it."""
    await send({"type": "http.response.start", "status": 299, "headers": []})
    await send({"type": "http.response.body", "body": (await receive())["body"]})


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_threads(monkeypatch):
        yield


@pytest.fixture
def offered(agent, start) -> dict[str, Any]:
    start()
    return agent.poll()["offers"][0]


def _accept(agent, offer: dict[str, Any], **body: Any) -> tuple[int, Any]:
    """Status and JSON; 299 when the request went on to Django."""
    body = {"token": offer["token"], **body}
    raw = json.dumps(body).encode()
    scope = {"headers": [(name.lower().encode(), value.encode()) for name, value in agent.headers.items()]}
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": raw}

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(accept(scope, receive, send, offer["attempt"], _went_on))
    found = json.loads(sent[1]["body"])
    assert sent[0]["status"] != 299 or found == body  # whole
    return sent[0]["status"], found


def _state(offer: dict[str, Any]) -> str:
    with all_labs():
        attempt = Attempt.objects.select_related("run").get(pk=offer["attempt"])
        assert attempt.run.state == attempt.state
        return str(attempt.state)


def test_the_same_agent_as_ever_accepts_its_offer(agent, offered) -> None:
    assert _accept(agent, offered) == (200, {"state": "accepted"})
    assert _state(offered) == State.ACCEPTED


def test_a_run_whose_server_died_before_it_followed_follows_with_the_next_move(agent, offered) -> None:
    with all_labs():
        attempt = Attempt.objects.get(pk=offered["attempt"])
        assert rows(*accepting(attempt.pk, attempt.token)) == [(attempt.run_id,)]  # and then the power fails
        assert Run.objects.get(pk=attempt.run_id).state == State.OFFERED
        assert attempt.run_started(timezone.now(), "boot", [])
    assert _state(offered) == State.RUNNING


def test_a_run_that_has_gone_on_is_not_taken_back(agent, offered) -> None:
    _accept(agent, offered)
    with all_labs():
        attempt = Attempt.objects.get(pk=offered["attempt"])
        assert attempt.run_started(timezone.now(), "boot", [])
        assert rows(*following(attempt.run_id)) == []
    assert _state(offered) == State.RUNNING


def test_a_repeated_accept_goes_on_to_the_view(agent, offered) -> None:
    _accept(agent, offered)
    assert _accept(agent, offered)[0] == 299
    assert _state(offered) == State.ACCEPTED


@pytest.mark.parametrize("token", [2**62, 0, -1, 2**70, True, "7", None, [7]])
def test_another_token_changes_nothing(agent, offered, token) -> None:
    assert _accept(agent, offered, token=token)[0] == 299
    assert _state(offered) == State.OFFERED


@pytest.mark.parametrize("state", [Agent.State.PENDING, Agent.State.QUARANTINED, Agent.State.REVOKED])
def test_an_agent_that_is_not_approved_any_more_changes_nothing(agent, offered, state) -> None:
    with all_labs():
        Agent.objects.filter(pk=agent.pk).update(state=state)
    assert _accept(agent, offered)[0] == 299
    assert _state(offered) == State.OFFERED


@pytest.mark.parametrize("what", ["secret", "machine", "instance", "pk"])
def test_a_caller_that_differs_in_anything_changes_nothing(agent, offered, what) -> None:
    setattr(agent, what, 10**9 if what == "pk" else "another")
    assert _accept(agent, offered)[0] == 299
    assert _state(offered) == State.OFFERED


def test_an_agent_accepts_no_other_hosts_offer(agent, offered, cast) -> None:
    rival = FakeAgent(cast.other_lab)
    with lab_scope(cast.other_lab.pk):
        _, token = Enrolment.objects.issue(cast.other_lab, "owner", trusted=True)
    assert rival.enrol(token).status_code == 201
    rival.poll()  # its instance is known from now on
    assert _accept(rival, offered)[0] == 299
    assert _state(offered) == State.OFFERED


def test_a_revoked_agent_is_offered_nothing_though_its_poll_is_still_held(agent, start) -> None:
    held = agent.row
    start()
    with all_labs():
        Agent.objects.filter(pk=agent.pk).update(state=Agent.State.REVOKED)
    with lab_scope(agent.lab.pk):
        assert polling.answer(held, polling.Report()) is None
