"""A night of a plan on two hosts: everything that takes part is killed at random, and in the morning all of it is there.

CRS4's procedure in small: interleaved rounds of six file sizes, with the guards of a machine at rest as far as hosts that
share one machine can hold them. The database, the broker and the hosts are the test's own.
"""

import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.management import call_command
from django.db import InterfaceError, OperationalError, connection

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.execution_page import ExecutionPage
from apps.plans.models import Execution
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.studies.models import Plan, PlannedRun
from bin._lib import commands
from tests.faults.namespaces import LivingHost, explain_missing
from tests.faults.own_servers import OwnBroker, OwnDatabase, own_broker, own_database
from tests.faults.stack import Stack, until
from tests.sampling import SEED

MISSING = explain_missing()
pytestmark = [
    pytest.mark.faults, pytest.mark.fio, pytest.mark.long, pytest.mark.skipif(bool(MISSING), reason=MISSING),
]  # fmt: skip
MIB, ROUNDS, RETRIES = 1 << 20, 5, 3
NIGHT_S, MORNING_S = 240, 600
MOST_PAUSES = 10  # of chance; more would be a plan that cannot go on
SIZES = (1, 2, 4, 6, 8, 10)  # MiB; hosts keep 64 MiB of their 96 free
JOB = {"rw": "write", "direct": False, "sync": "none", "time_based": False, "end_fsync": True}
GUARDS = [
    {"kind": "idle", "seconds": 1, "load": 1000, "rate": 1e12},
    {"kind": "queues_off"},
    {"kind": "cache_rule", "factor": 4, "tolerance": 0.05, "is_required": False},
]
WEB = ("web", lambda stack: commands.web(sys.executable, stack.listen, stack.port, 2))
WORKERS = {
    "worker": lambda stack: commands.worker(sys.executable),
    "dispatcher": lambda stack: commands.dispatcher(sys.executable),
    "beat": lambda stack: commands.beat(sys.executable, stack.folder / "beat-schedule"),
}


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[OwnDatabase]:
    with django_db_blocker.unblock(), own_database() as made:
        yield made


@dataclass
class Night:
    """The product, its two hosts, and what has been done to them. `later`: what is mended when."""

    stack: Stack
    hosts: list[LivingHost]
    database: OwnDatabase
    broker: OwnBroker
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))
    later: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    killed: dict[int, str] = field(default_factory=dict)  # attempt → how it was killed while fio ran

    def soon(self, mend: Callable[[], None], most: float = 5.0) -> None:
        self.later.append((time.monotonic() + self.chance.uniform(0.2, most), mend))

    def mend(self, *, all_of_it: bool = False) -> None:
        due = [entry for entry in self.later if all_of_it or entry[0] <= time.monotonic()]
        self.later = [entry for entry in self.later if entry not in due]
        for _, act in due:
            act()

    def start(self, name: str, command: Callable[[Stack], list[str]]) -> None:
        """Start a process of the server that is not there; a web process may find its port still taken."""
        process = self.stack.processes.get(name)
        if process is None or process.poll() is not None:
            self.stack.start(name, *command(self.stack)[1:])
            if name == "web":
                self.soon(lambda: self.start(name, command), 3)

    def kill(self, name: str, command: Callable[[Stack], list[str]]) -> None:
        if name in self.stack.processes:
            self.stack.kill(name)
        self.soon(lambda: self.start(name, command))

    def kill_child(self, name: str) -> None:
        with suppress(psutil.NoSuchProcess, KeyError, IndexError):
            self.chance.choice(psutil.Process(self.stack.processes[name].pid).children()).kill()

    def kill_agent(self) -> None:
        host = self.chance.choice(self.hosts)
        host.kill_agent()
        self.soon(host.start_agent)

    def shoot(self, kind: str) -> None:
        """Kill a runner or fio as soon as there is one; the attempt is noted where fio was there."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            found = [(process, host) for host in self.hosts for process in host.find(kind)]
            if found:
                process, _ = self.chance.choice(found)
                with suppress(psutil.NoSuchProcess):
                    where = process.cwd() if kind == "fio" else process.cmdline()[-1]
                    process.kill()
                    if kind == "fio" and (number := re.search(r"attempt-(\d+)", where)):
                        self.killed[int(number[1])] = kind
                return

    def lose_power(self) -> None:
        host = self.chance.choice(self.hosts)
        host.lose_power()
        self.soon(host.start_agent)

    def cut(self) -> None:
        host = self.chance.choice(self.hosts)
        host.cut()
        self.soon(host.join, 15)

    def stop_database(self) -> None:
        connection.close()
        self.database.stop(self.chance.choice([signal.SIGQUIT, signal.SIGKILL, signal.SIGINT]))
        time.sleep(self.chance.choice([0, 1, 4]))
        self.database.start()

    def kill_broker(self) -> None:
        self.broker.kill()
        time.sleep(self.chance.choice([0.2, 2, 8]))
        self.broker.start()

    @property
    def faults(self) -> dict[str, Callable[[], None]]:
        return {
            **{name: lambda n=name, c=command: self.kill(n, c) for name, command in (WEB, *WORKERS.items())},  # type: ignore[misc]
            "web child": lambda: self.kill_child("web"), "worker child": lambda: self.kill_child("worker"),
            "agent": self.kill_agent, "runner": lambda: self.shoot("runner"), "fio": lambda: self.shoot("fio"),
            "power": self.lose_power, "network": self.cut, "database": self.stop_database,
            "broker": self.kill_broker, "broker emptied": lambda: self.broker.empty(),
        }  # fmt: skip


def ask(question: Callable[[], Any]) -> Any:
    """Return what the database answers; None while it is away."""
    try:
        return question()
    except (OperationalError, InterfaceError):
        connection.close()
        return None


@pytest.fixture
def night(database: OwnDatabase, transactional_db: None, cast: Any, tmp_path: Path) -> Iterator[Night]:
    with own_broker() as broker:
        stack = Stack(tmp_path, cast.lab, listen="0.0.0.0", redis_url=f"unix://{broker.path}?db=0")
        made = Night(stack, [LivingHost(stack, number) for number in (21, 22)], database, broker)
        try:
            stack.start_webs(2)
            for name, command in WORKERS.items():
                made.start(name, command)
            for host in made.hosts:
                host.make()
                host.enrol()
                host.start_agent()
            until(lambda: f"both hosts\n{stack.logs()}", 120, lambda: all(host.target() for host in made.hosts))
            yield made
        finally:
            for host in made.hosts:
                host.remove()
            stack.down()
            connection.close()


def start_plan(night: Night) -> Plan:
    points = [
        {"name": f"write-{size}", "tool": "fio", "file_size": size * MIB, "block_size": 16384, "job": JOB}
        for size in SIZES
    ]
    targets = [target for host in night.hosts if (target := host.target())]
    rounds = {"kind": "fixed", "rounds": ROUNDS}
    request = services.PlanRequest(night.stack.lab, "A night", targets, points, rounds, guards=GUARDS)
    plan = services.create_plan(request, actor="test")
    services.start_plan(plan, actor="test", retries=RETRIES, guard_wait=600)
    return plan


def state_of(plan: Plan) -> Any:
    return ask(lambda: Execution.objects.get(plan=plan).state)


def resume_as_a_person(night: Night, plan: Plan) -> None:
    """Do what the reason of a pause asks for: some failures in a row on one host may be chance."""
    execution = Execution.objects.get(plan=plan)
    assert execution.reason.endswith("Look there, then retry what failed and resume.")
    night.done["paused"] += 1
    assert night.done["paused"] <= MOST_PAUSES, execution.reason
    services.retry_failed(plan, actor="test")
    services.resume_plan(plan, actor="test")


def pass_the_night(night: Night, plan: Plan) -> None:
    end = time.monotonic() + NIGHT_S
    while time.monotonic() < end and state_of(plan) != "done":
        night.mend()
        name = night.chance.choice(list(night.faults))
        night.faults[name]()
        night.done[name] += 1
        time.sleep(night.chance.uniform(0.5, 4))
        if state_of(plan) == "paused":
            resume_as_a_person(night, plan)
    while night.later:
        night.mend(all_of_it=True)
    for name, command in (WEB, *WORKERS.items()):
        night.start(name, command)
    for host in night.hosts:
        host.join()
        host.start_agent()


def is_over(night: Night, plan: Plan) -> bool:
    if state_of(plan) == "paused":
        resume_as_a_person(night, plan)
    return state_of(plan) == "done"


def test_in_the_morning_each_step_is_done_once_and_all_that_was_killed_is_told(night: Night) -> None:
    stack = night.stack
    with lab_scope(stack.lab.pk):
        plan = start_plan(night)
        pass_the_night(night, plan)
        until(lambda: f"the plan is done\n{night.done}\n{stack.logs()}", MORNING_S, lambda: is_over(night, plan))
        until("the spools are empty", 60, lambda: not [s for h in night.hosts for s in h.state.glob("spool/[0-9]*")])
        check_steps(plan)
        check_what_was_killed(night, plan)
    call_command("check_ledger", *(f"--spool={host.state}" for host in night.hosts))
    for host in night.hosts:
        assert os.listdir(host.state / "quarantine") == []
        assert host.find("fio") == []


def check_steps(plan: Plan) -> None:
    """Every step has one run that counts, with evidence of all guards, and no run was tried twice."""
    planned = list(PlannedRun.objects.filter(row__plan=plan).select_related("run", "point"))
    counted = Counter(
        (entry.row_id, entry.point.name, entry.round) for entry in planned if entry.run.state == State.FINISHED
    )
    assert len(counted) == 2 * len(SIZES) * ROUNDS
    assert set(counted.values()) == {1}
    for entry in planned:
        if entry.run.state == State.FINISHED:
            assert {"idle", "queues_off", "cache_rule"} <= set(entry.outcomes), entry.run_id
            assert entry.run.samples.exists()
        else:
            assert entry.run.problem, entry.run_id
    assert set(Counter(Attempt.objects.values_list("run_id", flat=True)).values()) == {1}


def check_what_was_killed(night: Night, plan: Plan) -> None:
    """Check that fio was killed while it ran, that such a run did not finish, unless it had ended just before, and that
    the page lists it with the run that made its step again.
    """
    page = ExecutionPage(Plan.objects.whole().get(pk=plan.pk))
    again = {entry.run.pk: entry.again for entry in page.failed_runs}
    failed = set(Run.objects.exclude(state=State.FINISHED).values_list("pk", flat=True))
    assert set(again) == failed
    assert None not in again.values()
    assert night.killed
    for attempt in Attempt.objects.filter(pk__in=night.killed):
        assert attempt.state in (State.FAILED, State.INTERRUPTED, State.FINISHED)
        assert attempt.state != State.FINISHED or attempt.exit_status == 0, "it had ended before"
    print(f"\n{sum(night.done.values())} faults ({dict(night.done)}); {len(failed)} runs did not count")
