"""B2: simulated agents through a plan, with browsers on its page: what the scheduler costs, and how late a cell is."""

import asyncio
import hashlib
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvloop
from django.core.management import call_command

from apps.agents.models import Agent
from apps.inventory.models import Filesystem, Target
from apps.labs.isolation import lab_scope
from apps.plans.models import Execution
from apps.plans.plan_request import PlanRequest
from apps.plans.services import cancel_plan, create_plan, start_plan
from apps.runs.models import Attempt
from apps.studies.models import Plan, PlannedRun
from bin._lib.commands import WEB_PROCESSES
from tests.benchmarks.figures import LONG, quantile, report
from tests.benchmarks.many_agents import enrolled
from tests.benchmarks.running_agents import Running
from tests.benchmarks.servers import Page, start_web_processes
from tests.conftest import Cast
from tests.faults.fio_reports import fio_report
from tests.faults.stack import Stack, until

pytestmark = [pytest.mark.benchmark]
AGENTS, POINTS, SECONDS, BROWSERS = (1000, 10, 300, 100) if LONG else (30, 4, 10, 20)
WATCHED_S = 1500 if LONG else 600  # after that the rest of the plan is cancelled: the whole would take an hour
SIZE, REFRESH_S = 1 << 30, 2
JOB = {"rw": "write", "direct": False, "sync": "none", "time_based": True, "runtime": SECONDS}


@dataclass
class Worker:
    """An agent that takes what it is offered, lets it last, and delivers a report of just that."""

    agent: Running
    until: float = 0.0  # by the monotonic clock; a run that has begun is brought to its end
    late: list[float] = field(default_factory=list)  # seconds from a run's end to the next one's offer
    done: int = 0

    async def work(self) -> None:
        agent = self.agent
        agent.reader, agent.writer = await asyncio.open_connection("127.0.0.1", agent.port)
        await asyncio.sleep(random.uniform(0, SECONDS))  # they did not all begin at once
        ended = None
        while self.done < POINTS and time.monotonic() < self.until:
            offers: list[dict[str, Any]] = await agent.take_offers(20)
            if not offers:
                continue
            if ended is not None:
                self.late.append(time.perf_counter() - ended)
            await agent.begin_run(offers[0])
            async with agent.hold_lease():
                await asyncio.sleep(SECONDS)
            await self._deliver(offers[0]["workload"]["jobs"][0])
            ended = time.perf_counter()
            self.done += 1

    async def _deliver(self, job: dict[str, Any]) -> None:
        agent, data = self.agent, fio_report(job["rw"], job["block_size"], job["file_size"], SECONDS)
        digest = hashlib.sha256(data).hexdigest()
        more = {"X-Spindle-Token": str(agent.token), "X-Spindle-SHA256": digest}
        path = f"attempts/{agent.attempt}/streams/result/chunks/0/"
        await agent._said(agent.identity.request("PUT", path, data, **more))
        streams = {"result": {"chunks": 1, "bytes": len(data), "sha256": digest}}
        await agent._say("finish", outcome="finished", exit_status=0, streams=streams)


def write_plan(stack: Stack, workers: list[Worker]) -> Plan:
    numbers = [worker.agent.identity.agent for worker in workers]
    with lab_scope(stack.lab.pk):
        targets = []
        for agent in Agent.objects.filter(pk__in=numbers).select_related("host").order_by("pk"):
            disk = Filesystem.objects.create(lab=stack.lab, host=agent.host, type="ext4", mount_point="/")
            own = {"name": "own", "path": "/srv/own", "is_agents_own": True, "filesystem": disk}
            targets.append(Target.objects.create(lab=stack.lab, host=agent.host, **own))
        points = [
            {"name": f"p{n}", "tool": "fio", "file_size": SIZE, "block_size": 4096 << n, "job": JOB}
            for n in range(POINTS)
        ]
        request = PlanRequest(stack.lab, "Fleet", targets, points, {"kind": "fixed", "rounds": 1})
        return create_plan(request, actor="benchmark")


@dataclass
class Browser:
    """A browser that asks for the plan's live part as its page does: told that the server is busy, it looks again."""

    cookie: str
    delays: list[float] = field(default_factory=list)  # seconds
    refusals: int = 0

    async def watch(self, port: int, path: str) -> None:
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nHX-Request: true\r\nCookie: {self.cookie}\r\n"
        while True:
            begin = time.perf_counter()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{request}Connection: close\r\n\r\n".encode())
            answer = await reader.read()
            writer.close()
            status = answer.split(b" ", 2)[1]
            assert status in (b"200", b"503"), answer[:1000]
            if status == b"200":
                self.delays.append(time.perf_counter() - begin)
            else:
                self.refusals += 1
            await asyncio.sleep(REFRESH_S)


async def _run(workers: list[Worker], browsers: list[Browser], port: int, path: str) -> None:
    watching = [asyncio.create_task(browser.watch(port, path)) for browser in browsers]
    await asyncio.gather(*(worker.work() for worker in workers))
    for task in watching:
        assert not task.done(), task.exception()
        task.cancel()


def _cpu_s(stack: Stack, *names: str) -> float:
    total = 0.0
    for name in names:
        process = psutil.Process(stack.processes[name].pid)
        times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
        total += sum(each.user + each.system for each in times)
    return total


def _resident_mib(stack: Stack, name: str) -> float:
    process = psutil.Process(stack.processes[name].pid)
    return max(each.memory_info().rss for each in (process, *process.children(recursive=True))) / (1 << 20)


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    try:
        start_web_processes(made, WEB_PROCESSES)
        yield made
    finally:
        made.down()


def _check_plan(stack: Stack, plan: Plan, cells: int) -> None:
    """Fail unless each cell that the agents made counts, once, and no other was started."""
    with lab_scope(stack.lab.pk):
        finished = PlannedRun.objects.filter(run__state="finished")
        until("the last results are read in", 120, lambda: finished.count() == cells)
        assert finished.values("row", "point", "round").distinct().count() == cells, "a cell was made twice"
        assert Attempt.objects.exclude(started_at=None).count() == cells, "a run was started twice"
        if cells < AGENTS * POINTS:
            cancel_plan(plan, actor="benchmark")
        until("the plan has ended", 120, lambda: not Execution.objects.get(plan=plan).is_running)


def test_b2_a_plan_of_many_agents(stack: Stack, cast: Cast) -> None:
    stack.start_worker()
    stack.start_dispatcher()
    stack.start_beat()
    workers = [Worker(Running(identity, stack.port)) for identity in enrolled(stack.port, cast.lab, AGENTS)]
    plan, page = write_plan(stack, workers), Page(stack, cast)
    with lab_scope(stack.lab.pk):
        start_plan(plan, actor="benchmark")
    page.ms(f"/plans/{plan.pk}/")  # the first request of a server loads what it needs
    browsers = [Browser(page.cookie) for _ in range(BROWSERS)]
    for worker in workers:
        worker.until = time.monotonic() + WATCHED_S
    cpu, web, begin = _cpu_s(stack, "worker", "dispatcher", "beat"), _cpu_s(stack, "web"), time.perf_counter()
    with ThreadPoolExecutor(1) as aside:  # where Playwright has been, this thread has a loop that runs
        aside.submit(uvloop.run, _run(workers, browsers, stack.port, f"/plans/{plan.pk}/")).result()
    took = time.perf_counter() - begin
    cells = sum(worker.done for worker in workers)
    _check_plan(stack, plan, cells)
    call_command("check_ledger")
    used, web = _cpu_s(stack, "worker", "dispatcher", "beat") - cpu, _cpu_s(stack, "web") - web

    late = [value for worker in workers for value in worker.late]
    what = f"{AGENTS} agents, {cells} of {AGENTS * POINTS} cells of {SECONDS} s, {BROWSERS} browsers on the plan's page"
    report("B2", f"scheduler, dispatcher, ingest and beat, {what}", [used / took], "≤ 1", "cores")
    report("B2", "their processor time for a cell", [1000 * used / cells], "none; for comparison", "ms")
    report("B2", f"{WEB_PROCESSES} web processes", [web / took], "none; for comparison", "cores")
    report("B2", "p95 from a run's end to the next one's offer", [quantile(late, 0.95)], "≤ 1", "s")
    report("B2", "the latest", [max(late)], "≤ 5", "s")
    report(
        "B2", "answers of a busy server to come again", [sum(worker.agent.refusals for worker in workers)], "none", ""
    )
    delays = [value for browser in browsers for value in browser.delays]
    refusals = sum(browser.refusals for browser in browsers)
    report("B2", "p95 of the page's live part", [quantile(delays, 0.95)], "≤ 0.3", "s")
    report("B2", "answers of a busy server to browsers", [refusals], "none", "")
    report("B2", "the largest web process at the end", [_resident_mib(stack, "web")], "none; for comparison", "MiB")
    assert max(late) < 60
