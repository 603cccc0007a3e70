"""Celery dispatches: while no worker does, nothing is started and pages say so; when one is back, everything goes on."""

import os
import re
import signal
import time
from collections.abc import Callable

import psutil
import pytest

from tests.outside.lab_host import ENDED
from tests.outside.product import Product, wait_until
from tests.outside.test_run_states import SHORT, Bench

pytestmark = [pytest.mark.outside, pytest.mark.long]


def _end(bench: Bench, run: int) -> None:
    done = bench.until(run, "ends", lambda now: now["state"] in ENDED, 90)
    assert done["state"] == "finished", done["problem"]
    attempts = re.search(r'id="attempts-title".*?</section>', bench.page(f"/runs/{run}/"), re.DOTALL)
    assert attempts
    assert attempts[0].count('<th scope="row" class="num">') == 1


def test_with_every_worker_stopped_nothing_is_dispatched_and_the_page_says_so(
    own_product: Callable[..., Product],
) -> None:
    bench = Bench(own_product())
    bench.target()
    stopped = [*bench.worker(), psutil.Process(bench.product.pid("dispatcher"))]
    for process in stopped:
        process.suspend()
    try:
        runs = [bench.start(SHORT), bench.start(SHORT)]
        silent = bench.until(
            runs[0], "says that nobody dispatches", lambda now: "No dispatcher has answered for" in now["waiting_because"], 60
        )  # fmt: skip
        assert silent["state"] == "queued"
        assert "No dispatcher has answered for" in bench.page(f"/runs/{runs[0]}/")
        assert "No dispatcher has answered for" in bench.page("/")
        time.sleep(12)  # the beat has asked again, and the agent has polled
        assert {bench.read(run)["state"] for run in runs} == {"queued"}
    finally:
        for process in reversed(stopped):
            process.resume()
    for run in runs:
        _end(bench, run)
        assert bench.read(run)["waiting_because"] == ""


def test_a_killed_dispatcher_comes_back_and_starts_each_run_once(own_product: Callable[..., Product]) -> None:
    bench = Bench(own_product())
    bench.target()
    killed = bench.product.pid("dispatcher")
    os.kill(killed, signal.SIGKILL)
    runs = [bench.start(SHORT), bench.start(SHORT)]
    for run in runs:
        _end(bench, run)
    wait_until("another dispatcher", 30, lambda: bench.product.pid("dispatcher") != killed)
