"""A poll is answered at once when there is something to tell, and held otherwise, until the bell rings or a round finds something."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from apps.agents import long_poll
from apps.agents.models import Agent
from apps.agents.tasks import dispatch_host
from apps.asgi import application
from apps.core.async_database import database
from apps.core.pubsub import listener
from apps.inventory.models import Host
from apps.labs.isolation import all_labs, lab_scope
from apps.runs import services
from apps.runs.models import Attempt
from apps.runs.services import cancel_run
from apps.runs.states import State
from tests.threads import own_threads
from tests.waiting import until_heard

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Act = Callable[[], Any]


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_threads(monkeypatch, 2):
        yield
    assert not long_poll.rounds.held
    with all_labs():
        assert not Agent.objects.filter(polling_until__gt=timezone.now()).exists()


class Polls:
    """Polls of one agent, one after the other."""

    def __init__(self, agent: Any) -> None:
        self.agent, self.closed = agent, asyncio.Event()

    async def __call__(self, wait: float = 0, **body: Any) -> tuple[int, Any]:
        """Status and JSON."""
        events, sent = [{"type": "http.request", "body": json.dumps({"wait": wait, **body}).encode()}], []

        async def receive() -> Any:
            if events:
                return events.pop()
            await self.closed.wait()
            return {"type": "http.disconnect"}

        async def send(event: Any) -> None:
            sent.append(event)

        headers = [(name.lower().encode(), value.encode()) for name, value in self.agent.headers.items()]
        await asyncio.wait_for(long_poll.answer_poll({"headers": headers}, receive, send), 15)
        return sent[0]["status"], json.loads(sent[1]["body"])

    async def held(self, act: Act, **body: Any) -> tuple[int, Any]:
        """A poll that is held when something is done elsewhere."""
        task = asyncio.create_task(self(8, **body))
        await _until_held()
        await elsewhere(act)
        return await task


def _run(polls: Coroutine[Any, Any, Any]) -> Any:
    """As `asyncio.run`, with the event loop's own connections to the database."""

    async def run() -> Any:
        await database.open()
        try:
            return await polls
        finally:
            await database.close()

    return asyncio.run(run())


async def _until_held() -> None:
    while not long_poll.rounds.held:
        await asyncio.sleep(0.01)
    await until_heard(listener)


async def elsewhere(act: Act) -> None:
    await asyncio.to_thread(lambda: (act(), connections.close_all()))


def _poll(agent: Any, act: Act | None = None, wait: float = 0, **body: Any) -> tuple[int, Any]:
    async def polls() -> tuple[int, Any]:
        made = Polls(agent)
        return await (made.held(act, **body) if act else made(wait, **body))

    return _run(polls())


def _offered(answer: tuple[int, Any]) -> list[int]:
    assert answer[0] == 200
    return [offer["run"] for offer in answer[1]["offers"]]


def _set(**fields: Any) -> None:
    with all_labs():
        Agent.objects.update(**fields)


def _silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bell is rung, and rounds are quick."""
    monkeypatch.setattr(services, "ring", lambda *_: None)
    monkeypatch.setattr(long_poll, "LOOK_AGAIN_S", 0.3)


def test_a_poll_with_nothing_to_tell_says_so(agent) -> None:
    assert _poll(agent)[1] == {"offers": [], "cancel": [], "forget": [], "lease_s": 60, "poll_s": 0}


def test_a_poll_of_an_idle_host_takes_no_thread(agent, monkeypatch) -> None:
    _poll(agent)

    def refuse(*_: Any) -> None:
        raise AssertionError("it went through a thread")

    monkeypatch.setattr(long_poll, "in_thread", refuse)
    _set(last_seen_at=None)
    assert _poll(agent, wait=0.1)[0] == 200
    assert agent.row.is_online
    assert agent.row.polling_until


def test_it_is_seen(agent) -> None:
    _poll(agent)
    _set(last_seen_at=timezone.now() - timedelta(hours=1))
    _poll(agent)
    assert agent.row.is_online


def test_an_offer_wakes_a_held_poll(agent, start) -> None:
    def act() -> None:
        start()
        dispatch_host(agent.row.host_id)

    answer = _poll(agent, act)
    assert len(_offered(answer)) == 1
    [offer] = answer[1]["offers"]
    assert offer["status_interval"] == 1
    assert agent.post(f"attempts/{offer['attempt']}/accept/", token=offer["token"]).status_code == 200


def test_while_the_bell_is_silent_the_next_round_finds_it(agent, start, monkeypatch) -> None:
    _silence(monkeypatch)

    def act() -> None:
        start()
        dispatch_host(agent.row.host_id)

    assert len(_offered(_poll(agent, act))) == 1


def test_what_waits_already_is_offered_at_once_and_again_until_it_is_accepted(agent, start) -> None:
    _poll(agent)
    start()
    dispatch_host(agent.row.host_id)
    first = _poll(agent, wait=8)
    assert len(_offered(first)) == 1
    assert _poll(agent, wait=8) == first


@pytest.mark.parametrize(("state", "status"), [(Agent.State.REVOKED, 401), (Agent.State.QUARANTINED, 403)])
def test_an_agent_that_is_not_approved_any_more_is_told_so(agent, start, state, status) -> None:
    _poll(agent)
    start()
    dispatch_host(agent.row.host_id)
    _set(state=state)
    assert _poll(agent)[0] == status


@pytest.mark.slow
def test_an_agent_revoked_while_it_is_held_is_offered_nothing(agent, start, monkeypatch) -> None:
    monkeypatch.setattr(long_poll, "LOOK_AGAIN_S", 0.3)

    async def polls() -> tuple[int, Any]:
        task = asyncio.create_task(Polls(agent)(1))
        await _until_held()

        def act() -> None:
            start()
            dispatch_host(agent.row.host_id)
            _set(state=Agent.State.REVOKED)

        with monkeypatch.context() as silent:
            silent.setattr(services, "ring", lambda *_: None)
            await elsewhere(act)
        return await task

    assert _offered(_run(polls())) == []


@pytest.mark.slow
def test_another_secret_another_machine_and_another_copy_are_found_out(agent) -> None:
    async def polls() -> list[int]:
        made, statuses = Polls(agent), []
        await made()
        first = asyncio.create_task(made(8))
        await _until_held()
        for name, value in (("secret", "f" * 64), ("instance", "second"), ("machine", "f" * 64)):
            known = getattr(agent, name)
            setattr(agent, name, value)
            statuses.append((await Polls(agent)())[0])
            setattr(agent, name, known)
        made.closed.set()
        await first
        return statuses

    assert _run(polls()) == [401, 409, 403]
    assert agent.row.state == Agent.State.QUARANTINED


def test_who_hangs_up_makes_room_for_a_new_copy(agent) -> None:
    async def polls() -> int:
        made = Polls(agent)
        task = asyncio.create_task(made(8))
        await _until_held()
        made.closed.set()
        await task
        agent.instance = "second"
        return (await Polls(agent)())[0]

    assert _run(polls()) == 200


def test_the_end_of_an_old_poll_does_not_end_the_newer_one(agent) -> None:
    async def polls() -> list[int]:
        old, new = Polls(agent), Polls(agent)
        first = asyncio.create_task(old(8))
        await _until_held()
        second = asyncio.create_task(new(8))
        while len(long_poll.rounds.held) < 2:
            await asyncio.sleep(0.01)
        old.closed.set()
        await first
        agent.instance = "second"
        statuses = [(await Polls(agent)())[0]]
        new.closed.set()
        await second
        return [*statuses, (await Polls(agent)())[0]]

    assert _run(polls()) == [409, 200]


def test_what_it_says_anew_is_written_down(agent) -> None:
    _poll(agent)
    _poll(agent, policy={"quota_bytes": 5}, fio_version="fio-3.40")
    assert (agent.row.policy, agent.row.fio_version) == ({"quota_bytes": 5}, "fio-3.40")


@pytest.mark.parametrize("body", [{"boot_id": "a\0b"}, {"policy": {"a": "\0"}}])
def test_nul_characters_are_replaced_and_written_down(agent, body) -> None:
    assert _poll(agent, **body)[0] == 200
    assert "\ufffd" in (agent.row.boot_id or agent.row.policy["a"])


def test_an_attempt_that_it_no_longer_names_is_its_word(agent, start) -> None:
    start()
    attempt = agent.take()
    with lab_scope(agent.lab.pk):
        attempt.lose()
    _poll(agent)
    assert agent.again(attempt).state == State.INTERRUPTED
    with all_labs():
        assert Attempt.objects.count() == 1


def test_an_agent_whose_host_became_another_hears_the_bell_of_that(agent, start) -> None:
    _poll(agent)
    with lab_scope(agent.lab.pk):
        agent.row.host.targets.update(host=Host.objects.create(lab=agent.lab, name="another"))
        Agent.objects.update(host=Host.objects.get(name="another"))

    def act() -> None:
        start()
        dispatch_host(agent.row.host_id)

    assert len(_offered(_poll(agent, act))) == 1


def _busy(agent: Any, start: Any) -> tuple[Attempt, dict[str, Any]]:
    """An attempt that runs, and how a poll names it."""
    start()
    attempt = agent.take()
    agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token, started_at=1.0)
    return attempt, {"attempt": attempt.pk, "token": attempt.token, "state": "running"}


def test_a_poll_that_names_what_runs_renews_its_lease(agent, start) -> None:
    attempt, named = _busy(agent, start)
    with all_labs():
        Attempt.objects.update(lease_until=timezone.now() - timedelta(seconds=5))
    assert _poll(agent, attempts=[named])[1]["cancel"] == []
    assert agent.again(attempt).lease_until > timezone.now() + timedelta(seconds=50)


@pytest.mark.parametrize("loses", ["token", "state"])
def test_a_lease_is_renewed_by_its_own_token_and_while_it_is_known(agent, start, loses) -> None:
    attempt, named = _busy(agent, start)
    if loses == "state":
        with lab_scope(agent.lab.pk):
            attempt.lose()
    with all_labs():
        Attempt.objects.update(lease_until=None)
    _poll(agent, attempts=[{**named, "token": 7}] if loses == "token" else [named])
    found = agent.again(attempt)
    assert (found.lease_until is None, found.state) == (loses == "token", State.RUNNING)


@pytest.mark.slow
@pytest.mark.parametrize("is_heard", [True, False])
def test_a_cancel_reaches_a_host_that_is_busy(agent, start, monkeypatch, is_heard) -> None:
    attempt, named = _busy(agent, start)
    if not is_heard:
        _silence(monkeypatch)

    def by_owner() -> None:
        with lab_scope(agent.lab.pk):
            cancel_run(agent.again(attempt).run, "owner")

    assert _poll(agent, by_owner, attempts=[named])[1]["cancel"] == [attempt.pk]


def test_another_host_s_attempt_is_not_renewed(agent, start) -> None:
    attempt, named = _busy(agent, start)
    with lab_scope(agent.lab.pk):
        Attempt.objects.update(host=Host.objects.create(lab=agent.lab, name="another"), lease_until=None)
    _poll(agent, attempts=[named])
    assert agent.again(attempt).lease_until is None


def _ask_raw(agent, *events: Any) -> list[Any]:
    """What `/agent/v1/poll/` sends when it receives these."""
    headers = [(name.lower().encode(), value.encode()) for name, value in agent.headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/agent/v1/poll/", "headers": headers}
    left, sent = list(events), []

    async def receive() -> Any:
        return left.pop(0) if left else {"type": "http.disconnect"}

    async def send(event: Any) -> None:
        sent.append(event)

    _run(application(scope, receive, send))
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
