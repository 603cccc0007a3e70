"""Wait for what proves that others have come so far, in place of a time that a busy machine exceeds."""

import asyncio
import time

from django.db import connection

from apps.core import pubsub

PATIENCE_S = 30
PROBE = "probe"  # a bell of which nobody is told


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
    """Return when Redis has somebody who listens to this process's bells."""
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(lambda: pubsub.client().publish(pubsub.channel(PROBE), b"{}")):
            await asyncio.sleep(0.01)


async def until_told(name: str, heard: list[bytes]) -> None:
    """Return when all that was told on this bell until now has been heard, and remove what this needs from it."""
    mark = b'{"mark": true}'
    await asyncio.to_thread(lambda: pubsub.client().publish(pubsub.channel(name), mark))
    async with asyncio.timeout(PATIENCE_S):
        while mark not in heard:
            await asyncio.sleep(0.01)
    heard.remove(mark)
