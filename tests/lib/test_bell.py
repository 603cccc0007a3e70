"""A bell without a message wakes those in the same process by itself; what is durable late is told early."""

import asyncio

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection, transaction

from apps.lib import bell
from apps.lib.listening import Heard, Listener
from apps.lib.sql import durable_after, one_row


def _heard(name: str, *rings: object, seconds: float = 2) -> list[bytes]:
    """What a listener hears of these rings, which come from another thread, until it is silent for so long."""

    async def listen() -> list[bytes]:
        listener, heard = Listener(), []
        with listener.call(name, heard.append):
            await asyncio.sleep(0.3)  # subscribed, if there is a Redis
            for message in rings:
                await asyncio.to_thread(bell.ring, name, message)
            await asyncio.sleep(seconds)
        return heard

    return asyncio.run(listen())


def test_a_plain_bell_is_heard_in_its_own_process_while_redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(bell, "_local", type(bell._local)())
    assert _heard("host:1", None, seconds=0.5) == [b"{}"]


@pytest.mark.services
def test_a_message_is_heard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _heard("run:1", {"n": 1}, seconds=0.5) == [b'{"n":1}']


@pytest.mark.services
def test_what_is_spread_here_is_not_heard_again_from_redis() -> None:
    async def listen() -> list[bytes]:
        listener, heard = Listener(), []
        with listener.call("run:2", heard.append):
            await asyncio.sleep(0.3)
            listener.spread("run:2", b'{"n":1}')
            await asyncio.to_thread(bell.remember_all, [("run:2", b'{"n":1}'), ("run:2", b'{"n":2}')], 5, 5)
            await asyncio.sleep(0.5)
        return heard

    assert asyncio.run(listen()) == [b'{"n":1}', b'{"n":2}']


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


@pytest.mark.services
def test_a_count_is_one_more_each_time() -> None:
    cache.delete("counted")
    assert [cache.count("counted", 5) for _ in range(3)] == [1, 2, 3]


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_what_is_told_before_it_is_on_disk_is_on_disk_before_the_answer() -> None:
    where = "SELECT pg_current_wal_insert_lsn()::text"
    behind = "SELECT pg_current_wal_flush_lsn() >= %(mark)s::pg_lsn"
    if one_row("SELECT current_setting('synchronous_commit')", {}) != ("on",):
        pytest.skip("this server is set up for tests and never waits for the disk; on external servers this runs")
    told = []
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE kept (n int)")
        durable_after(lambda: told.append(one_row(where, {})))
        assert not told
    assert len(told) == 1
    assert one_row(behind, {"mark": told[0][0]}) == (True,)
    assert one_row("SELECT current_setting('synchronous_commit')", {}) == ("on",)
