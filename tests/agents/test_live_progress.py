"""A chunk of a running fio is stored by the ordinary view, and what it says is told to open pages at once."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connections

from apps.agents.models import Agent
from apps.core import pubsub
from apps.core.pubsub import Listener
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt, Chunk
from apps.runs.states import State
from tests.agents.conftest import FakeAgent
from tests.threads import wait_for_redis
from tests.waiting import until_heard

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def attempt(agent, start, monkeypatch) -> Iterator[Attempt]:
    wait_for_redis(monkeypatch)
    start()
    taken = agent.take()
    agent.post(f"attempts/{taken.pk}/running/", token=taken.token, started_at=1_700_000_000)
    yield agent.again(taken)
    pubsub.forget(f"run:{taken.run_id}")


def said(second: int, rate: int = 1000) -> bytes:
    """fio's status document after so many seconds of a hundred."""
    read = {"io_bytes": rate * 4096 * second, "total_ios": rate * second, "runtime": 1000 * second}
    options = {"rw": "read", "runtime": "100", "time_based": "1"}
    job = {"jobname": "job0", "elapsed": second, "eta": 100 - second, "job options": options, "read": read}
    at = (1_700_000_000 + second) * 1000
    return json.dumps({"fio version": "fio-3.33", "timestamp_ms": at, "jobs": [job]}).encode() + b"\n"


def _send(agent: FakeAgent, attempt: Attempt, sequence: int, data: bytes, digest: str = "") -> tuple[int, list[Any]]:
    """The status, and what those who listen to the run hear of it."""

    async def ran() -> tuple[int, list[Any]]:
        listener, heard = Listener(), []
        with listener.call(f"run:{attempt.run_id}", heard.append):
            await until_heard(listener)

            def put() -> int:
                try:
                    return int(agent.put_chunk(attempt, "result", sequence, data, digest or None).status_code)
                finally:
                    connections.close_all()

            status = await asyncio.to_thread(put)
            await until_heard(listener)
        return status, [json.loads(message) for message in heard]

    return asyncio.run(ran())


def _kept(attempt: Attempt) -> list[tuple[int, bytes]]:
    with all_labs():
        rows = Chunk.objects.filter(attempt=attempt, stream="result").values_list("sequence", "data")
        return [(sequence, bytes(data)) for sequence, data in rows]


def test_a_chunk_is_stored_and_told_at_once(agent, attempt) -> None:
    status, [message] = _send(agent, attempt, 0, said(2))
    assert status == 200
    assert (message["n"], message["t"], message["iops"]["read"]) == (0, 2.0, 1000)
    assert _kept(attempt) == [(0, said(2))]
    assert agent.again(attempt).run.progress == message["progress"] > 0


def test_the_next_one_is_what_happened_between_the_two(agent, attempt) -> None:
    _send(agent, attempt, 0, said(2))
    _, [message] = _send(agent, attempt, 1, said(3, 2000))
    assert (message["n"], message["iops"]["read"]) == (1, 4000)


def test_so_it_is_where_redis_has_forgotten_the_one_before(agent, attempt) -> None:
    _send(agent, attempt, 0, said(2))
    pubsub.forget(f"run:{attempt.run_id}")
    _, [message] = _send(agent, attempt, 1, said(3, 2000))
    assert (message["n"], message["iops"]["read"]) == (1, 4000)


def test_one_that_was_stored_without_news_is_read_again(agent, attempt) -> None:
    """What Redis knows is of an older chunk: the difference is to the chunk before."""
    _send(agent, attempt, 0, said(2))
    with all_labs():
        Chunk.objects.create(attempt=attempt, stream="result", sequence=1, sha256="", size=1, data=said(3, 2000))
    _, [message] = _send(agent, attempt, 2, said(4, 2000))
    assert (message["n"], message["iops"]["read"]) == (2, 2000)


@pytest.mark.slow
def test_those_who_come_late_are_told_the_same(agent, attempt) -> None:
    heard = [message for sequence in range(3) for message in _send(agent, attempt, sequence, said(sequence + 2))[1]]
    assert pubsub.remembered(f"run:{attempt.run_id}") == heard
    assert [message["n"] for message in heard] == [0, 1, 2]


def test_no_whole_document_is_no_news(agent, attempt) -> None:
    assert _send(agent, attempt, 0, said(2)[:50]) == (200, [])
    assert _send(agent, attempt, 1, said(3))[1][0]["n"] == 1


def test_while_redis_is_away_chunks_are_stored(agent, attempt, monkeypatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(pubsub, "_local", type(pubsub._local)())
    assert agent.put_chunk(attempt, "result", 0, said(2)).status_code == 200
    assert len(_kept(attempt)) == 1


def test_what_the_host_says_of_an_unknown_attempt_is_kept(agent, attempt) -> None:
    with lab_scope(agent.lab.pk):
        attempt.lose()
    assert _send(agent, attempt, 0, said(2))[0] == 200
    assert agent.again(attempt).state == State.UNKNOWN


@pytest.mark.slow
@pytest.mark.parametrize(("again", "answer"), [(said(2), (200, [])), (said(5), (409, []))])
def test_a_second_chunk_of_the_same_number_changes_nothing(agent, attempt, again, answer) -> None:
    _send(agent, attempt, 0, said(2))
    assert _send(agent, attempt, 0, again) == answer
    assert _kept(attempt) == [(0, said(2))]


def test_what_is_not_whole_is_refused(agent, attempt) -> None:
    assert _send(agent, attempt, 0, said(2), digest="0" * 64) == (400, [])
    assert _kept(attempt) == []


@pytest.mark.slow
@pytest.mark.parametrize("token", [7, 2**70])
def test_what_is_not_fenced_is_refused(agent, attempt, token) -> None:
    attempt.token = token
    assert _send(agent, attempt, 0, said(2)) == (409, [])
    assert _kept(attempt) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "status"), [("machine", 403), ("secret", 401)])
def test_a_caller_that_is_another_is_refused(agent, attempt, name, status) -> None:
    setattr(agent, name, "f" * 40)
    assert _send(agent, attempt, 0, said(2)) == (status, [])
    assert _kept(attempt) == []


@pytest.mark.slow
@pytest.mark.parametrize("state", [Agent.State.REVOKED, Agent.State.QUARANTINED, Agent.State.PENDING])
def test_so_is_one_that_is_not_approved(agent, attempt, state) -> None:
    with all_labs():
        Agent.objects.update(state=state)
    assert _send(agent, attempt, 0, said(2))[0] in (401, 403)
    assert _kept(attempt) == []


def test_an_attempt_that_is_over_takes_nothing_more(agent, attempt) -> None:
    with lab_scope(agent.lab.pk):
        attempt.move(State.INTERRUPTED)
    assert _send(agent, attempt, 0, said(2)) == (410, [])
    assert _kept(attempt) == []
