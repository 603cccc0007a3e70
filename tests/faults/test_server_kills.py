"""kill -9 of web processes while chunks arrive and of workers while results are read in: every chunk once, one result set each."""

import os
import queue
import random
import signal
import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psutil
import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.agents.tasks import sweep
from apps.inventory.models import Target
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.models import Attempt, Chunk, Run, RunArtefact, Sample
from apps.runs.services import start_runs
from apps.runs.states import State
from tests.agents.conftest import WORKLOAD, sha256
from tests.faults.calls import RemoteAgent, enrol_remote
from tests.faults.fio_reports import fio_report
from tests.faults.stack import Stack, until
from tests.sampling import IS_LONG, SEED

pytestmark = [pytest.mark.faults]
ROUNDS, KILLS_A_ROUND, WEBS = (100, 5, 4) if IS_LONG else (1, 2, 2)
SENDERS, PIECE = 4, 64 if IS_LONG else 128
DONE_S = 90
REPORT = fio_report("randread", 4096, 1 << 20)
Work = queue.Queue[tuple[str, int, bytes]]


def web_processes(stack: Stack) -> list[psutil.Process]:
    """Return those that serve, without their parent and Python's own helper."""
    children = psutil.Process(stack.processes["web"].pid).children()
    return [child for child in children if "spawn_main" in " ".join(_command_line(child))]


def _command_line(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []


class Senders:
    """Threads that send an attempt's chunks, each again and again until it is answered."""

    def __init__(self, agent: RemoteAgent, attempt: Attempt, work: Work) -> None:
        self.agent, self.attempt, self.work = agent, attempt, work
        self.unanswered = 0
        self.refused: list[Any] = []
        self.threads = [threading.Thread(target=self._send) for _ in range(SENDERS)]
        for thread in self.threads:
            thread.start()

    def _send(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._send_one(*self.work.get_nowait())

    def _send_one(self, stream: str, sequence: int, data: bytes) -> None:
        for _ in range(600):
            try:
                reply = self.agent.put_chunk(self.attempt, stream, sequence, data)
            except OSError:
                self.unanswered += 1
                time.sleep(0.05)
                continue
            if reply.status == 200:
                return
            if reply.status != 503:
                self.refused.append((stream, sequence, reply))
                return
            time.sleep(0.2)
        self.refused.append((stream, sequence, "never answered"))

    def is_busy(self) -> bool:
        return any(thread.is_alive() for thread in self.threads)


@pytest.fixture
def stack(transactional_db: None, cast: Any, tmp_path: Any) -> Any:
    """Web processes as `bin/up` starts them and a worker; hosts are played."""
    made = Stack(tmp_path, cast.lab)
    try:
        made.start_webs(WEBS)
        made.start_worker()
        yield made
    finally:
        made.down()


def begin(stack: Stack, agent: RemoteAgent) -> Attempt:
    with lab_scope(stack.lab.pk):
        start_runs(lab=stack.lab, target=Target.objects.get(), spec=WORKLOAD, who="test")
    attempt = agent.take()
    assert repeat(agent, attempt, "running", boot_id="b", argv=["fio"], started_at=time.time()).status == 200
    return agent.again(attempt)


def repeat(agent: RemoteAgent, attempt: Attempt, word: str, **body: Any) -> Any:
    """Say it until it is answered."""

    def answer() -> Any:
        with suppress(OSError):
            reply = agent.post(f"attempts/{attempt.pk}/{word}/", token=attempt.token, **body)
            return reply if reply.status != 503 else None
        time.sleep(0.05)
        return None

    return until(f"an answer to {word}", 30, answer)


def kill_a_web(stack: Stack, chance: random.Random) -> None:
    chosen = chance.choice(until("web processes", 30, lambda: web_processes(stack)))
    with suppress(psutil.NoSuchProcess):
        os.kill(chosen.pid, signal.SIGKILL)


def kill_worker(stack: Stack, whom: str) -> None:
    if whom == "main":
        stack.kill("worker")
        stack.start_worker()
        return
    for child in psutil.Process(stack.processes["worker"].pid).children():
        with suppress(psutil.NoSuchProcess):
            os.kill(child.pid, signal.SIGKILL)


def finish(agent: RemoteAgent, attempt: Attempt, parts: dict[str, list[bytes]]) -> None:
    streams = {
        name: {"chunks": len(pieces), "bytes": sum(map(len, pieces)), "sha256": sha256(b"".join(pieces))}
        for name, pieces in parts.items()
    }
    body: dict[str, Any] = {"outcome": "finished", "exit_status": 0, "streams": streams, "ended_at": time.time()}
    assert repeat(agent, attempt, "finish", **body).json() == {"complete": True}


def read_in(attempt_id: int, *, hurry: bool) -> bool:
    """Return whether its result is in samples. `hurry`: let the time until the next try be over, and the beat strike."""
    with all_labs():
        attempts = Attempt.objects.filter(pk=attempt_id)
        if hurry and attempts.filter(ingested_at=None).update(next_try_at=timezone.now() - timedelta(seconds=1)):
            time.sleep(0.5)
            sweep()
        return attempts.filter(ingested_at__isnull=False).exists()


def test_kills_of_web_and_worker_lose_no_chunk_and_make_no_second_result(stack: Stack) -> None:
    chance = random.Random(SEED)
    agent = enrol_remote(stack.lab, stack.port)
    pieces = [REPORT[at : at + PIECE] for at in range(0, len(REPORT), PIECE)]
    journal = [b'{"event": "fio started", "at": 1}\n']
    unanswered, killed, slowest, attempts = 0, {"web": 0, "child": 0, "main": 0}, 0.0, []
    for number in range(ROUNDS):
        attempt = begin(stack, agent)
        attempts.append(attempt.pk)
        parts = {"result": pieces, "stderr": [b"a line\n"] * 20, "journal": journal}
        work: Work = queue.Queue()
        chunks = [(name, seq, data) for name, rows in parts.items() for seq, data in enumerate(rows)]
        for chunk in chance.sample(chunks, len(chunks)) + chance.sample(chunks, len(chunks) // 4):
            work.put(chunk)
        senders = Senders(agent, attempt, work)
        for _ in range(KILLS_A_ROUND):
            time.sleep(chance.uniform(0.02, 0.15))
            if senders.is_busy():
                kill_a_web(stack, chance)
                killed["web"] += 1
        for thread in senders.threads:
            thread.join()
        assert senders.refused == []
        unanswered += senders.unanswered
        with all_labs():
            stored = {(row.stream, row.sequence): bytes(row.data) for row in Chunk.objects.filter(attempt=attempt)}
            assert Chunk.objects.filter(attempt=attempt).count() == len(chunks)
        assert stored == {(name, seq): data for name, seq, data in chunks}
        finish(agent, attempt, parts)
        begun = time.monotonic()
        if whom := ("child", "main", "")[number % 3]:
            time.sleep(chance.uniform(0, 0.12))
            kill_worker(stack, whom)
            killed[whom] += 1
        until(lambda: f"it is read in\n{stack.logs()}", DONE_S, lambda: read_in(attempt.pk, hurry=True))  # noqa: B023
        slowest = max(slowest, time.monotonic() - begun)
    call_command("check_ledger")
    with all_labs():
        sets = {Sample.objects.filter(run__attempts=pk).count() for pk in attempts}
        assert len(sets) == 1, f"samples of the same report: {sets}"
        assert sets.pop() > 0
        for pk in attempts:
            kinds = list(RunArtefact.objects.filter(run__attempts=pk).values_list("kind", flat=True))
            assert len(kinds) == len(set(kinds))
        assert Run.objects.filter(state=State.FINISHED).count() == Attempt.objects.count() == ROUNDS
    print(
        f"\nkilled {killed}; {unanswered} requests without an answer; chunks lost 0, twice 0; read in ≤ {slowest:.1f} s"
    )
    assert killed["web"]
