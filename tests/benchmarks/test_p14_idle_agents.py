"""P14: thousands of idle agents on one web process, against an ASGI application that only holds as many connections under the same server
program; and other pages beside them, against the same pages of a second web process on the same database that nobody polls."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.benchmarks.figures import LONG, cpu_ns, pairs, quantile, report
from tests.benchmarks.held_polls import DIVIDER
from tests.benchmarks.many_agents import Identity, enrolled
from tests.benchmarks.test_p9_side_by_side import Page
from tests.conftest import Cast
from tests.faults.stack import ROOT, Stack, free_port, until

pytestmark = [pytest.mark.benchmark]
AGENTS = 10_000 if LONG else 200
WAIT_S = 25 if LONG else 2  # of a poll; the agent's is 25
SPREAD_S = 50 if LONG else 2  # so many seconds lie between the first agent's first poll and the last one's
PAGE, HOLDS = "/studies/", "studies"  # a page that does not grow with the hosts of a lab


@dataclass
class Held:
    """Connections that are held at a server, by a process of their own."""

    port: int
    server: int  # its process
    requests: Path
    before: float = 0.0  # memory of the server before they came
    client: "subprocess.Popen[str]" = field(init=False)

    def begin(self) -> None:
        self.before = _memory(self.server)
        argv = [sys.executable, str(Path(__file__).with_name("held_polls.py")), str(self.port)]
        self.client = subprocess.Popen(
            [*argv, str(self.requests), str(SPREAD_S)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def counts(self) -> dict[str, int]:
        assert self.client.stdin
        assert self.client.stdout
        self.client.stdin.write("\n")
        self.client.stdin.flush()
        found: dict[str, int] = json.loads(self.client.stdout.readline())
        return found

    def is_filled(self) -> bool:
        time.sleep(0.2)
        return self.counts()["served"] == AGENTS

    def kib_each(self) -> float:
        return (_memory(self.server) - self.before) / 1024 / self.counts()["held"]

    def mark(self) -> tuple[int, int]:
        return cpu_ns(self.server), self.counts()["answered"]

    def ms_each(self, since: tuple[int, int]) -> float:
        """The server's time on a processor for each poll that it has answered since then."""
        cpu, answered = self.mark()
        return (cpu - since[0]) / 1e6 / (answered - since[1])

    def end(self) -> None:
        self.client.kill()
        self.client.wait()


def _memory(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss)


@pytest.fixture(autouse=True)
def enough_files() -> None:
    """Servers and clients are processes of this one, and take over its limits."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < AGENTS + 500:
        pytest.skip(f"a process may open {hard} files here, and {AGENTS} agents need {AGENTS + 500}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.fixture
def stacks(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[tuple[Stack, Stack]]:
    """One for agents, one that has none."""
    (tmp_path / "quiet").mkdir()
    made = [Stack(folder, cast.lab, warm_up_after=0) for folder in (tmp_path, tmp_path / "quiet")]
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(Stack.start_web, made))
        yield made[0], made[1]
    finally:
        for one in made:
            one.down()


@pytest.fixture
def floor() -> Iterator[tuple[int, int]]:
    """Port and process of the raw application, under the server program of `bin/up`."""
    port = free_port()
    argv = ["-m", "uvicorn", "tests.benchmarks.floor_poll:application", "--port", str(port), "--no-access-log"]
    server = subprocess.Popen([sys.executable, *argv], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        yield port, server.pid
    finally:
        server.kill()
        server.wait()


def test_p14_idle_agents(stacks: tuple[Stack, Stack], floor: tuple[int, int], cast: Cast, tmp_path: Path) -> None:
    busy, _ = stacks
    begin = time.monotonic()
    agents = enrolled(busy.port, cast.lab, AGENTS)
    print(f"\nP14 {AGENTS} agents enrolled in {time.monotonic() - begin:.1f} s", flush=True)
    pages = [Page(one, cast) for one in stacks]
    for page in pages * 3:
        page.ms(PAGE, HOLDS)
    for one in stacks:
        one.until_warm()
    ours, least = _held(busy, floor, agents, tmp_path)
    try:
        _measure(ours, least, pages)
    finally:
        for one in (ours, least):
            one.end()


def _held(stack: Stack, floor: tuple[int, int], agents: list[Identity], folder: Path) -> tuple[Held, Held]:
    requests = folder / "requests"
    requests.write_bytes(DIVIDER.join(one.poll(WAIT_S) for one in agents))
    both = Held(stack.port, stack.processes["web"].pid, requests), Held(*floor, requests)
    for one in both:
        one.begin()
    return both


def _measure(ours: Held, least: Held, pages: list[Page]) -> None:
    both = (ours, least)
    for one in both:
        until("every agent has had an answer", SPREAD_S + 6 * WAIT_S + 20, one.is_filled)
    ratios: list[float] = []
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(pairs(2, 3)):
        since = [one.mark() for one in both]
        time.sleep(WAIT_S)  # each is answered once
        each = [one.ms_each(mark) for one, mark in zip(both, since, strict=True)]
        print(f"\nP14 CPU of a poll: ours {each[0]:.3f} ms, raw {each[1]:.3f} ms", flush=True)
        ratios.append(each[0] / each[1])
        _ask(pages, times)
    memory = [one.kib_each() for one in both]
    for one in both:
        found = one.counts()
        assert (found["held"], found["wrong"]) == (AGENTS, 0), found
    what = f"memory for an agent, {memory[0]:.1f} KiB, ÷ raw ASGI, {memory[1]:.1f} KiB"
    middle = report(
        "P14", f"CPU of the web process for a poll, {AGENTS} agents that wait {WAIT_S} s ÷ raw ASGI", ratios, "≤ 3"
    )
    larger = report("P14", what, [memory[0] / memory[1]], "≤ 3")
    slower = [quantile(times[0], share) / quantile(times[1], share) for share in (0.95, 0.5)]
    for found, where in zip(times, ("beside the agents", "without them"), strict=True):
        report("P14", f"{PAGE} {where}", found, "none; for comparison", "ms")
    report("P14", f"p95 of {PAGE} beside the agents ÷ without them, n = {len(times[0])}", slower[:1], "≤ 1.5")
    report("P14", f"p50 of {PAGE} beside the agents ÷ without them", slower[1:], "none; for comparison")
    assert middle < 9
    assert larger < 9


def _ask(pages: list[Page], times: tuple[list[float], list[float]]) -> None:
    """Pages of both servers in turn, each on a new connection: a kept one might end while the other server is slow."""
    for number in range(pairs(20, 40) + 1):
        for page, found in zip(pages, times, strict=True):
            page.connection.close()
            took = page.ms(PAGE, HOLDS)
            if number:  # the first one comes after a rest
                found.append(took)
            time.sleep(0.02)
