"""The broker is emptied, killed, restarted, cut off and silent, and away for long: runs come later, none is lost.

The broker is the test's own, and between it and the product stands a door.
"""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import WorkerHeartbeat
from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.uploads.models import Upload
from tests.faults.calls import Reply, call
from tests.faults.door import Door
from tests.faults.own_servers import OwnBroker, own_broker
from tests.faults.stack import Stack, until
from tests.sampling import IS_LONG, SEED

pytestmark = [pytest.mark.faults, pytest.mark.fio]
ROUNDS = 10
AWAY_S, RUNS_MEANWHILE = 300, 20
STANDING_IN_S = 15
DISPATCHED_S = 30
CONSUMING_S = 120
SOON_S = 3.0
JOB = {"rw": "randwrite", "block_size": 4096, "file_size": 1 << 20, "runtime": 1, "time_based": True, "direct": False}
PAGES = ("/api/v1/runs/", "/api/v1/hosts/", "/accounts/login/")


@dataclass
class World:
    """The product with a broker that a test may harm."""

    stack: Stack
    broker: OwnBroker
    door: Door
    script: dict[str, str]

    def get(self, path: str) -> tuple[float, Reply]:
        begun = time.monotonic()
        reply = call(self.stack.port, "GET", path, headers=self.script)
        return time.monotonic() - begun, reply

    def start_run(self) -> Run:
        """Start a run as a script does, by the web process, whose broker is the harmed one."""
        target = self.stack.target()
        assert target
        body = {"target": target.pk, "workload": {"tool": "fio", "jobs": [JOB]}}
        reply = call(self.stack.port, "POST", "/api/v1/runs/", body, self.script)
        assert reply.status == 201, reply.body
        with lab_scope(self.stack.lab.pk):
            return Run.objects.get(pk=reply.json()["id"])

    def upload(self) -> int:
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="dd.txt"\r\n\r\n'
        text = b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.5 s, 429 MB/s\n"
        kind = {**self.script, "Content-Type": "multipart/form-data; boundary=x"}
        return call(self.stack.port, "POST", "/api/v1/uploads/", head + text + b"\r\n--x--\r\n", kind).status


@pytest.fixture
def world(transactional_db: None, cast: Any, tmp_path: Path) -> Iterator[World]:
    with own_broker() as broker:
        door = Door(broker.path)
        stack = Stack(tmp_path, cast.lab, redis_url=f"redis://127.0.0.1:{door.port}/0")
        with lab_scope(cast.lab.pk):
            token = Token.objects.issue(cast.lab, "admin", "test")[1]
        try:
            stack.start_beat(quick=not IS_LONG)
            stack.up()
            yield World(stack, broker, door, {"Authorization": f"Bearer {token}"})
        finally:
            stack.down()
            door.close()


def kill_broker(world: World) -> None:
    world.broker.kill()
    time.sleep(0.5)
    world.broker.start()


def restart_broker(world: World) -> None:
    world.broker.stop()
    world.broker.start()


def shut_door(world: World) -> None:
    with world.door.shut():
        time.sleep(2)


def hang_door(world: World) -> None:
    with world.door.hung():
        for path in PAGES:
            seconds, reply = world.get(path)
            assert (reply.status, seconds < SOON_S) == (200, True), (path, reply.status, seconds)
        time.sleep(2.5)  # longer than a worker waits for the broker


FAULTS: dict[str, Callable[[World], None]] = {
    "emptied": lambda world: world.broker.empty(),
    "killed": kill_broker,
    "restarted": restart_broker,
    "reset": lambda world: world.door.cut(),
    "shut": shut_door,
    "hung": hang_door,
}
CHOSEN = list(FAULTS) * ROUNDS if IS_LONG else ["killed"]


def dispatch_delay(run: Run) -> float:
    """Return how many seconds the run waited for its host's accept although the host was free."""
    attempt = Attempt.objects.get(run=run)
    before = Attempt.objects.filter(host=run.host_id, pk__lt=attempt.pk).order_by("-pk").first()
    free_since = max(filter(None, [run.created_at, before and before.ended_at]))
    return float((attempt.accepted_at - free_since).total_seconds())


def are_measured(stack: Stack, runs: list[Run]) -> bool:
    """Return whether their hosts have delivered everything; it may still have to be read in."""
    with lab_scope(stack.lab.pk):
        return Attempt.objects.filter(run__in=runs, manifest__isnull=False).count() == len(runs)


def takes_tasks_since(moment: datetime) -> bool:
    return WorkerHeartbeat.objects.filter(name="dispatcher", answered_at__gt=moment).exists()


def test_runs_go_on_whatever_becomes_of_the_broker(world: World) -> None:
    chance = random.Random(SEED)
    stack = world.stack
    runs: list[Run] = []
    slowest: dict[str, float] = {}
    for fault in CHOSEN:
        pair = [world.start_run()]
        time.sleep(chance.uniform(0, 1.5))
        FAULTS[fault](world)
        begun = timezone.now()
        pair.append(world.start_run())
        until(lambda: f"both are measured\n{stack.logs()}", CONSUMING_S, lambda: are_measured(stack, pair))  # noqa: B023
        until(f"the dispatcher takes tasks ({fault})", CONSUMING_S, lambda: takes_tasks_since(begun))  # noqa: B023
        slowest[fault] = max(slowest.get(fault, 0.0), (timezone.now() - begun).total_seconds())
        runs += pair
    words = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in slowest.items())
    with lab_scope(stack.lab.pk):
        assert Attempt.objects.count() == len(runs), "none was tried twice"
        longest = max(map(dispatch_delay, runs))
    print(
        f"\n{len(CHOSEN)} faults of the broker; to the end of the next run: {words}; the longest wait {longest:.1f} s"
    )
    assert longest <= DISPATCHED_S
    if IS_LONG:  # a message that was lost is sent again after half a minute
        for run in runs:
            stack.wait_for(run, State.FINISHED, CONSUMING_S)
        with lab_scope(stack.lab.pk):
            waits = [(one.ingested_at - one.ended_at).total_seconds() for one in Attempt.objects.all()]
        print(f"results were read in after at most {max(waits):.1f} s")
        assert max(waits) <= CONSUMING_S


@pytest.mark.long
def test_while_the_broker_is_away_runs_are_dispatched_and_what_is_sent_is_kept(world: World) -> None:
    """Results are measured and are here; only samples and uploads wait for the broker."""
    stack = world.stack
    stack.wait_for(world.start_run(), State.RUNNING)
    world.broker.kill()
    gone = time.monotonic()
    runs = [world.start_run() for _ in range(RUNS_MEANWHILE)]
    assert world.upload() == 202

    while time.monotonic() - gone < AWAY_S or not are_measured(stack, runs):
        assert time.monotonic() - gone < 2 * AWAY_S, stack.logs()
        for path in PAGES:
            seconds, reply = world.get(path)
            assert (reply.status, seconds < SOON_S) == (200, True), (path, reply.status, seconds)
        time.sleep(1)
    world.broker.start()
    for run in runs:
        stack.wait_for(run, State.FINISHED, CONSUMING_S)
    with lab_scope(stack.lab.pk):
        assert Attempt.objects.count() == len(runs) + 1
        until("the upload is read", CONSUMING_S, lambda: Upload.objects.get().state == "parsed")
        delays = sorted(dispatch_delay(run) for run in runs)
    print(
        f"\n{time.monotonic() - gone:.0f} s without a broker: {len(runs)} runs dispatched, each after at most {delays[-1]:.1f} s"
    )
    usual = delays[: -max(1, len(delays) // 20)]  # the first waits until no task has come for long enough
    assert max(usual, default=0.0) <= STANDING_IN_S
    assert delays[-1] <= DISPATCHED_S
