"""PostgreSQL is restarted in every way, and gives no more connections: what was answered is kept, and everybody hears soon.

The database is the test's own, with fsync on.
"""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from apps.inventory.models import Target
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Token
from apps.runs.models import Attempt, Chunk
from apps.runs.services import start_runs
from tests.agents.conftest import WORKLOAD, sha256
from tests.faults.calls import RemoteAgent, Reply, call, enrol_remote
from tests.faults.own_servers import OwnDatabase, own_database
from tests.faults.stack import Stack, until
from tests.sampling import IS_LONG, SEED

pytestmark = [pytest.mark.faults]
WAYS = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)  # fast, immediate, kill -9
RESTARTS = 60 if IS_LONG else len(WAYS)
NORMAL_S = 10
LONGEST_S = 30
STREAMS = ("result", "stderr", "job", "journal")
CLIENTS = 100 if IS_LONG else 40  # for the six threads that serve pages


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: Any) -> Iterator[OwnDatabase]:
    with django_db_blocker.unblock(), own_database() as made:
        yield made


@pytest.fixture
def stack(database: OwnDatabase, transactional_db: None, cast: Any, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    try:
        made.start_web()
        yield made
    finally:
        made.down()
        connection.close()


def take(stack: Stack, agent: RemoteAgent) -> Attempt:
    with lab_scope(stack.lab.pk):
        start_runs(lab=stack.lab, target=Target.objects.get(), spec=WORKLOAD, who="test")
    attempt = agent.take()
    agent.post(f"attempts/{attempt.pk}/running/", token=attempt.token, boot_id="b", argv=["fio"], started_at=1.0)
    return agent.again(attempt)


class Writer:
    """Sends the chunks of one stream one after the other, and remembers those that were acknowledged."""

    def __init__(self, agent: RemoteAgent, attempt: Attempt, stream: str) -> None:
        self.agent, self.attempt, self.stream = agent, attempt, stream
        self.acknowledged: dict[int, str] = {}
        self.answers: Counter[int] = Counter()
        self.last_at = 0.0
        self.is_over = False
        self.thread = threading.Thread(target=self._write)
        self.thread.start()

    def _write(self) -> None:
        chance, sequence = random.Random(f"{SEED} {self.stream}"), 0
        data = chance.randbytes(2000)
        while not self.is_over:
            with suppress(OSError):
                reply = self.agent.put_chunk(self.attempt, self.stream, sequence, data)
                self.answers[reply.status] += 1
                if reply.status == 200:
                    self.acknowledged[sequence] = sha256(data)
                    self.last_at = time.monotonic()
                    sequence, data = sequence + 1, chance.randbytes(2000)
            time.sleep(0.005)


def test_a_restart_of_the_database_loses_nothing_that_was_acknowledged(stack: Stack, database: OwnDatabase) -> None:
    chance = random.Random(SEED)
    agent = enrol_remote(stack.lab, stack.port)
    attempt = take(stack, agent)
    writers = [Writer(agent, attempt, stream) for stream in STREAMS]
    slowest = 0.0
    try:
        for number in range(RESTARTS):
            time.sleep(chance.uniform(0.3, 0.8))
            database.stop(WAYS[number % len(WAYS)])
            connection.close()
            time.sleep(chance.uniform(0, 0.5))
            database.start()
            there = time.monotonic()
            until("all write again", LONGEST_S, lambda: all(one.last_at > there for one in writers))  # noqa: B023
            slowest = max(slowest, time.monotonic() - there)
    finally:
        for writer in writers:
            writer.is_over = True
        for writer in writers:
            writer.thread.join()
    with all_labs():
        stored = {(row.stream, row.sequence): row for row in Chunk.objects.filter(attempt=attempt)}
    for writer in writers:
        for sequence, digest in writer.acknowledged.items():
            assert sha256(bytes(stored[writer.stream, sequence].data)) == digest
        assert set(writer.answers) <= {200, 503}, writer.answers
    count = sum(len(writer.acknowledged) for writer in writers)
    refused = sum(writer.answers[503] for writer in writers)
    print(f"\n{RESTARTS} restarts, {count} chunks acknowledged, lost 0, {refused} × 503; normal within {slowest:.1f} s")
    assert count > 10 * RESTARTS
    assert slowest <= NORMAL_S


def timed(ask: Callable[[], Reply]) -> tuple[float, Reply]:
    begun = time.monotonic()
    reply = ask()
    return time.monotonic() - begun, reply


def test_a_database_without_a_free_connection_is_said_soon_and_all_is_well_after_it(
    stack: Stack, database: OwnDatabase
) -> None:
    with lab_scope(stack.lab.pk):
        script = {"Authorization": f"Bearer {Token.objects.issue(stack.lab, 'read', 'test')[1]}"}
    agent = enrol_remote(stack.lab, stack.port)
    paths = [("/api/v1/runs/", script), ("/api/v1/hosts/", script), ("/accounts/login/", {}), ("/agent/v1/poll/", {})]

    def ask(number: int) -> tuple[str, float, Reply]:
        path, headers = paths[number % len(paths)]
        if path.endswith("poll/"):
            return path, *timed(lambda: agent.post("poll/", wait=0))
        return path, *timed(lambda: call(stack.port, "GET", path, headers=headers, patience=2 * LONGEST_S))

    connection.close()
    held = database.occupy()
    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            answers = list(pool.map(ask, range(2 * CLIENTS)))
    finally:
        for one in held:
            one.close()
    for path, seconds, reply in answers:
        assert reply.status in (200, 503), (path, reply.status, reply.body[:300])
        assert seconds < LONGEST_S, path
        if reply.status == 503:
            assert int(reply.headers["retry-after"]) > 0, path
    refused = Counter(path for path, _, reply in answers if reply.status == 503)
    assert refused["/api/v1/runs/"], "there were connections left"
    print(f"\n{len(held)} connections held, {dict(refused)} of {len(answers)} answered with 503, none hung")
    begun = time.monotonic()
    for number in range(len(paths)):
        until(f"{paths[number][0]} is well", NORMAL_S, lambda: ask(number)[2].status == 200)  # noqa: B023
    assert time.monotonic() - begun < NORMAL_S
