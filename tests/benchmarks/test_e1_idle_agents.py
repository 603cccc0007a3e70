"""E1: ten thousand idle agents on four web processes leave pages as quick as they are without them; a thousand on one."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.figures import LONG, pairs, quantile, report
from tests.benchmarks.idle_agents import IdleAgents, need_files
from tests.benchmarks.many_agents import enrolled
from tests.benchmarks.servers import Page, start_web_processes
from tests.conftest import Cast
from tests.faults.stack import Stack

pytestmark = [pytest.mark.benchmark]
SIZES = [(10_000, 4), (1_000, 1)] if LONG else [(200, 2)]
WAIT_S = 25 if LONG else 2  # of a poll; the agent's is 25
PAGE, HOLDS = "/studies/", "studies"  # a page that does not grow with the hosts of a lab


@pytest.fixture
def stacks(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[tuple[Stack, Stack]]:
    """One for agents, one that has none, on one database."""
    (tmp_path / "quiet").mkdir()
    made = Stack(tmp_path, cast.lab), Stack(tmp_path / "quiet", cast.lab)
    try:
        yield made
    finally:
        for stack in made:
            stack.down()


@pytest.mark.parametrize(("number", "processes"), SIZES)
def test_e1_idle_agents(stacks: tuple[Stack, Stack], cast: Cast, tmp_path: Path, number: int, processes: int) -> None:
    need_files(number + 500)
    busy, quiet = stacks
    web = start_web_processes(busy, processes)
    start_web_processes(quiet, processes)
    pages = [Page(stack, cast) for stack in stacks]
    for page in pages * 3 * processes:  # each process once at least
        page.connection.close()
        page.ms(PAGE, HOLDS)
    agents = enrolled(busy.port, cast.lab, number)
    with IdleAgents(busy.port, web, agents, WAIT_S, tmp_path) as idle:
        each = [idle.measure_poll(WAIT_S) for _ in range(pairs(2, 3))]
        beside, without = _measure_pages(pages)
        memory, found = idle.measure_memory(), idle.counts()
    assert (found["held"], found["wrong"]) == (number, 0), found
    where = f"{number:,} agents on {processes} web processes"
    report("E1", f"CPU of the web processes for a poll, {where}", each, "none; 2 ms is 40 % of two cores", "ms")
    assert report("E1", f"memory of an agent, {where}", [memory], "≤ 64", "KiB") < 128
    report("E1", f"{PAGE} beside {where}", beside, "none; for comparison", "ms")
    report("E1", f"{PAGE} without them", without, "none; for comparison", "ms")
    slower = quantile(beside, 0.95) / quantile(without, 0.95)
    report("E1", f"p95 of {PAGE} beside {where} ÷ without them, n = {len(beside)}", [slower], "≤ 1.5")


def _measure_pages(pages: list[Page]) -> tuple[list[float], list[float]]:
    """Ask both servers in turn, each on a new connection: a kept one might end while the other server is slow."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(pairs(20, 100)):
        for page, values in zip(pages, times, strict=True):
            page.connection.close()
            values.append(page.ms(PAGE, HOLDS))
            time.sleep(0.02)
    return times
