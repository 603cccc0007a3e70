"""What is said of a run is so: why it waits, that it is being read, that it is overdue."""

import re
import signal
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from tests.outside.lab_host import ENDED, everything
from tests.outside.product import Client, Product, wait_until

pytestmark = pytest.mark.outside
SHORT = {"rw": "write", "block_size": 65536, "file_size": 1 << 20}
LONG = {**SHORT, "runtime": 20, "time_based": True}


class Bench:
    """The host of the product's own agent. Its worker, agent and fio may be stopped, if they go on afterwards."""

    def __init__(self, product: Product, owner: Client, admin: Client) -> None:
        self.product, self.owner, self.admin = product, owner, admin

    def target(self) -> dict[str, Any]:
        """Return what the product's own agent offers; its host was there before those of other tests."""

        def found() -> Any:
            targets = self.admin.get("/api/v1/targets/?limit=200").json()["results"]
            return min((one for one in targets if one["takes_runs"]), key=lambda one: int(one["host"]), default=None)

        return dict(wait_until("the agent offers its directory", 60, found))

    def start(self, job: dict[str, Any]) -> int:
        answer = self.admin.send("POST", "/api/v1/runs/", {"target": self.target()["id"], "workload": job})
        assert answer.status == 201, answer.text
        return int(answer.json()["id"])

    def read(self, run: int) -> dict[str, Any]:
        return dict(self.admin.get(f"/api/v1/runs/{run}/").json())

    def until(
        self, run: int, what: str, condition: Callable[[dict[str, Any]], bool], seconds: float = 60
    ) -> dict[str, Any]:
        def found() -> Any:
            now = self.read(run)
            return now if condition(now) else None

        return dict(wait_until(f"run {run} {what}: {self.read(run)}", seconds, found))

    def worker(self) -> list[psutil.Process]:
        main = psutil.Process(self.product.pid("worker"))
        return [main, *main.children(recursive=True)]

    def page(self, path: str) -> str:
        return self.owner.get(path).text


@pytest.fixture
def bench(product: Product, owner: Client, admin: Client) -> Bench:
    """The shared product: no other test runs meanwhile, and each of these lets go on what it has stopped."""
    return Bench(product, owner, admin)


def test_a_run_is_not_finished_before_its_samples_are_there(bench: Bench) -> None:
    processes = bench.worker()
    for process in processes:
        process.suspend()
    try:
        run = bench.start(SHORT)
        found = bench.until(run, "is being read", lambda now: bool(now["reading"]))
        assert found["state"] == "running"
        assert everything(bench.admin, found["samples_url"]) == []
        assert "measured, being read" in bench.page("/runs/")
        page = bench.page(f"/runs/{run}/")
        assert "Measured, being read." in page
        assert "Waiting for" not in page
        assert ">finished<" not in page
        listed = bench.admin.get("/api/v1/runs/?state=finished&limit=200").json()["results"]
        assert run not in [one["id"] for one in listed]
    finally:
        for process in reversed(processes):
            process.resume()
    done = bench.until(run, "ends", lambda now: now["state"] in ENDED, 90)
    assert (done["state"], done["reading"]) == ("finished", False), done["problem"]
    assert everything(bench.admin, done["samples_url"])
    assert "measured, being read" not in bench.page(f"/runs/{run}/")


def test_the_wait_is_explained_and_ends_with_it(bench: Bench) -> None:
    first, second = bench.start(LONG), bench.start(SHORT)
    bench.until(first, "runs", lambda now: now["state"] == "running")
    waiting = bench.read(second)
    assert waiting["state"] == "queued"
    assert f"works on run {first}" in waiting["waiting_because"]
    assert f"works on run {first}" in bench.page(f"/runs/{second}/")
    assert f"works on run {first}" in bench.page("/")
    page = bench.page(f"/runs/{first}/")
    assert "Waiting for" not in page.replace("Waiting for the first figures", "")
    assert "None yet: the run waits" not in page
    assert bench.read(first)["waiting_because"] == ""
    host = bench.read(first)["host"]
    assert bench.admin.send("POST", f"/api/v1/runs/{first}/cancel/").status == 202
    done = bench.until(second, "ends", lambda now: now["state"] in ENDED)
    assert done["state"] == "finished", done["problem"]
    assert bench.read(first)["state"] == "cancelled"

    # a host in quarantine, or revoked, is no host that is merely busy
    agents = bench.page("/lab/agents/")
    number = min(re.findall(r"/lab/agents/(\d+)/quarantine/", agents), key=int)
    bench.owner.post(f"/lab/agents/{number}/quarantine/")
    third = bench.start(SHORT)
    for text in (bench.read(third)["waiting_because"], bench.page(f"/runs/{third}/")):
        assert "quarantine" in text
        assert "one after another" not in text
    bench.owner.post(f"/lab/agents/{number}/approve/")
    assert bench.until(third, "ends", lambda now: now["state"] in ENDED, 120)["state"] == "finished"
    assert host


@pytest.mark.long
def test_a_dead_host_is_named_as_such(bench: Bench) -> None:
    agent = psutil.Process(bench.product.pid("agent"))
    agent.suspend()
    try:
        run = bench.start(SHORT)
        found = bench.until(run, "says that its host is offline", lambda now: "offline" in now["waiting_because"], 120)
        assert "last heard of" in found["waiting_because"]
        assert "offline" in bench.page(f"/runs/{run}/")
    finally:
        agent.resume()
    assert bench.until(run, "ends", lambda now: now["state"] in ENDED, 120)["state"] == "finished"


@pytest.mark.long
def test_a_fio_that_hangs_is_overdue_after_its_own_time(own_product: Callable[..., Product]) -> None:
    """One second of work: three times that and the margin (here 4 s, by default 5 min) are its limit."""
    product = own_product(env={"SPINDLE_RUN_MARGIN": "4"})
    bench = Bench(product, product.owner(), product.client(product.make_token("admin")))
    run = bench.start({**SHORT, "runtime": 2, "time_based": True, "rw": "randwrite"})
    bench.until(run, "runs", lambda now: now["state"] == "running")
    stopped: list[psutil.Process] = []
    agent = psutil.Process(bench.product.pid("agent"))
    begun = time.monotonic()
    try:
        for process in psutil.process_iter(["name", "cmdline"]):
            if process.info["name"] == "fio" and str(bench.product.data) in " ".join(process.info["cmdline"] or ()):
                process.suspend()
                stopped.append(process)
        assert stopped, "fio was not found"
        found = bench.until(run, "is stopped", lambda now: now["state"] in ENDED, 60)
    finally:
        for process in stopped:
            if process.is_running():
                process.send_signal(signal.SIGCONT)
    assert found["state"] == "failed"
    assert "longer than its own time" in found["problem"]
    assert time.monotonic() - begun < 50
    assert agent.is_running()
    assert found["overdue"] is False  # it is over
