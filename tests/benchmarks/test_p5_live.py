"""P5: from fio's progress document, as the agent sends it, to the event in a browser, beside an HTTP round trip and a message through Redis."""

import asyncio
import http.client
import subprocess
import sys
import time
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
import uvloop
from django.conf import settings

from apps.agents.models import Agent
from apps.inventory.models import Filesystem, Target
from apps.labs.isolation import lab_scope
from apps.runs.start import start_runs
from tests.benchmarks.figures import LONG, cpu_ns, pairs, quantile, report
from tests.benchmarks.many_agents import enrolled
from tests.benchmarks.running_agents import SECONDS, Browser, Running
from tests.benchmarks.test_p9_side_by_side import Page
from tests.conftest import Cast
from tests.faults.stack import Stack, free_port

pytestmark = [pytest.mark.benchmark]
AGENTS = 200 if LONG else 20
JOB = {"rw": "randread", "block_size": 4096, "file_size": 1 << 20, "runtime": SECONDS, "time_based": True}
PATIENCE_S = 20  # for the last event


class Floor:
    """One keep-alive POST to a bare server, and one message through Redis."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.redis = redis.Redis.from_url(settings.REDIS_URL)
        self.heard = self.redis.pubsub(ignore_subscribe_messages=True)
        self.heard.subscribe("floor of P5")
        self.heard.get_message(timeout=1)

    def ms(self) -> float:
        begin = time.perf_counter()
        self.connection.request("POST", "/click", b"{}")
        self.connection.getresponse().read()
        self.redis.publish("floor of P5", b"{}")
        while self.heard.get_message(timeout=1) is None:
            pass
        return (time.perf_counter() - begin) * 1000


@pytest.fixture
def floor() -> Iterator[Floor]:
    port = free_port()
    server = subprocess.Popen([sys.executable, str(Path(__file__).with_name("floor_chain.py")), "server", str(port)])
    time.sleep(0.5)
    try:
        yield Floor(port)
    finally:
        server.kill()
        server.wait()


def test_p5_from_progress_to_the_browser(stack: Stack, floor: Floor, cast: Cast) -> None:
    agents = [Running(one, stack.port) for one in enrolled(stack.port, cast.lab, AGENTS)]
    _queue(stack, cast, [one.identity.agent for one in agents])
    web = stack.processes["web"].pid
    with ThreadPoolExecutor(1) as aside:  # where Playwright has been, this thread has a loop that runs
        measuring = _measure(agents, stack.port, Page(stack, cast).cookie, floor, web)
        cpu, least, browsers = aside.submit(uvloop.run, measuring).result()
    delays = []
    for agent, browser in zip(agents, browsers, strict=True):
        assert sorted(browser.heard) == sorted(agent.sent), "an event was lost"
        assert all(len(times) == 1 for times in browser.heard.values()), "an event came twice"
        delays += [(browser.heard[number][0] - sent) * 1000 for number, sent in agent.sent.items()]
    report("P5", "floor: HTTP round trip + Redis publish → subscriber", least, "the floor", "ms")
    what = f"document → browser event, {AGENTS} agents running with a document a second each and one browser each, none lost"
    report("P5", what, delays, "see the ratio", "ms")
    report("P5", "CPU of the web process for a document", cpu, "none; for comparison", "ms")
    p50, p95 = (quantile(delays, share) / quantile(least, 0.5) for share in (0.5, 0.95))
    print(f"\nP5 ratio p50 {p50:.1f} ×, p95 {p95:.1f} × (target p95 ≤ 20)")
    assert p50 < 100


def _queue(stack: Stack, cast: Cast, agents: list[int]) -> None:
    """A long run on each agent's own directory."""
    with lab_scope(cast.lab.pk):
        for agent in Agent.objects.filter(pk__in=agents).select_related("host"):
            disk = Filesystem.objects.create(lab=cast.lab, host=agent.host, type="ext4", mount_point="/")
            target = Target.objects.create(
                lab=cast.lab, host=agent.host, name="own", path="/srv/own", is_agents_own=True, filesystem=disk
            )
            start_runs(lab=cast.lab, target=target, spec={"tool": "fio", "jobs": [JOB]}, who="benchmark")


async def _measure(
    agents: list[Running], port: int, cookie: str, floor: Floor, web: int
) -> tuple[list[float], list[float], list[Browser]]:
    for agent in agents:
        await agent.begin()
    browsers = [Browser(agent.run, port, cookie) for agent in agents]
    for browser in browsers:
        await browser.begin()
    cpu, least = [], []
    for second in range(pairs(5, 40)):
        before = cpu_ns(web)
        await asyncio.gather(*(_after(number / AGENTS, agent.send(second)) for number, agent in enumerate(agents)))
        end = time.monotonic() + PATIENCE_S
        while any(second not in browser.heard for browser in browsers) and time.monotonic() < end:
            await asyncio.sleep(0.02)
        cpu.append((cpu_ns(web) - before) / 1e6 / AGENTS)
        least += [floor.ms() for _ in range(10)]
    for one in [*agents, *browsers]:
        task = one.holding if isinstance(one, Running) else one.listening
        assert task
        assert not task.done(), task.exception()
        task.cancel()
    return cpu, least, browsers


async def _after(seconds: float, act: Awaitable[None]) -> None:
    await asyncio.sleep(seconds)
    await act
