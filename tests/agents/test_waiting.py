"""An agent that waits hears of its run from the transaction that queues it; a crash in between starts nothing twice."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections

from apps.agents.holding import hosts_of
from apps.agents.identity import still_approved
from apps.agents.live import poll
from apps.agents.models import Agent
from apps.asgi import application
from apps.labs.isolation import all_labs
from apps.runs.attempts import Attempt, Offer
from apps.runs.models import Run
from apps.runs.states import State
from apps.runs.waiting import Waiting, waiting_here
from tests.threads import own_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_threads(monkeypatch, 2):
        yield
    hosts_of.clear()
    waiting_here.clear()


@pytest.fixture
def heard(agent) -> list[Offer]:
    """What a poll that is held in this process is told."""
    offers: list[Offer] = []
    waiting_here[agent.row.host_id] = Waiting(still_approved(agent.row.pk), offers.append)
    return offers


async def _held_poll(agent, start) -> Any:
    """The answer to a poll that was held before the start, and the runs."""
    headers = [(name.lower().encode(), value.encode()) for name, value in agent.headers.items()]
    body, sent, closed = json.dumps({"wait": 20}).encode(), [], asyncio.Event()
    events = [{"type": "http.request", "body": body}]

    async def receive() -> Any:
        if events:
            return events.pop()
        await closed.wait()
        return {"type": "http.disconnect"}

    async def send(event: Any) -> None:
        sent.append(event)

    task = asyncio.create_task(poll({"headers": headers}, receive, send))
    while not waiting_here:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)  # it has looked once, and waits
    runs = await asyncio.to_thread(lambda: (start(), connections.close_all())[0])
    await asyncio.wait_for(task, 5)
    return json.loads(sent[1]["body"]), runs


def test_a_held_poll_is_answered_by_the_start(agent, start) -> None:
    answer, [run] = asyncio.run(_held_poll(agent, start))
    assert [offer["run"] for offer in answer["offers"]] == [run.pk]
    assert answer["offers"][0]["status_interval"] == 1
    assert run.state == "offered"
    assert not waiting_here
    assert (
        agent.post(f"attempts/{answer['offers'][0]['attempt']}/accept/", token=answer["offers"][0]["token"]).status_code
        == 200
    )


def test_one_offer_for_many_starts(agent, start, heard) -> None:
    first = start(2)
    start()
    assert [offer.run for offer in heard][:1] == [first[0].pk]
    assert [run.state for run in first] == ["offered", "queued"]
    with all_labs():
        assert Attempt.objects.count() == 1


def test_the_oldest_run_is_offered_first(agent, start, heard) -> None:
    waits = waiting_here.pop(agent.row.host_id)
    [old] = start()
    waiting_here[agent.row.host_id] = waits
    [new] = start()
    assert [offer.run for offer in heard] == [old.pk]
    assert new.state == "queued"


def test_an_agent_that_is_not_approved_any_more_is_offered_nothing(agent, start, heard) -> None:
    with all_labs():
        Agent.objects.update(state=Agent.State.REVOKED)
    assert start()[0].state == "queued"
    assert heard == []


def test_an_offer_that_nobody_heard_is_found_by_the_next_poll(agent, start) -> None:
    waiting_here[agent.row.host_id] = Waiting(still_approved(agent.row.pk), lambda offer: None)
    [run] = start()
    waiting_here.clear()
    assert [offer["run"] for offer in agent.poll()["offers"]] == [run.pk]


def test_an_offer_that_the_database_lost_in_a_crash_starts_nothing(agent, start, heard) -> None:
    """The host has heard it, PostgreSQL has not: it comes back without run and attempt, and gives their numbers again."""
    start()
    [lost] = heard
    with all_labs(), connection.cursor() as cursor:
        number = lost.token >> 24
        Attempt.objects.all().delete()
        Run.objects.all().delete()
        for name, value in (
            ("runs_fencing_token", number),
            ("runs_attempt_id_seq", lost.attempt),
            ("runs_run_id_seq", lost.run),
        ):
            cursor.execute("SELECT setval(%s, %s, false)", [name, value])
    assert agent.post(f"attempts/{lost.attempt}/accept/", token=lost.token).status_code == 404
    start()
    again = heard[1]
    assert (again.attempt, again.run, again.token >> 24) == (lost.attempt, lost.run, number)
    assert agent.post(f"attempts/{lost.attempt}/accept/", token=lost.token).status_code == 409
    assert agent.post(f"attempts/{again.attempt}/accept/", token=again.token).status_code == 200


def _ask_raw(agent, *events: Any) -> list[Any]:
    """What `/agent/v1/poll/` sends when it receives these."""
    headers = [(name.lower().encode(), value.encode()) for name, value in agent.headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/agent/v1/poll/", "headers": headers}
    left, sent = list(events), []

    async def receive() -> Any:
        return left.pop(0) if left else {"type": "http.disconnect"}

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(application(scope, receive, send))
    return sent


def test_a_poll_that_was_cut_off_before_its_body_says_nothing(agent, start) -> None:
    """Taken for a poll that names no attempt it would end the one that the host is working at."""
    start(2)
    attempt = agent.take()
    with all_labs():
        Attempt.objects.update(state=State.UNKNOWN)
    assert _ask_raw(agent) == []
    assert _ask_raw(agent, {"type": "http.request", "body": b"", "more_body": True}) == []
    [head, _] = _ask_raw(agent, {"type": "http.request", "body": b""})
    assert head["status"] == 400
    assert agent.again(attempt).state == State.UNKNOWN


def test_an_offer_told_to_a_poll_that_is_dead_is_found_by_the_living_one(agent, start) -> None:
    """The host polls another process now, and this one has not seen the old connection end."""
    waiting_here[agent.row.host_id] = Waiting(still_approved(agent.row.pk), lambda offer: None)
    [run] = start()
    assert run.state == "offered"
    attempt = agent.take()
    assert attempt.run_id == run.pk
    assert agent.poll((attempt.pk, attempt.token, "accepted"))["offers"] == []
