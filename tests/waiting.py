"""Wait for what proves that others have come so far, in place of a time that a busy machine exceeds."""

import asyncio
import time

from django.db import connection

from apps.core import pubsub
from apps.core.pubsub import Listener

PATIENCE_S = 30
PROBE = "is anybody there"  # the name of a bell that nobody else rings


def until_one_waits_for_a_lock() -> None:
    """Return when another session of this database waits for a lock, such as a row that this one holds."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    end = time.monotonic() + PATIENCE_S
    while True:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")  # within a transaction the first look would stay
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
        assert time.monotonic() < end, "nobody waits for a lock"
        time.sleep(0.01)


async def until_subscribed() -> None:
    """Return when somebody listens to the bells, whose listener is not at hand."""
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(lambda: pubsub.client().publish(pubsub.channel(PROBE), b"{}")):
            await asyncio.sleep(0.01)


async def until_heard(listener: Listener) -> None:
    """Return when this listener hears what is rung now; what was rung before it has heard too, for order is kept."""
    heard: list[bytes] = []
    with listener.call(PROBE, heard.append):
        async with asyncio.timeout(PATIENCE_S):
            while not heard:
                await asyncio.to_thread(pubsub.ring, PROBE)
                await asyncio.sleep(0.01)
