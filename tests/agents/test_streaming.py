"""The usual chunk of a running fio is stored outside Django, in one statement, and told at once; everything else by the view."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from apps.agents import live_progress
from apps.agents.models import Agent
from apps.agents.streaming import chunk
from apps.labs.isolation import all_labs, lab_scope
from apps.lib import asgi, bell
from apps.lib.listening import listener
from apps.runs.attempts import Attempt, Chunk
from apps.runs.states import State
from tests.agents.conftest import FakeAgent, sha256
from tests.agents.test_accepting import _went_on
from tests.threads import own_threads

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_threads(monkeypatch):
        yield
    live_progress._last.clear()


@pytest.fixture
def attempt(agent, start) -> Iterator[Attempt]:
    start()
    taken = agent.take()
    agent.post(f"attempts/{taken.pk}/running/", token=taken.token, started_at=1_700_000_000)
    yield agent.again(taken)
    bell.forget(f"run:{taken.run_id}")


def said(second: int, rate: int = 1000) -> bytes:
    """fio's status document after so many seconds of a hundred."""
    read = {"io_bytes": rate * 4096 * second, "total_ios": rate * second, "runtime": 1000 * second}
    options = {"rw": "read", "runtime": "100", "time_based": "1"}
    job = {"jobname": "job0", "elapsed": second, "eta": 100 - second, "job options": options, "read": read}
    at = (1_700_000_000 + second) * 1000
    return json.dumps({"fio version": "fio-3.33", "timestamp_ms": at, "jobs": [job]}).encode() + b"\n"


def _send(
    agent: FakeAgent, attempt: Attempt, sequence: int, data: bytes, *, token: Any = None, digest: str = ""
) -> tuple[int, list[Any]]:
    """The status, 299 when the request went on to Django, and what open pages of this process heard."""
    own = {"X-Spindle-Token": str(token or attempt.token), "X-Spindle-SHA256": digest or sha256(data)}
    pairs = {**agent.headers, **own, "Content-Length": str(len(data))}
    scope = {"headers": [(name.lower().encode(), value.encode()) for name, value in pairs.items()]}
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data}

    async def send(event: Any) -> None:
        sent.append(event)

    async def ran() -> list[Any]:
        heard: list[bytes] = []
        with listener.call(f"run:{attempt.run_id}", heard.append):
            await chunk(scope, receive, send, attempt.pk, sequence, _went_on)
            at_once = list(heard)
            if (task := live_progress.outbox._task) and not task.done():
                await asyncio.wait({task}, timeout=5)
        return [json.loads(one) for one in at_once]

    heard = asyncio.run(ran())
    status = sent[0]["status"]
    assert sent[1]["body"] == (data if status == 299 else b'{"stored":true}')
    return status, heard


def _kept(attempt: Attempt) -> list[tuple[int, bytes]]:
    with all_labs():
        rows = Chunk.objects.filter(attempt=attempt, stream="result").values_list("sequence", "data")
        return [(sequence, bytes(data)) for sequence, data in rows]


def test_a_chunk_is_stored_and_told_at_once(agent, attempt) -> None:
    status, [message] = _send(agent, attempt, 0, said(2))
    assert status == 200
    assert (message["n"], message["t"], message["iops"]["read"]) == (0, 2.0, 1000)
    assert _kept(attempt) == [(0, said(2))]
    with all_labs():
        assert agent.again(attempt).run.progress == message["progress"] > 0


def test_the_next_one_is_what_happened_between_the_two(agent, attempt) -> None:
    _send(agent, attempt, 0, said(2))
    _, [message] = _send(agent, attempt, 1, said(3, 2000))
    assert (message["n"], message["iops"]["read"]) == (1, 4000)


def test_a_server_that_does_not_know_the_one_before_looks_it_up(agent, attempt) -> None:
    _send(agent, attempt, 0, said(2))
    live_progress._last.clear()
    _, [message] = _send(agent, attempt, 1, said(3, 2000))
    assert message["iops"]["read"] == 4000


def test_those_who_come_late_are_told_what_the_view_would_have_told_them(agent, attempt) -> None:
    for sequence in range(3):
        _send(agent, attempt, sequence, said(sequence + 2))
    here = bell.remembered(f"run:{attempt.run_id}")
    bell.forget(f"run:{attempt.run_id}")
    with lab_scope(agent.lab.pk):
        for sequence in range(3):
            live_progress.publish(attempt, sequence, said(sequence + 2))
    assert bell.remembered(f"run:{attempt.run_id}") == here
    assert [message["n"] for message in here] == [0, 1, 2]


def test_no_whole_document_is_no_news(agent, attempt) -> None:
    assert _send(agent, attempt, 0, said(2)[:50]) == (200, [])
    assert _send(agent, attempt, 1, said(3))[1][0]["n"] == 1


def test_while_redis_is_away_pages_of_this_process_hear_it(agent, attempt, monkeypatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(bell, "_local", type(bell._local)())
    status, heard = _send(agent, attempt, 0, said(2))
    assert (status, len(heard)) == (200, 1)
    assert len(_kept(attempt)) == 1


def test_what_the_host_says_of_an_unknown_attempt_is_kept(agent, attempt) -> None:
    with lab_scope(agent.lab.pk):
        attempt.lose()
    assert _send(agent, attempt, 0, said(2))[0] == 200
    assert agent.again(attempt).state == State.UNKNOWN


@pytest.mark.parametrize("again", [said(2), said(5)])
def test_a_second_chunk_of_the_same_number_is_the_view_s(agent, attempt, again) -> None:
    _send(agent, attempt, 0, said(2))
    assert _send(agent, attempt, 0, again) == (299, [])
    assert _kept(attempt) == [(0, said(2))]


@pytest.mark.parametrize("change", [{"token": 7}, {"token": "x"}, {"token": "9" * 30}, {"digest": "0" * 64}])
def test_what_is_not_fenced_or_not_whole_is_the_view_s(agent, attempt, change) -> None:
    assert _send(agent, attempt, 0, said(2), **change) == (299, [])
    assert _kept(attempt) == []


@pytest.mark.parametrize("name", ["machine", "secret", "instance"])
def test_a_caller_that_is_not_as_ever_is_the_view_s(agent, attempt, name) -> None:
    setattr(agent, name, "f" * 40)
    assert _send(agent, attempt, 0, said(2)) == (299, [])
    assert _kept(attempt) == []


@pytest.mark.parametrize("state", [Agent.State.REVOKED, Agent.State.QUARANTINED, Agent.State.PENDING])
def test_so_is_one_that_is_not_approved(agent, attempt, state) -> None:
    with all_labs():
        Agent.objects.update(state=state)
    assert _send(agent, attempt, 0, said(2)) == (299, [])
    assert _kept(attempt) == []


def test_an_attempt_that_is_over_takes_nothing_more(agent, attempt) -> None:
    with lab_scope(agent.lab.pk):
        attempt.move(State.INTERRUPTED)
    assert _send(agent, attempt, 0, said(2)) == (299, [])
    assert _kept(attempt) == []


def test_a_large_chunk_goes_on_unread(agent, attempt) -> None:
    assert _send(agent, attempt, 0, b" " * (asgi.MAX_BODY + 1)) == (299, [])


def test_only_so_many_attempts_are_remembered(agent, attempt, monkeypatch) -> None:
    monkeypatch.setattr(live_progress, "MOST", 3)

    async def many() -> None:
        for number in range(10):
            live_progress.publish_here(number, 0, said(2), attempt.run_id, None)

    asyncio.run(many())
    assert list(live_progress._last) == [7, 8, 9]
