"""B1: from the click to fio's first instruction, through Celery and the agent, beside `fio --client` doing the same."""

import http.client
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from apps.runs.models import Run
from tests.benchmarks.figures import LONG, pairs, quantile, report
from tests.benchmarks.running_agents import beside_running_agents
from tests.benchmarks.servers import alternate
from tests.conftest import Cast
from tests.faults.stack import Stack, free_port, until

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]
BESIDE = 200 if LONG else 5  # agents that run something
REST_S = 0.3  # before each chain, so that nothing of the one before runs beside it
SMALLEST = {"rw": "read", "block_size": 4096, "file_size": 4096, "ioengine": "null", "direct": False}
# Stands for fio: says that it runs, through a pipe, before anything else, and waits until that has been heard, so that nobody has to wait
# for a processor that fio has by then; then it is fio.
PROGRAM = """#!/bin/sh
case "$1" in --version) exec {fio} --version;; esac
[ -e {pipe} ] && echo x > {pipe} && read heard < {heard}
[ -n "$1" ] && exec {fio} "$@"
exit 0
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "fio"
    for pipe in ("pipe", "heard"):
        os.mkfifo(tmp_path / pipe)
    path.write_text(PROGRAM.format(fio=shutil.which("fio"), pipe=tmp_path / "pipe", heard=tmp_path / "heard"))
    path.chmod(0o755)
    return path


@pytest.fixture
def stack(transactional_db, cast, tmp_path: Path, program: Path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    try:
        made.start_web()
        made.start_worker()
        made.start_dispatcher()
        made.enrol()
        conf = made.state / "agent.conf"
        lines = [line for line in conf.read_text().splitlines() if not line.startswith("fio =")]
        conf.write_text("\n".join([*lines, f"fio = {program}", ""]))
        made.start_agent()
        until("the agent describes its host", 30, made.target)
        yield made
    finally:
        made.down()


def _chain(
    pipe: int, heard: int, connection: http.client.HTTPConnection, path: str, body: bytes, headers: dict[str, str]
) -> float:
    """Milliseconds from the POST to the child's first word."""
    connection.close()  # the server may have ended it meanwhile
    connection.connect()
    begin = time.perf_counter()
    connection.request("POST", path, body, headers)
    assert select.select([pipe], [], [], 20)[0], "fio was not started within 20 s"
    os.read(pipe, 2)
    took = (time.perf_counter() - begin) * 1000
    os.write(heard, b"\n")
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status < 300, text
    return took


def test_b1_from_the_click_to_fio(stack: Stack, cast: Cast, tmp_path: Path) -> None:
    target = stack.target()
    assert target
    with lab_scope(stack.lab.pk):
        secret = Token.objects.issue(stack.lab, "run", "benchmark")[1]
    body = json.dumps({"target": target.pk, "workload": {"tool": "fio", "jobs": [SMALLEST]}}).encode()
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", stack.port)
    pipe, heard = (os.open(tmp_path / name, os.O_RDWR | os.O_NONBLOCK) for name in ("pipe", "heard"))

    def start() -> float:
        took = _chain(pipe, heard, connection, "/api/v1/runs/", body, headers)
        _wait_until_idle(stack)
        return took

    with _fio_server(tmp_path) as by_fio_client:
        idle, compared = alternate(pairs(10, 60), start, lambda: by_fio_client(pipe))
    with beside_running_agents(stack, cast, BESIDE):
        busy = [start() for _ in range(pairs(5, 60))]
    report("B1", "fio --client → the job on a fio server of this machine", compared, "none; for comparison", "ms")
    for times, where, most in ((idle, "idle", 500), (busy, f"{BESIDE} agents running", 2000)):
        report("B1", f"POST runs/ → fio's first instruction, {where}", times, "none; for comparison", "ms")
        assert report("B1", f"p95 of it, n = {len(times)}", [quantile(times, 0.95)], f"≤ {most:,}", "ms") < 10 * most


@contextmanager
def _fio_server(folder: Path) -> Iterator[Callable[[int], float]]:
    """fio's own way to start a job on another machine; give what measures it, until the job's command before its first I/O."""
    port = free_port()
    job = folder / "client.fio"
    job.write_text(f"[job0]\nrw=read\nbs=4k\nsize=4k\nioengine=null\nexec_prerun=echo x | tee {folder}/pipe\n")
    fio = str(shutil.which("fio"))
    server = subprocess.Popen([fio, f"--server=ip:127.0.0.1,{port}"], cwd=folder, stdout=subprocess.DEVNULL)

    def measure(pipe: int) -> float:
        begin = time.perf_counter()
        argv = [fio, f"--client=ip:127.0.0.1,{port}", str(job)]
        client = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        assert select.select([pipe], [], [], 20)[0], "fio's server started nothing within 20 s"
        os.read(pipe, 2)
        took = (time.perf_counter() - begin) * 1000
        client.wait(30)
        return took

    try:
        time.sleep(1)
        yield measure
    finally:
        server.kill()
        server.wait()


def _wait_until_idle(stack: Stack) -> None:
    """The last run on this machine is over and the agent holds its long poll again."""
    target = stack.target()
    assert target
    with lab_scope(stack.lab.pk):
        until("the run is over", 120, lambda: not Run.objects.open().filter(host=target.host_id).exists())
    time.sleep(REST_S)
