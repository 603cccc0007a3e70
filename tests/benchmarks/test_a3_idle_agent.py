"""A3: an idle agent is small and does next to nothing, beside a Celery worker that does nothing."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, until
from tests.benchmarks.figures import cpu_ns, only_long, pairs, report
from tests.faults.stack import ROOT

pytestmark = pytest.mark.benchmark


@pytest.fixture
def celery_worker() -> Iterator[int]:
    argv = ["-m", "celery", "-A", "worker.celery", "worker", "--pool", "solo", "--queues", "of-nobody"]
    with open(os.devnull, "wb") as nowhere:
        worker = subprocess.Popen([sys.executable, *argv], cwd=ROOT, stdout=nowhere, stderr=nowhere)
    try:
        yield worker.pid
    finally:
        worker.kill()
        worker.wait()


def _mib(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 2**20


@only_long
def test_a3_an_idle_agent_is_small(server: FakeServer, host: Host, celery_worker: int) -> None:
    agent = host.start().pid
    until(lambda: server.polls, "the first poll")
    time.sleep(10)  # both have started
    before, begin = cpu_ns(agent), time.monotonic()
    time.sleep(pairs(60, 180))
    cpu = (cpu_ns(agent) - before) / 1e6 / (time.monotonic() - begin) * 60
    report("A3", "memory of an idle Celery worker", [_mib(celery_worker)], "none; for comparison", "MiB")
    memory = report("A3", "memory of the idle agent", [_mib(agent)], "≤ 32", "MiB")
    report("A3", "CPU of the idle agent", [cpu], "≤ 10", "ms/min")
    assert memory < 64
