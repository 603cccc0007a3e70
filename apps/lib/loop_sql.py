"""Statements of the event loop itself, for the few requests whose way through a thread and back would take longer than PostgreSQL does.

A few connections of the process's own, beside those of the threads. Each statement is a transaction by itself; PostgreSQL parses and plans it
once per connection. Everything that waits longer, or belongs into one transaction with something else, is for `apps.lib.sql` and a thread.
"""

import asyncio
import re
import select
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import psycopg
from django.db import connection
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.types.numeric import Int8

MOST = 4  # connections; who finds them all busy waits
PLACE = re.compile(r"%\((\w+)\)s|%%")
Rows = list[tuple[Any, ...]]


class Line:
    """One connection. Nothing of it belongs to a loop between two statements."""

    def __init__(self, opened: psycopg.Connection) -> None:
        self.opened, self.pgconn = opened, opened.pgconn
        self.pgconn.nonblocking = 1
        self.adapt = Transformer(opened)
        self.prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self.is_free = True

    @property
    def is_quiet(self) -> bool:
        """One that the database has closed has something to read."""
        heard = select.poll()
        heard.register(self.pgconn.socket, select.POLLIN)
        return not heard.poll(0)

    async def rows(self, sql: str, values: Mapping[str, Any]) -> Rows:
        text, names = _numbered(sql)
        given = self.adapt.dump_sequence([_wide(values[name]) for name in names], [PyFormat.AUTO] * len(names))
        types, formats = self.adapt.types or (), self.adapt.formats
        name = await self._prepared(text, types)
        self.pgconn.send_query_prepared(name, given, formats)
        found = _good(await self._answer())
        self.adapt.set_pgresult(found)
        return self.adapt.load_rows(0, found.ntuples, tuple)

    async def _prepared(self, text: bytes, types: tuple[int, ...]) -> bytes:
        name = self.prepared.get((text, types))
        if name is None:
            name = b"loop_%d" % len(self.prepared)
            self.pgconn.send_prepare(name, text, types)
            _good(await self._answer())
            self.prepared[text, types] = name
        return name

    async def _answer(self) -> PGresult:
        """To what has been sent: the last result."""
        self.is_free = False
        hearing = Hearing(self.pgconn, asyncio.get_running_loop())
        try:
            result = await hearing.answered
        finally:
            hearing.stop()
        self.is_free = True
        return result

    def close(self) -> None:
        self.opened.close()


class Hearing:
    """Sends what waits to be sent, and hears the answer to its end."""

    def __init__(self, pgconn: PGconn, loop: asyncio.AbstractEventLoop) -> None:
        self.pgconn, self.loop, self.socket = pgconn, loop, pgconn.socket
        self.answered: asyncio.Future[PGresult] = loop.create_future()
        self.results: list[PGresult] = []
        self.loop.add_reader(self.socket, self._try, self._read)
        self._try(self._send)

    def _try(self, act: Callable[[], None]) -> None:
        """Where the connection is lost, libpq has closed the socket, whose number may be another's at the next turn of the loop."""
        try:
            act()
        except psycopg.Error as error:
            self.stop()
            if not self.answered.done():
                self.answered.set_exception(error)

    def _read(self) -> None:
        self.pgconn.consume_input()
        while not self.answered.done() and not self.pgconn.is_busy():
            if result := self.pgconn.get_result():
                self.results.append(result)
            elif self.results:
                self.answered.set_result(self.results[-1])
            else:
                raise psycopg.OperationalError("the connection gave no answer")

    def _send(self) -> None:
        if self.pgconn.flush():
            self.loop.add_writer(self.socket, self._try, self._send)
        else:
            self.loop.remove_writer(self.socket)

    def stop(self) -> None:
        if self.socket >= 0:
            self.loop.remove_reader(self.socket)
            self.loop.remove_writer(self.socket)
        self.socket = -1


class Lines:
    """The connections of a process, opened when they are needed. For one thread, its event loop's."""

    def __init__(self, most: int = MOST) -> None:
        self.idle: list[Line] = []
        self.free = asyncio.Semaphore(most)

    async def rows(self, sql: str, values: Mapping[str, Any] = MappingProxyType({})) -> Rows:
        """What the statement answers. Raises psycopg's errors; whether the statement was carried out is then not known where the
        connection was lost. Who is cancelled does not take the statement back.
        """
        async with self.free:
            line = self._waiting() or Line(await asyncio.get_running_loop().run_in_executor(None, _open))
            try:
                return await line.rows(sql, values)
            finally:
                self._keep(line)

    def _waiting(self) -> Line | None:
        """The one that was used last, which has most statements prepared; dead ones go."""
        while self.idle:
            line = self.idle.pop()
            if line.is_quiet:
                return line
            line.close()
        return None

    def _keep(self, line: Line) -> None:
        if line.is_free and line.pgconn.status == ConnStatus.OK:
            self.idle.append(line)
        else:
            line.close()

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()


def _open() -> psycopg.Connection:
    """As Django opens its own. A statement is planned once for all its values: these are looked up by keys, and PostgreSQL, which would
    plan anew for each as long as it expects more rows from its general plan, plans longer than it works.
    """
    opened: psycopg.Connection = connection.get_new_connection(connection.get_connection_params())
    opened.pgconn.exec_(b"SET plan_cache_mode = force_generic_plan")
    return opened


@cache
def _numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """`%(name)s` → `$1`, and the names by number."""
    names: list[str] = []

    def place(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    return PLACE.sub(place, sql).encode(), tuple(names)


def _wide(value: Any) -> Any:
    """All whole numbers as one type: else a statement is planned again for each size of each of its numbers."""
    return Int8(value) if type(value) is int else value


def _good(result: PGresult) -> PGresult:
    if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        raise psycopg.errors.error_from_result(result)
    return result


lines = Lines()
