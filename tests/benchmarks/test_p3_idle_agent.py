"""P3: an idle agent is as small as a bare long poll with the same imports, and does next to nothing."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, until
from tests.benchmarks.figures import pairs, report

pytestmark = pytest.mark.benchmark

BARE = """
import sys, zipfile
sys.path.insert(0, sys.argv[1])
import http.client, json, os, select, signal, hashlib, time
for name in sorted(n[:-3].replace('/', '.') for n in zipfile.ZipFile(sys.argv[1]).namelist() if n.endswith('.py')):
    source = zipfile.ZipFile(sys.argv[1]).read(name.replace('.', '/') + '.py').decode()
    for line in source.splitlines():
        if line.startswith(('import ', 'from ')) and not line.startswith(('from .', 'from agent', 'from worker')):
            try: exec(line)
            except SyntaxError: pass
connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[2]))
while True:
    connection.request('POST', '/agent/v1/idle/', b'{"wait": 25}')
    connection.getresponse().read()
"""


def _settled(process: psutil.Process, seconds: float) -> tuple[float, float]:
    """(RSS in MiB, CPU in ms per minute) over so many quiet seconds."""
    before, begin = sum(process.cpu_times()[:2]), time.monotonic()
    time.sleep(seconds)
    spent = sum(process.cpu_times()[:2]) - before
    return process.memory_info().rss / 2**20, spent * 1000 * 60 / (time.monotonic() - begin)


def test_p3_an_idle_agent_is_small(tmp_path: Path, server: FakeServer, pyz: Path) -> None:
    host = Host(tmp_path, server, pyz)
    agent = psutil.Process(host.start().pid)
    until(lambda: server.polls, "the first poll")
    bare_process = subprocess.Popen([sys.executable, "-c", BARE, str(pyz), str(server.port)], stderr=subprocess.DEVNULL)
    try:
        time.sleep(3)
        seconds = pairs(30, 180)
        bare = psutil.Process(bare_process.pid)
        ratio = _settled(agent, 0.1)[0] / _settled(bare, 0.1)[0]
        _, cpu = _settled(agent, seconds)
    finally:
        bare_process.kill()
        bare_process.wait()
    children = sum(child.memory_info().rss for child in agent.children(recursive=True)) / 2**20
    report("P3", "RSS of the idle agent ÷ bare long poll with the same imports", [ratio], "≤ 1.25")
    report("P3", "RSS of its waiting runner, mostly shared with it", [children], "said, no target", "MiB")
    report("P3", "CPU of the idle agent", [cpu], "≤ 5 (clock ticks of 10 ms: one tick in a minute is 10)", "ms/min")
    assert ratio < 2
