"""The bell: who listens hears each message once, and is woken by it."""

import asyncio

import pytest

from apps.core import pubsub
from apps.core.pubsub import Heard, Listener
from tests.waiting import until_heard


def _heard(name: str, *rings: object, seconds: float = 2) -> list[bytes]:
    """What a listener hears of these rings, which come from another thread, until it is silent for so long."""

    async def listen() -> list[bytes]:
        listener, heard = Listener(), []
        with listener.call(name, heard.append):
            await until_heard(listener)
            for message in rings:
                await asyncio.to_thread(pubsub.ring, name, message)
            await asyncio.sleep(seconds)
        return heard

    return asyncio.run(listen())


@pytest.mark.services
def test_a_message_is_heard_once() -> None:
    assert _heard("run:1", {"n": 1}, seconds=0.5) == [b'{"n":1}']


def test_who_waits_is_woken_by_a_message_by_somebody_or_by_the_time() -> None:
    async def waits() -> list[list[bytes]]:
        heard, found = Heard(), []
        for act in (lambda: heard.put(b"1"), heard.wake, lambda: None):
            asyncio.get_running_loop().call_later(0.01, act)
            await asyncio.wait_for(heard.wait(0.1), 5)
            found.append(list(heard.messages))
            heard.messages.clear()
        return found

    assert asyncio.run(waits()) == [[b"1"], [], []]
