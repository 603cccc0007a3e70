"""Waits for bells that go through Redis, by ringing one."""

import asyncio

from apps.core.pubsub import Listener, ring

PATIENCE_S = 20
NAME = "is anybody there"


async def until_heard(listener: Listener) -> None:
    """Ring until it is heard: what is rung from now on is heard too, and all that was rung before, for order is kept."""
    heard: list[bytes] = []
    with listener.call(NAME, heard.append):
        async with asyncio.timeout(PATIENCE_S):
            while not heard:
                await asyncio.to_thread(ring, NAME)
                await asyncio.sleep(0.01)
