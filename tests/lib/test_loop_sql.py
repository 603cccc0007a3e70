"""Statements of the event loop: answers as a thread would get them, and no connection that is left in the middle of something."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
import uvloop
from django.db import connection

from apps.lib.loop_sql import Lines, _numbered

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Run = Callable[[Any], Any]
PID = "SELECT pg_backend_pid()"


@pytest.fixture
def lines() -> Iterator[Lines]:
    made = Lines(2)
    yield made
    made.close()


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop])
def run(request: pytest.FixtureRequest) -> Run:
    """In a new loop each time, as nothing of a connection may belong to one."""

    def ran(work: Any) -> Any:
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(work)

    return ran


def _end(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])


def test_values_come_back_as_they_went(lines: Lines, run: Run) -> None:
    now = datetime.now(UTC)
    values = {"n": 2**40, "t": "it's 5 %", "l": ["a", 'b"'], "at": now, "none": None}
    sql = "SELECT %(n)s, %(t)s::text, %(l)s::text[], %(at)s, %(none)s::int, %(n)s + 1, 7 %% 4"
    assert run(lines.rows(sql, values)) == [(2**40, "it's 5 %", ["a", 'b"'], now, None, 2**40 + 1, 3)]


def test_a_name_is_one_parameter_however_often_it_stands_there() -> None:
    assert _numbered("%(a)s %(b)s %(a)s %%") == (b"$1 $2 $1 %", ("a", "b"))


def test_one_plan_for_numbers_of_all_sizes(lines: Lines, run: Run) -> None:
    for number in (1, 2**20, 2**40):
        assert run(lines.rows("SELECT %(a)s::bigint", {"a": number})) == [(number,)]
    [line] = lines.idle
    assert len(line.prepared) == 1


def test_more_than_a_socket_takes_at_once(lines: Lines, run: Run) -> None:
    text = "x" * 20_000_000
    assert run(lines.rows("SELECT length(%(a)s::text), repeat('y', 3000000)", {"a": text})) == [
        (20_000_000, "y" * 3_000_000)
    ]


def test_an_error_leaves_a_connection_that_works(lines: Lines, run: Run) -> None:
    [(pid,)] = run(lines.rows(PID))
    with pytest.raises(psycopg.errors.DivisionByZero):
        run(lines.rows("SELECT 1 / %(a)s::int", {"a": 0}))
    with pytest.raises(psycopg.errors.UndefinedTable):
        run(lines.rows("SELECT * FROM nowhere"))
    with pytest.raises(KeyError):
        run(lines.rows("SELECT %(a)s", {}))
    assert run(lines.rows(PID)) == [(pid,)]


def test_a_statement_is_a_transaction(lines: Lines, run: Run) -> None:
    run(lines.rows("INSERT INTO labs_lab (name, slug, is_published, created_at) VALUES ('a', 'a', false, now())"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM labs_lab")
        assert cursor.fetchone() == (1,)


def test_a_connection_that_the_database_has_closed_is_opened_again(lines: Lines, run: Run) -> None:
    [(pid,)] = run(lines.rows(PID))
    _end(pid)
    connection.cursor().execute("SELECT pg_sleep(0.1)")
    assert run(lines.rows(PID)) != [(pid,)]
    assert len(lines.idle) == 1


def test_who_waits_for_an_answer_hears_that_the_connection_was_lost(lines: Lines, run: Run) -> None:
    async def lost() -> None:
        [(pid,)] = await lines.rows(PID)
        asking = asyncio.create_task(lines.rows("SELECT pg_sleep(20)"))
        await asyncio.sleep(0.1)
        await lines.rows("SELECT pg_terminate_backend(%(pid)s::int)", {"pid": pid})
        with pytest.raises(psycopg.OperationalError):
            await asyncio.wait_for(asking, 5)
        assert await lines.rows("SELECT 1") == [(1,)]

    run(lost())


def test_who_is_cancelled_leaves_no_answer_to_the_next(lines: Lines, run: Run) -> None:
    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(lines.rows("SELECT 1 FROM pg_sleep(0.3)"), 0.05)
        assert await lines.rows("SELECT 2") == [(2,)]
        await asyncio.sleep(0.4)
        assert await lines.rows("SELECT 3") == [(3,)]

    run(cancelled())


def test_many_at_once_share_few_connections_and_get_their_own_answers(lines: Lines, run: Run) -> None:
    async def many() -> list[Any]:
        asked = [lines.rows("SELECT %(a)s::int, pg_backend_pid() FROM pg_sleep(0.01)", {"a": n}) for n in range(20)]
        return await asyncio.gather(*asked)

    answers = run(many())
    assert [answer[0][0] for answer in answers] == list(range(20))
    assert len({answer[0][1] for answer in answers}) == 2
    assert len(lines.idle) == 2
