"""The events of a run: what was published before, what is published now, and the end, also while the bell is silent."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from apps.core import pubsub
from apps.dashboard import events
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from apps.runs.states import State
from tests.threads import own_threads
from tests.waiting import until_subscribed

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Act = Callable[[], Awaitable[Any]]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_threads(monkeypatch):
        yield


@pytest.fixture
def run(cast) -> Iterator[Run]:
    with lab_scope(cast.lab.pk):
        made = Run.objects.create(lab=cast.lab, tool="fio", state=State.RUNNING)
    yield made
    pubsub.forget(f"run:{made.pk}")


def _stream(run: Run, who: Any, *acts: Act, last: str = "") -> tuple[int, list[str]]:
    """Status and events, while these things happen; then the page goes, if the stream has not ended by itself."""
    client = Client()
    client.force_login(who)
    cookie = "; ".join(f"{name}={one.value}" for name, one in client.cookies.items())
    pairs = {"cookie": cookie, **({"last-event-id": last} if last else {})}
    scope = {"headers": [(name.encode(), value.encode()) for name, value in pairs.items()]}
    sent: list[Any] = []

    async def ran() -> None:
        closed = asyncio.Event()

        async def receive() -> Any:
            await closed.wait()
            return {"type": "http.disconnect"}

        async def send(event: Any) -> None:
            sent.append(event)

        task = asyncio.create_task(events.run_events(scope, receive, send, run.pk))
        listens = asyncio.create_task(until_subscribed())
        await asyncio.wait([task, listens], return_when=asyncio.FIRST_COMPLETED)  # a stranger is sent away before
        listens.cancel()
        for act in acts:
            await act()
            await asyncio.sleep(0.2)
        closed.set()
        await asyncio.wait_for(task, 5)

    asyncio.run(ran())
    bodies = b"".join(one.get("body", b"") for one in sent).decode()
    return sent[0]["status"], [one for one in bodies.split("\n\n") if one]


def _told(run: Run, raw: bytes) -> Act:
    """The bell rings with this message, from whatever process, and is heard."""

    async def act() -> None:
        await asyncio.to_thread(pubsub.ring, f"run:{run.pk}", json.loads(raw))
        await asyncio.sleep(0.3)

    return act


def _thread(work: Callable[[], Any]) -> Act:
    async def act() -> None:
        await asyncio.to_thread(lambda: (work(), connections.close_all()))

    return act


@pytest.mark.slow
def test_what_was_published_before_comes_first_and_nothing_twice(cast, run) -> None:
    for number in range(3):
        pubsub.remember(f"run:{run.pk}", {"n": number}, 10, 60)
    news = [_told(run, b'{"n":2}'), _told(run, b'{"n":3}'), _told(run, b'{"n":3}')]
    status, found = _stream(run, cast.viewer, *news)
    assert status == 200
    assert [one.split("\n")[0] for one in found] == ["id: 0", "id: 1", "id: 2", "event: state", "id: 3"]
    assert _stream(run, cast.viewer, last="1")[1][0].startswith("id: 2")


def test_the_end_ends_the_stream(cast, run) -> None:
    end = _thread(lambda: pubsub.ring(f"run:{run.pk}", {"state": "finished", "ended": True}))
    _, found = _stream(run, cast.viewer, end, _told(run, b'{"n":9}'))
    assert found[-1] == 'event: state\ndata: {"state":"finished","ended":true}'


def test_while_the_bell_is_silent_the_database_is_looked_at(cast, run, monkeypatch) -> None:
    monkeypatch.setattr(events, "KEEPALIVE_S", 0.1)

    def ends() -> None:
        with lab_scope(cast.lab.pk):
            Run.objects.filter(pk=run.pk).update(state=State.FAILED)

    _, found = _stream(run, cast.viewer, _thread(ends))
    assert '"state":"failed","ended":true' in found[-1]


def test_a_stranger_learns_nothing(cast, run) -> None:
    assert _stream(run, cast.stranger)[0] == 404
