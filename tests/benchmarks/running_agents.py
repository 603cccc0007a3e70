"""Agents whose fio runs, and the browsers that look at their runs: as the server sees them, without the programs."""

import asyncio
import hashlib
import json
import random
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import uvloop

from apps.agents.models import Agent
from apps.inventory.models import Filesystem, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Run
from apps.runs.services import offer_next_run, start_runs
from tests.benchmarks.fio_files import MODEL
from tests.benchmarks.many_agents import REPORT, Identity, enrolled
from tests.conftest import Cast
from tests.faults.stack import Stack

SECONDS = 300  # that the runs are planned to take
JOB = {"rw": "randread", "block_size": 4096, "file_size": 1 << 20, "runtime": SECONDS, "time_based": True}
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


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes, float]:
    """Return the status, the body, and after how many seconds to come again where the answer says so."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    assert length, head
    later = re.search(rb"retry-after: (\d+)", head.lower())
    return int(head.split()[1]), await reader.readexactly(int(length[1])), float(later[1]) if later else 0.0


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
    refusals: int = 0  # answers that a busy server gave in place of what was asked

    async def begin(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        [offer] = await self.take_offers(5)
        await self.begin_run(offer)
        self.holding = asyncio.create_task(self._hold())

    @asynccontextmanager
    async def hold_lease(self) -> AsyncIterator[None]:
        """Renew the lease of the attempt in hand meanwhile."""
        self.holding = asyncio.create_task(self._hold())
        try:
            yield
            assert not self.holding.done(), self.holding.exception()
        finally:
            self.holding.cancel()

    async def take_offers(self, wait: float) -> list[dict[str, int]]:
        """Poll without an attempt in hand."""
        offers: list[dict[str, int]] = (await self._said(self.identity.poll(wait)))["offers"]
        return offers

    async def begin_run(self, offer: dict[str, int]) -> None:
        self.attempt, self.token, self.run = offer["attempt"], offer["token"], offer["run"]
        await self._say("accept")
        start = {"boot_id": REPORT["boot_id"], "argv": ["fio"], "job_file": "[job0]", "fio_version": "fio-3.33"}
        await self._say("running", started_at=time.time(), **start)

    async def end(self) -> None:
        """fio has failed and left nothing."""
        await self._say("finish", outcome="failed", exit_status=1, reason="benchmark", streams={})

    async def send(self, sequence: int) -> None:
        data = document(sequence + 1)
        path = f"attempts/{self.attempt}/streams/result/chunks/{sequence}/"
        more = {"X-Spindle-Token": str(self.token), "X-Spindle-SHA256": hashlib.sha256(data).hexdigest()}
        request = self.identity.request("PUT", path, data, **more)
        self.sent[sequence] = time.perf_counter()
        assert await self._said(request) == {"stored": True}

    async def _hold(self) -> None:
        """The other connection of an agent: it polls, and names what it does. One that rested may have ended meanwhile."""
        named = [{"attempt": self.attempt, "token": self.token, "state": "running"}]
        await asyncio.sleep(random.uniform(0, HOLD_S))  # they did not all begin at once
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                while True:
                    writer.write(self.identity.poll(HOLD_S, attempts=named))
                    status, body, later = await _answer(reader)
                    assert status in (200, 503), body
                    await asyncio.sleep(later)
            except (ConnectionError, asyncio.IncompleteReadError):
                continue
            finally:
                writer.close()

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
        """Ask, and come again when a busy server says so, as the real agent does."""
        while True:
            self.writer.write(request)
            status, body, later = await _answer(self.reader)
            if status != 503:
                assert status == 200, body
                return json.loads(body)
            self.refusals += 1
            self.writer.close()  # the server would end it while it rests
            await asyncio.sleep(later * random.uniform(0.5, 1))
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)


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


def start_running(stack: Stack, cast: Cast, number: int, runs: int = 1) -> list[Running]:
    """Enrol so many agents, and offer each a long run on its own directory, as the dispatcher does. `runs`: that many wait for each."""
    agents = [Running(identity, stack.port) for identity in enrolled(stack.port, cast.lab, number)]
    with lab_scope(cast.lab.pk):
        for agent in Agent.objects.filter(pk__in=[one.identity.agent for one in agents]).select_related("host"):
            disk = Filesystem.objects.create(lab=cast.lab, host=agent.host, type="ext4", mount_point="/")
            target = Target.objects.create(
                lab=cast.lab, host=agent.host, name="own", path="/srv/own", is_agents_own=True, filesystem=disk
            )
            spec = {"tool": "fio", "jobs": [JOB]}
            start_runs(lab=cast.lab, target=target, spec=spec, repetitions=runs, who="benchmark")
    with all_labs():
        for host in set(Run.objects.filter(state="queued").values_list("host", flat=True)):
            offer_next_run(host)
    return agents


async def send_all(agents: list[Running], second: int) -> None:
    """A document of each, spread over a second."""

    async def after(seconds: float, act: Awaitable[None]) -> None:
        await asyncio.sleep(seconds)
        await act

    await asyncio.gather(*(after(place / len(agents), agent.send(second)) for place, agent in enumerate(agents)))


@contextmanager
def beside_running_agents(stack: Stack, cast: Cast, number: int) -> Iterator[None]:
    """While so many agents run something and send a document a second each."""
    agents, is_over, has_begun = start_running(stack, cast, number), threading.Event(), threading.Event()

    async def run() -> None:
        for agent in agents:
            await agent.begin()
        second = 0
        while not is_over.is_set():
            await send_all(agents, second)
            has_begun.set()
            second += 1
        for agent in agents:
            if agent.holding:
                agent.holding.cancel()

    with ThreadPoolExecutor(1) as aside:
        running = aside.submit(uvloop.run, run())
        try:
            while not has_begun.wait(1):
                assert not running.done(), running.exception()
            yield
        finally:
            is_over.set()
        running.result()
