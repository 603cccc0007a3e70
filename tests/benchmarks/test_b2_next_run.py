"""B2: one run's end → the next run's offer on that host, through Celery, beside agents that run something else.

The agent here has no fio: what its host takes is not in it. What a step of a large plan costs is measured in
`test_b2_plan_scheduler.py`.
"""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import uvloop

from tests.benchmarks.figures import LONG, pairs, quantile, report
from tests.benchmarks.running_agents import Running, beside_running_agents, start_running
from tests.benchmarks.servers import with_web
from tests.conftest import Cast
from tests.faults.stack import Stack

pytestmark = [pytest.mark.benchmark]
BESIDE = 200 if LONG else 5


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    made.start_dispatcher()
    with with_web(made):
        yield made


def test_b2_from_an_end_to_the_next_offer(stack: Stack, cast: Cast) -> None:
    [agent] = start_running(stack, cast, 1, runs=pairs(12, 100))
    with beside_running_agents(stack, cast, BESIDE), ThreadPoolExecutor(1) as aside:
        steps = aside.submit(uvloop.run, _measure(agent, pairs(10, 98))).result()
    what = f"a run's end → the next run's offer, {BESIDE} agents running beside"
    report("B2", what, steps, "none; for comparison", "ms")
    assert report("B2", f"p95 of it, n = {len(steps)}", [quantile(steps, 0.95)], "≤ 1,000", "ms") < 10_000


async def _measure(agent: Running, times: int) -> list[float]:
    await agent.begin()
    assert agent.holding
    agent.holding.cancel()
    steps = []
    for _ in range(times):
        begin = time.perf_counter()
        await agent.end()
        offers: list[dict[str, int]] = []
        while not offers:  # as the real one: what is over is forgotten, and it polls again at once
            offers = await agent.take_offers(20)
            await asyncio.sleep(0)
        steps.append((time.perf_counter() - begin) * 1000)
        await agent.begin_run(offers[0])
    return steps
