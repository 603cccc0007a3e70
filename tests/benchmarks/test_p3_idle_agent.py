"""P3: an idle agent is as small as a bare long poll with the same imports, and does next to nothing."""

import subprocess
import sys
import time
import zipfile
from pathlib import Path

import psutil
import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, until
from tests.benchmarks.figures import cpu_ns, only_long, pairs, report
from tests.faults.stack import free_port

pytestmark = pytest.mark.benchmark

BARE = """
{imports}
import http.client
connection = http.client.HTTPConnection("127.0.0.1", {port})
while True:
    connection.request("POST", "/poll", b"{{}}")
    connection.getresponse().read()
"""


def _imports(pyz: Path) -> str:
    """Every module of the standard library that the agent imports."""
    lines = set()
    with zipfile.ZipFile(pyz) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                lines |= {
                    line for line in archive.read(name).decode().splitlines() if line.startswith(("import ", "from "))
                }
    return "\n".join(
        sorted(
            line for line in lines if not line.startswith(("from .", "from agent", "import agent")) and "(" not in line
        )
    )


def _rss(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 2**20


@only_long
def test_p3_an_idle_agent_is_small(server: FakeServer, host: Host, pyz: Path) -> None:
    agent = host.start().pid
    until(lambda: server.polls, "the first poll")
    port, floor = free_port(), str(Path(__file__).with_name("floor_chain.py"))
    silent = subprocess.Popen([sys.executable, floor, "server", str(port)])
    time.sleep(0.5)
    bare = subprocess.Popen([sys.executable, "-c", BARE.format(imports=_imports(pyz), port=port)])
    try:
        time.sleep(3)
        assert bare.poll() is None
        before, begin = cpu_ns(agent), time.monotonic()
        time.sleep(pairs(60, 180))
        cpu = (cpu_ns(agent) - before) / 1e6 / (time.monotonic() - begin) * 60
        ratio = _rss(agent) / _rss(bare.pid)
    finally:
        for process in (bare, silent):
            process.kill()
            process.wait()
    report(
        "P3", f"RSS of the idle agent, {_rss(agent):.1f} MiB, ÷ bare long poll with the same imports", [ratio], "≤ 1.25"
    )
    report("P3", "CPU of the idle agent", [cpu], "≤ 5", "ms/min")
    assert ratio < 2
