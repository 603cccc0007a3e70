"""Agents whose fio runs, and the browsers that look at their runs: as the server sees them, without the programs."""

import asyncio
import hashlib
import json
import random
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tests.benchmarks.fio_files import MODEL
from tests.benchmarks.many_agents import REPORT, Identity

SECONDS = 300  # that the runs are planned to take
RATE = 12_345  # I/Os in a second
HOLD_S = 20  # an agent with an attempt polls so long
_TOTAL = re.compile(rb'("(?:elapsed|timestamp_ms|io_bytes|total_ios|runtime|runtime_ms|job_runtime)" : )(\d+)')


@lru_cache(4)
def document(second: int) -> bytes:
    """fio's status document after so many seconds: one job that reads and has planned to for `SECONDS`. About 12 kB."""
    totals = {
        b"elapsed": second + 1,
        b"timestamp_ms": int(time.time() * 1000),
        b"io_bytes": RATE * 4096 * second,
        b"total_ios": RATE * second,
        b"runtime": 1000 * second,
        b"job_runtime": 1000 * second,
    }
    text = (MODEL.parent / "null.json").read_bytes()
    return _TOTAL.sub(lambda found: found[1] + b"%d" % totals.get(found[1].split(b'"')[1], int(found[2])), text)


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    assert length, head
    return int(head.split()[1]), await reader.readexactly(int(length[1]))


@dataclass
class Running:
    """One agent, from the poll that gets its offer on."""

    identity: Identity
    port: int
    attempt: int = 0
    token: int = 0
    run: int = 0
    sent: dict[int, float] = field(default_factory=dict)  # when, by sequence number
    holding: "asyncio.Task[None] | None" = None

    async def begin(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        [offer] = (await self._said(self.identity.poll(5)))["offers"]
        self.attempt, self.token, self.run = offer["attempt"], offer["token"], offer["run"]
        await self._say("accept")
        start = {"boot_id": REPORT["boot_id"], "argv": ["fio"], "job_file": "[job0]", "fio_version": "fio-3.33"}
        await self._say("running", started_at=time.time(), **start)
        self.holding = asyncio.create_task(self._hold())

    async def send(self, sequence: int) -> None:
        data = document(sequence + 1)
        path = f"attempts/{self.attempt}/streams/result/chunks/{sequence}/"
        more = {"X-Spindle-Token": str(self.token), "X-Spindle-SHA256": hashlib.sha256(data).hexdigest()}
        request = self.identity.request("PUT", path, data, **more)
        self.sent[sequence] = time.perf_counter()
        assert await self._said(request) == {"stored": True}

    async def _hold(self) -> None:
        """The other connection of an agent: it polls, and names what it does."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        named = [{"attempt": self.attempt, "token": self.token, "state": "running"}]
        await asyncio.sleep(random.uniform(0, HOLD_S))  # they did not all begin at once
        while True:
            writer.write(self.identity.poll(HOLD_S, attempts=named))
            status, body = await _answer(reader)
            assert status == 200, body

    async def _say(self, what: str, **body: Any) -> None:
        said = json.dumps({"token": self.token, **body}).encode()
        await self._said(self.identity.request("POST", f"attempts/{self.attempt}/{what}/", said))

    async def _said(self, request: bytes) -> Any:
        """As the real agent does: a connection that rested may have ended meanwhile, and that alone is tried again."""
        try:
            return await self._asked(request)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            return await self._asked(request)

    async def _asked(self, request: bytes) -> Any:
        self.writer.write(request)
        status, body = await _answer(self.reader)
        assert status == 200, body
        return json.loads(body)


@dataclass
class Browser:
    """The live page of one run: its event stream."""

    run: int
    port: int
    cookie: str
    heard: dict[int, list[float]] = field(default_factory=dict)  # when, by the number of the document
    listening: "asyncio.Task[None] | None" = None

    async def begin(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"GET /events/runs/{self.run}/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {self.cookie}\r\n\r\n"
        self.writer.write(head.encode())
        assert b" 200 " in await self.reader.readline()
        self.listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for name, value in self._fields():
            if name == "id":
                self.heard.setdefault(int(value), []).append(time.perf_counter())

    async def _fields(self) -> AsyncIterator[tuple[str, str]]:
        while line := await self.reader.readline():
            name, found, value = line.decode().rstrip("\r\n").partition(": ")
            if found:
                yield name, value
