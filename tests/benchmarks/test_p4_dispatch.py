"""P4: from the click to fio's first instruction, against the least that a POST, a long poll and an exec can take; and the smallest whole run."""

import http.client
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from apps.runs.states import State
from tests.benchmarks.figures import pairs, quantile, report
from tests.faults.stack import Stack, free_port, until

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]
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
    made = Stack(tmp_path, cast.lab, warm_up_after=0)
    try:
        made.start_web()
        made.start_worker()
        made.enrol()
        conf = made.state / "agent.conf"
        lines = [line for line in conf.read_text().splitlines() if not line.startswith("fio =")]
        conf.write_text("\n".join([*lines, f"fio = {program}", ""]))
        made.start_agent()
        until("the agent describes its host", 30, made.target)
        yield made
    finally:
        made.down()


@pytest.fixture
def floor(program: Path) -> Iterator[int]:
    port = free_port()
    script = str(Path(__file__).with_name("floor_chain.py"))
    server = subprocess.Popen([sys.executable, script, "server", str(port)])
    time.sleep(0.5)
    host = subprocess.Popen([sys.executable, script, "host", str(port), str(program)])
    try:
        time.sleep(0.5)
        yield port
    finally:
        for process in (host, server):
            process.kill()
            process.wait()


def _chain(
    pipe: int, heard: int, connection: http.client.HTTPConnection, path: str, body: bytes, headers: dict[str, str]
) -> float:
    """Milliseconds from the POST to the child's first word."""
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


def test_p4_from_the_click_to_fio(stack: Stack, floor: int, tmp_path: Path) -> None:
    target = stack.target()
    assert target
    with lab_scope(stack.lab.pk):
        secret = Token.objects.issue(stack.lab, "run", "benchmark")[1]
    body = json.dumps({"target": target.pk, "workload": {"tool": "fio", "jobs": [SMALLEST]}}).encode()
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    ours, bare = (http.client.HTTPConnection("127.0.0.1", port) for port in (stack.port, floor))
    pipe, heard = (os.open(tmp_path / name, os.O_RDWR | os.O_NONBLOCK) for name in ("pipe", "heard"))
    product, least = [], []
    stack.until_warm()
    for number in range(pairs(12, 60)):
        least.append(_chain(pipe, heard, bare, "/click", b"{}", {"Content-Type": "application/json"}))
        time.sleep(REST_S)  # the floor's host has put its child away, and polls again
        product.append(_chain(pipe, heard, ours, "/api/v1/runs/", body, headers))
        _wait_until_idle(stack)
        if number < 2:  # the first ones warm both up
            least.pop(), product.pop()
    report("P4", "floor chain: POST → wake long poll → first instruction", least, "the floor", "ms")
    report(
        "P4", "product: POST runs/ → claim → accept → fio's first instruction", product, "the same chain, durable", "ms"
    )
    p50 = quantile(product, 0.5) / quantile(least, 0.5)
    p95 = quantile(product, 0.95) / quantile(least, 0.95)
    print(f"\nP4 ratio p50 {p50:.2f} × (target ≤ 3), p95 {p95:.2f} × (target ≤ 5)")
    assert p50 < 100


def _wait_until_idle(stack: Stack) -> None:
    """The last run is over and the agent holds its long poll again."""
    from apps.runs.models import Run

    with lab_scope(stack.lab.pk):
        until("the run is over", 30, lambda: not Run.objects.open().exists())
    time.sleep(REST_S)


def test_p4_the_smallest_whole_run(stack: Stack, tmp_path: Path) -> None:
    """From the click to a verified result on the server, against the same job by hand: as fio is called by a person, and with its clock
    pinned as the agent pins it, which spares fio the calibration of its own choice (a quarter of this shortest of runs)."""
    (tmp_path / "pipe").unlink()  # nobody listens here
    by_hand, pinned = _bare(tmp_path / "by-hand", ""), _bare(tmp_path / "pinned", "clocksource=clock_gettime\n")
    ratios, to_pinned = [], []
    for number in range(pairs(6, 20)):
        plain, same = _seconds(by_hand), _seconds(pinned)
        begin = time.perf_counter()
        run = stack.run(
            **{key: value for key, value in SMALLEST.items() if key != "rw"}, rw="read", runtime=None, time_based=False
        )
        stack.wait_for(run, State.FINISHED)
        took = time.perf_counter() - begin
        if number:
            ratios.append(took / plain)
            to_pinned.append(took / same)
        _wait_until_idle(stack)
    report("P4", "smallest whole run ÷ bare fio", ratios, "≤ 1.05")
    report("P4", "smallest whole run ÷ bare fio with the agent's clock", to_pinned, "none; for comparison")


def _bare(folder: Path, options: str) -> list[str]:
    folder.mkdir()
    (folder / "job.fio").write_text(f"[job0]\nrw=read\nbs=4k\nsize=4k\nioengine=null\n{options}")
    return [
        str(shutil.which("fio")),
        "--output-format=json+",
        f"--output={folder}/result.json",
        str(folder / "job.fio"),
    ]


def _seconds(argv: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(argv, check=True, capture_output=True)
    return time.perf_counter() - begin
