"""E2: twice the web processes answer nearly twice the polls. Reckoned where the cores do not suffice: from what a poll costs."""

from pathlib import Path

import pytest

from tests.benchmarks.figures import LONG, pairs, report
from tests.benchmarks.idle_agents import IdleAgents, need_files
from tests.benchmarks.many_agents import enrolled
from tests.benchmarks.servers import start_web_processes
from tests.conftest import Cast
from tests.faults.stack import Stack

pytestmark = [pytest.mark.benchmark]
AGENTS = 1_000 if LONG else 200
WAIT_S = 4 if LONG else 2
BUDGET = 1.7


def test_e2_polls_on_one_and_on_two_web_processes(transactional_db: None, cast: Cast, tmp_path: Path) -> None:
    """With two processes a poll may cost a little more (both are colder); what it costs says how many two cores would answer."""
    need_files(AGENTS + 500)
    one, two = Stack(tmp_path, cast.lab), Stack(tmp_path / "two", cast.lab)
    two.folder.mkdir()
    try:
        web = {number: start_web_processes(stack, number) for number, stack in ((1, one), (2, two))}
        agents = enrolled(one.port, cast.lab, 2 * AGENTS)
        with (
            IdleAgents(one.port, web[1], agents[:AGENTS], WAIT_S, tmp_path) as on_one,
            IdleAgents(two.port, web[2], agents[AGENTS:], WAIT_S, tmp_path) as on_two,
        ):
            each = [(on_one.measure_poll(WAIT_S), on_two.measure_poll(WAIT_S)) for _ in range(pairs(3, 6))]
    finally:
        one.down()
        two.down()
    gains = [2 * alone / shared for alone, shared in each]
    middle = report("E2", "polls that two web processes answer ÷ one, by the CPU of a poll", gains, f"≥ {BUDGET}")
    assert middle > 1
