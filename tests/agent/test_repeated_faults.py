"""Kills of the agent, cancels and offers, each so often that chance finds what a single one does not; and fio without memory."""

import os
import random
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import Host, job, lasting, processes_below, starts, until, workload
from tests.agent.test_faults import fio_parent, is_fio
from tests.sampling import IS_LONG, SEED

pytestmark = [pytest.mark.fio, pytest.mark.faults]
KILLS = 500 if IS_LONG else 3
CANCELS = 300 if IS_LONG else 3
OUT_OF_MEMORY = 20 if IS_LONG else 1
MEMORY_BYTES = 96 << 20  # for agent, runner and a fio that wants more
REATTACHED_S = 15
REPORTED_S = 10
TAKEN_OVER = re.compile(r"Attempt \d+ is still under way")


def test_kill_upon_kill_of_the_agent_leaves_one_run_alone(host: Host, server: FakeServer) -> None:
    """One run, whose agent is killed again and again at random moments; each new agent finds it at once."""
    chance = random.Random(SEED)
    attempt = server.offer(lasting(KILLS + 30, rw="randread", ioengine="psync", file_size=1 << 20))
    host.start()
    fio = fio_parent(host, attempt)
    slowest = 0.0
    for number in range(KILLS):
        time.sleep(chance.uniform(0, 0.3))
        host.end(signal.SIGKILL)
        assert is_fio(fio), f"fio did not outlive kill {number + 1}"
        begun = time.monotonic()
        host.start()
        until(lambda: len(TAKEN_OVER.findall(host.log.read_text())) > number, "the agent takes it over")  # noqa: B023
        slowest = max(slowest, time.monotonic() - begun)
    server.cancel(attempt)
    assert host.ended(attempt) == "cancelled"
    assert starts(attempt) == 1
    assert attempt.stream("result").endswith(b"}\n")
    assert host.leftovers() == []
    print(f"\n{KILLS} kills, fio alive after each, taken over after at most {slowest:.2f} s; started twice 0")
    assert slowest <= REATTACHED_S


def test_a_cancel_at_any_moment_ends_the_attempt_and_leaves_no_fio(host: Host, server: FakeServer) -> None:
    chance = random.Random(SEED)
    host.start()
    until(lambda: server.polls, "the first poll")
    states: dict[str, int] = {}
    slowest = 0.0
    for _ in range(CANCELS):
        attempt = server.offer(lasting(2, numjobs=2, ioengine="psync"))
        time.sleep(chance.uniform(0, 2.6))
        before, polls = attempt.state, len(server.polls)
        server.cancel(attempt)
        begun = time.monotonic()
        until(lambda: not processes_below(host.files), "the end of fio", 5)
        assert len(server.polls) - polls <= 2
        until(lambda: attempt.ending or is_untaken(host, server, attempt, polls), "the end")  # noqa: B023
        if attempt.ending:
            host.ended(attempt)
        else:
            attempt.state = "refused"  # it was cancelled before the host had heard of it, which the real server ends so
        slowest = max(slowest, time.monotonic() - begun)
        assert starts(attempt) <= 1
        assert host.leftovers() == []
        states[before] = states.get(before, 0) + 1
    print(f"\n{CANCELS} cancels, of attempts that were {states}; the slowest took {slowest:.2f} s; fio left 0")


def is_untaken(host: Host, server: FakeServer, attempt: Attempt, polls: int) -> bool:
    return len(server.polls) > polls + 2 and attempt.state == "offered" and not host.spool(attempt).exists()


def test_one_offer_many_times_is_one_start(host: Host, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten copies of each offer in every answer, and ten more polls beside the agent's own that are offered it too."""
    plain = server.answer_to_poll

    def tenfold() -> dict[str, Any]:
        answer = plain()
        return {**answer, "offers": answer["offers"] * 10}

    monkeypatch.setattr(server, "answer_to_poll", tenfold)
    host.start()
    until(lambda: server.polls, "the first poll")
    for number in range(100 if IS_LONG else 2):
        attempt = server.offer(workload(job(ioengine="psync")), number=number + 1, token=500 + number)
        others = [threading.Thread(target=server.poll, args=({"wait": 0},)) for _ in range(10)]
        for other in others:
            other.start()
        assert host.ended(attempt) == "finished"
        assert starts(attempt) == 1
        for other in others:
            other.join()
    assert host.leftovers() == []


@pytest.fixture
def little_memory() -> Iterator[Path]:
    """A control group whose processes have little memory together; the kernel kills the largest of them."""
    old = Path("/sys/fs/cgroup/memory")
    group = (old if old.is_dir() else old.parent) / f"spindle-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        limit = group / ("memory.limit_in_bytes" if old.is_dir() else "memory.max")
        if not limit.exists():
            pytest.skip("there is no limit of memory for control groups here")
        limit.write_text(str(MEMORY_BYTES))
        yield group
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        until(lambda: not (group / "cgroup.procs").read_text().split(), "the end of its processes")
        group.rmdir()


def test_fio_that_the_kernel_kills_for_want_of_memory_is_reported(
    little_memory: Path, server: FakeServer, pyz: Path, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho $$ > {little_memory}/cgroup.procs\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    host = Host(tmp_path, server, pyz, str(python))
    host.start()
    try:
        for _ in range(OUT_OF_MEMORY):
            attempt = server.offer(lasting(20, block_size=16 << 20, file_size=128 << 20, iodepth=8))
            until(lambda: attempt.state != "offered", "the accept")  # noqa: B023
            begun = time.monotonic()
            assert host.ended(attempt, REPORTED_S) == "failed"
            assert time.monotonic() - begun < REPORTED_S
            assert attempt.ending["signal"] == signal.SIGKILL
            assert host.leftovers() == []
        following = server.offer(workload(job()))
        assert host.ended(following) == "finished"
    finally:
        host.close()
