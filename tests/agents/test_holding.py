"""A poll like the one before is held without a thread; whatever is not as ever, or wakes it, is told as by any other poll."""

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from apps.agents import holding, live
from apps.agents.identity import polling_now
from apps.agents.models import Agent
from apps.inventory.models import Host
from apps.labs.isolation import all_labs, lab_scope
from apps.lib import bell
from apps.runs.attempts import Attempt
from apps.runs.models import Run
from apps.runs.start import cancel
from apps.runs.states import State
from apps.runs.waiting import waiting_here
from tests.threads import own_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Act = Callable[[], Any]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_threads(monkeypatch, 2):
        yield
    holding.hosts_of.clear()
    assert not holding.rounds.held
    assert not polling_now
    assert not waiting_here


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done in a thread, for the poll."""
    made: list[str] = []
    real = live.in_thread

    async def counted(work: Any, *args: Any) -> Any:
        made.append(work.__name__)
        return await real(work, *args)

    monkeypatch.setattr(live, "in_thread", counted)
    return made


class Polled:
    """Polls of one agent, one after the other, to the same process."""

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
        await asyncio.wait_for(live.poll({"headers": headers}, receive, send), 10)
        return sent[0]["status"], json.loads(sent[1]["body"])

    async def held(self, act: Act, **body: Any) -> tuple[int, Any]:
        """A poll that is held when something is done elsewhere."""
        task = asyncio.create_task(self(8, **body))
        while not holding.rounds.held:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(lambda: (act(), connections.close_all()))
        return await task


def _second(agent: Any, visits: list[str], act: Act | None = None, **body: Any) -> tuple[int, Any]:
    """The answer to the second poll of an agent, which the first has made a usual one; what it took in threads is in `visits`."""

    async def both() -> tuple[int, Any]:
        polled = Polled(agent)
        assert (await polled())[0] == 200
        visits.clear()
        return await (polled.held(act) if act else polled(**body))

    return asyncio.run(both())


def _offered(answer: tuple[int, Any]) -> list[int]:
    assert answer[0] == 200
    return [offer["run"] for offer in answer[1]["offers"]]


def test_a_poll_like_the_one_before_takes_no_thread(agent, visits) -> None:
    assert _second(agent, visits)[1] == {"offers": [], "cancel": [], "forget": [], "lease_s": 60, "poll_s": 0}
    assert visits == []


def test_it_is_seen(agent) -> None:
    async def polls() -> None:
        polled = Polled(agent)
        await polled()
        await asyncio.to_thread(lambda: (_set_seen(timezone.now() - timedelta(hours=1)), connections.close_all()))
        await polled()

    asyncio.run(polls())
    assert agent.row.is_online


def _set_seen(moment: Any) -> None:
    with all_labs():
        Agent.objects.update(last_seen_at=moment)


def test_a_start_in_this_process_answers_it_without_a_look(agent, start, visits) -> None:
    runs: list[Run] = []
    answer = _second(agent, visits, lambda: runs.extend(start()))
    assert _offered(answer) == [runs[0].pk]
    assert visits == []
    offer = answer[1]["offers"][0]
    assert agent.post(f"attempts/{offer['attempt']}/accept/", token=offer["token"]).status_code == 200


def test_a_start_in_another_process_rings(agent, start, visits) -> None:
    def elsewhere() -> None:
        waiting_here.clear()
        start()

    assert len(_offered(_second(agent, visits, elsewhere))) == 1
    assert visits == ["_look"]


def test_while_the_bell_is_silent_the_next_round_finds_it(agent, start, visits, monkeypatch) -> None:
    monkeypatch.setattr(holding, "LOOK_AGAIN_S", 0.3)

    def unheard() -> None:
        waiting_here.clear()
        monkeypatch.setattr(bell, "listens_here", [])
        monkeypatch.setattr("apps.runs.start.ring", lambda *_: None)
        start()

    assert len(_offered(_second(agent, visits, unheard))) == 1


def test_what_waits_already_is_offered_at_once(agent, start, visits) -> None:
    async def polls() -> tuple[int, Any]:
        polled = Polled(agent)
        await polled()
        await asyncio.to_thread(lambda: (start(), connections.close_all()))
        return await polled(8)

    assert len(_offered(asyncio.run(polls()))) == 1


def test_a_run_that_was_cancelled_is_not_offered(agent, start, visits) -> None:
    def both() -> None:
        waiting_here.clear()
        [run] = start()
        with lab_scope(agent.lab.pk):
            cancel(run, "owner")

    async def polls() -> tuple[int, Any]:
        polled = Polled(agent)
        await polled()
        await asyncio.to_thread(lambda: (both(), connections.close_all()))
        return await polled(0.1)

    assert _offered(asyncio.run(polls())) == []


@pytest.mark.parametrize("state", [Agent.State.REVOKED, Agent.State.QUARANTINED])
def test_an_agent_that_is_not_approved_any_more_is_told_so(agent, start, state) -> None:
    async def polls() -> tuple[int, Any]:
        polled = Polled(agent)
        await polled()
        await asyncio.to_thread(lambda: (_set_state(state), start(), connections.close_all()))
        return await polled()

    assert asyncio.run(polls())[0] == (401 if state == Agent.State.REVOKED else 403)


def _set_state(state: str) -> None:
    with all_labs():
        Agent.objects.update(state=state)


def test_an_agent_revoked_while_it_is_held_is_offered_nothing(agent, start, visits, monkeypatch) -> None:
    def revoke() -> None:
        _set_state(Agent.State.REVOKED)
        start()
        monkeypatch.setattr(live, "LOOK_AGAIN_S", 0.1)
        next(iter(holding.rounds.held)).loop.call_soon_threadsafe(next(iter(holding.rounds.held)).end)

    assert _offered(_second(agent, visits, revoke)) == []


def test_another_secret_another_machine_and_another_copy_are_found_out(agent) -> None:
    async def polls() -> list[int]:
        polled, statuses = Polled(agent), []
        await polled()
        first = asyncio.create_task(polled(1))
        while not holding.rounds.held:
            await asyncio.sleep(0.01)
        for name, value in (("secret", "f" * 64), ("instance", "second"), ("machine", "f" * 64)):
            known = getattr(agent, name)
            setattr(agent, name, value)
            statuses.append((await polled())[0])
            setattr(agent, name, known)
        await first
        return statuses

    assert asyncio.run(polls()) == [401, 409, 403]
    assert agent.row.state == Agent.State.QUARANTINED


def test_what_it_says_anew_is_written_down(agent, visits) -> None:
    _second(agent, visits, policy={"quota_bytes": 5}, fio_version="fio-3.40")
    assert visits == ["_arrive", "_look"]
    assert (agent.row.policy, agent.row.fio_version) == ({"quota_bytes": 5}, "fio-3.40")


@pytest.mark.parametrize("body", [{"boot_id": "a\0b"}, {"policy": {"a": "\0"}}])
def test_words_that_no_database_takes_do_not_hold_a_poll(agent, visits, body) -> None:
    with pytest.raises(Exception, match=r"NUL|Unicode|0x00"):
        _second(agent, visits, **body)
    assert visits == ["_arrive"]


def test_an_attempt_that_it_no_longer_names_is_its_word(agent, start, visits) -> None:
    start()
    attempt = agent.take()
    with lab_scope(agent.lab.pk):
        attempt.lose()
    holding.hosts_of[agent.pk] = attempt.host_id
    asyncio.run(Polled(agent)())
    assert agent.again(attempt).state == State.INTERRUPTED
    with all_labs():
        assert Attempt.objects.count() == 1


def test_who_hangs_up_makes_room_for_a_new_copy(agent) -> None:
    async def polls() -> int:
        polled = Polled(agent)
        await polled()
        task = asyncio.create_task(polled(8))
        while not holding.rounds.held:
            await asyncio.sleep(0.01)
        polled.closed.set()
        await task
        agent.instance = "second"
        return (await Polled(agent)())[0]

    assert asyncio.run(polls()) == 200


def test_an_agent_whose_host_became_another_hears_the_bell_of_that(agent, visits) -> None:
    async def polls() -> None:
        polled = Polled(agent)
        await polled()
        await asyncio.to_thread(lambda: (_move(agent), connections.close_all()))
        await polled()

    asyncio.run(polls())
    assert holding.hosts_of == {agent.pk: agent.row.host_id}
    assert visits == ["_arrive", "_look", "_arrive", "_look"]


def _move(agent: Any) -> None:
    with lab_scope(agent.lab.pk):
        Agent.objects.update(host=Host.objects.create(lab=agent.lab, name="another"))


def _busy(agent: Any, start: Any) -> tuple[Attempt, dict[str, Any]]:
    """An attempt that runs, and how a poll names it."""
    start()
    attempt = agent.take()
    agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token, started_at=1.0)
    return attempt, {"attempt": attempt.pk, "token": attempt.token, "state": "running"}


def test_a_poll_that_names_what_runs_renews_its_lease_without_a_thread(agent, start, visits) -> None:
    attempt, named = _busy(agent, start)
    with all_labs():
        Attempt.objects.update(lease_until=timezone.now() - timedelta(seconds=5))
    assert _second(agent, visits, attempts=[named])[1]["cancel"] == []
    assert visits == []
    assert agent.again(attempt).lease_until > timezone.now() + timedelta(seconds=50)


@pytest.mark.parametrize("loses", ["token", "state"])
def test_a_lease_is_renewed_by_its_own_token_and_while_it_is_known(agent, start, visits, loses) -> None:
    attempt, named = _busy(agent, start)
    if loses == "state":
        with lab_scope(agent.lab.pk):
            attempt.lose()
    with all_labs():
        Attempt.objects.update(lease_until=None)
    holding.hosts_of[agent.pk] = attempt.host_id
    asyncio.run(Polled(agent)(attempts=[{**named, "token": 7}] if loses == "token" else [named]))
    assert visits == ["_arrive", "_look"]
    found = agent.again(attempt)
    assert (found.lease_until is None, found.state) == (loses == "token", State.RUNNING)


@pytest.mark.parametrize("is_heard", [True, False])
def test_a_cancel_reaches_a_host_that_is_busy(agent, start, visits, monkeypatch, is_heard) -> None:
    attempt, named = _busy(agent, start)
    if not is_heard:
        monkeypatch.setattr(holding, "LOOK_AGAIN_S", 0.3)
        monkeypatch.setattr("apps.runs.start.ring", lambda *_: None)

    def by_owner() -> None:
        with lab_scope(agent.lab.pk):
            cancel(agent.again(attempt).run, "owner")

    async def polls() -> tuple[int, Any]:
        polled = Polled(agent)
        await polled(attempts=[named])
        visits.clear()
        return await polled.held(by_owner, attempts=[named])

    assert asyncio.run(polls())[1]["cancel"] == [attempt.pk]
    assert visits == ["_look"]


def test_another_host_s_attempt_is_not_renewed(agent, start, visits) -> None:
    attempt, named = _busy(agent, start)
    with lab_scope(agent.lab.pk):
        Attempt.objects.update(host=Host.objects.create(lab=agent.lab, name="another"), lease_until=None)
    _second(agent, visits, attempts=[named])
    assert agent.again(attempt).lease_until is None
