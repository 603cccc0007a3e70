"""B3: from fio's progress document, as the agent sends it, to the event in a browser, while many run and many watch."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvloop

from tests.benchmarks.figures import LONG, cpu_ns, pairs, quantile, report
from tests.benchmarks.running_agents import Browser, Running, send_all, start_running
from tests.benchmarks.servers import Page
from tests.conftest import Cast
from tests.faults.stack import Stack

pytestmark = [pytest.mark.benchmark]
AGENTS = 200 if LONG else 20
PATIENCE_S = 20  # for the last event


def test_b3_from_progress_to_the_browser(stack: Stack, cast: Cast) -> None:
    agents = start_running(stack, cast, AGENTS)
    web = stack.processes["web"].pid
    with ThreadPoolExecutor(1) as aside:  # where Playwright has been, this thread has a loop that runs
        measuring = _measure(agents, stack.port, Page(stack, cast).cookie, web)
        cpu, browsers = aside.submit(uvloop.run, measuring).result()
    delays = []
    for agent, browser in zip(agents, browsers, strict=True):
        assert sorted(browser.heard) == sorted(agent.sent), "an event was lost"
        assert all(len(times) == 1 for times in browser.heard.values()), "an event came twice"
        delays += [(browser.heard[number][0] - sent) * 1000 for number, sent in agent.sent.items()]
    where = f"{AGENTS} agents running with a document a second each and one browser each, none lost"
    report("B3", f"document → browser event, {where}", delays, "none; for comparison", "ms")
    report("B3", "CPU of the web process for a document, with all else that it does", cpu, "none; for comparison", "ms")
    p95 = report("B3", f"p95 of document → browser event, n = {len(delays)}", [quantile(delays, 0.95)], "≤ 1,000", "ms")
    assert p95 < 10_000


async def _measure(agents: list[Running], port: int, cookie: str, web: int) -> tuple[list[float], list[Browser]]:
    for agent in agents:
        await agent.begin()
    browsers = [Browser(agent.run, port, cookie) for agent in agents]
    for browser in browsers:
        await browser.begin()
    cpu = []
    for second in range(pairs(5, 40)):
        before = cpu_ns(web)
        await send_all(agents, second)
        end = time.monotonic() + PATIENCE_S
        while any(second not in browser.heard for browser in browsers) and time.monotonic() < end:
            await asyncio.sleep(0.02)
        cpu.append((cpu_ns(web) - before) / 1e6 / AGENTS)
    for one in [*agents, *browsers]:
        task = one.holding if isinstance(one, Running) else one.listening
        assert task
        assert not task.done(), task.exception()
        task.cancel()
    return cpu, browsers
