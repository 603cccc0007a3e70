"""The agent or its runner dies before or behind every fsync, rename, new file, start and request: nothing lost, nothing started twice.

And its disk is full at every one of its writes, once: the agent lives, and what fio wrote arrives.
"""

import contextlib
import errno
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agent.crash_points import FailingHost, make_failing_host
from tests.agent.fake_server import Attempt, FakeServer
from tests.agent.host import job, kill_below, lasting, starts, until, workload
from tests.agent.test_faults import KILLS
from tests.sampling import IS_LONG, sample

pytestmark = [pytest.mark.fio, pytest.mark.faults]
TIMES = max(1, KILLS // 6)  # each point; 3 in the long form
SHORT_FORM = 4  # points of each kind
DYING_S = 6  # until an agent has come to its point, or has seen every new runner die at its own
PATIENCE = 60  # a runner that died unseen is looked for every 30 s
LEAST_POINTS = 30
ENDINGS = ("finished", "failed", "interrupted", "refused")


@pytest.fixture
def failing(tmp_path: Path, server: FakeServer, pyz: Path) -> Iterator[FailingHost]:
    made = make_failing_host(tmp_path, server, pyz)
    server.is_old = True  # chunks go one by one, so that there is a request for each
    yield made
    made.close()


def offer(server: FakeServer, number: int) -> Attempt:
    """Offer short runs; every other one reads files that are filled before."""
    rw = ("write", "read")[number % 2]
    return server.offer(workload(job(ioengine="psync", rw=rw, file_size=1 << 20)))


def points_of(failing: FailingHost, server: FakeServer, how: str, tmp_path: Path) -> list[str]:
    """Return all points of both kinds of runs that every such run goes through."""
    traces = [failing.record(offer(server, number), how, tmp_path / f"trace-{number}") for number in range(2)]
    found = dict.fromkeys(point for trace in traces for point in trace)
    ours = [point for point in found if int(point.rpartition(" ")[2]) <= 2 and "poll" not in point]
    assert len(ours) >= LEAST_POINTS, ours
    return ours


def wait(seconds: float, condition: Callable[[], bool]) -> None:
    """Wait until it holds, or for so many seconds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def is_over(failing: FailingHost, attempt: Attempt) -> bool:
    return bool(attempt.ending) and not failing.spool(attempt).exists()


def test_a_death_at_any_point_loses_and_repeats_nothing(
    failing: FailingHost, server: FakeServer, tmp_path: Path
) -> None:
    points = points_of(failing, server, "kill", tmp_path)
    chosen = sample(points, SHORT_FORM, "kill") * TIMES
    missed = []
    for number, point in enumerate(chosen):
        attempt = offer(server, number)
        process = failing.start_with({"SPINDLE_FAIL_AT": point})
        wait(DYING_S, lambda: process.poll() is not None or is_over(failing, attempt))  # noqa: B023
        if process.poll() is None:  # each runner dies there, or this run did not come by
            missed += [point] if point.startswith("agent") else []
            failing.end(signal.SIGKILL)
        failing.start()
        outcome = failing.ended(attempt, PATIENCE)
        events = [json.loads(line)["event"] for line in attempt.stream("journal").splitlines()]
        assert outcome == "finished" or (outcome == "interrupted" and point.startswith("runner")), (point, events)
        assert starts(attempt) == 1 or (outcome == "interrupted" and starts(attempt) == 0), (point, events)
        assert outcome == "interrupted" or attempt.stream("result").endswith(b"}\n"), point
        assert failing.leftovers() == [], point
        assert server.violations == [], point
        failing.end(signal.SIGKILL)
    print(f"\n{len(points)} points, {len(chosen)} deaths; lost 0, started twice 0; not come by: {missed}")
    assert len(missed) <= len(chosen) // 4, missed


def test_a_disk_that_is_full_at_any_write_costs_no_report_and_no_agent(
    failing: FailingHost, server: FakeServer, tmp_path: Path
) -> None:
    points = [point for point in points_of(failing, server, "full", tmp_path) if " before " in point]
    kinds = ("write", "make", "fsync", "rename")
    writes = [point for point in points if point.split()[2] in kinds and point.split()[3] not in ("alive", "control")]
    chosen = sample(writes, SHORT_FORM, "full")
    outcomes: dict[str, int] = {}
    broken = []
    for number, point in enumerate(chosen):
        try:
            outcome = end_of_run_on_full_disk(failing, server, number, point)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        except AssertionError as error:
            broken.append(f"{point}: {str(error)[:500]}")
        finally:
            failing.end(signal.SIGKILL)
    print(f"\n{len(writes)} writes, {len(chosen)} of them on a full disk: {outcomes}")
    assert not broken, "\n".join(broken)


def end_of_run_on_full_disk(failing: FailingHost, server: FakeServer, number: int, point: str) -> str:
    """Let a run meet a full disk at this point, and another one follow it; return how it ended."""
    attempt = offer(server, number)
    process = failing.start_with({"SPINDLE_FAIL_AT": point, "SPINDLE_FAIL_HOW": "full"})
    wait(PATIENCE, lambda: attempt.state in ENDINGS or process.poll() is not None)
    assert process.poll() is None, f"the agent has ended: {failing.log.read_text()[-400:]}"
    assert attempt.state in ENDINGS, f"no end: {failing.log.read_text()[-400:]}"
    if attempt.ending and starts(attempt):
        assert attempt.stream("result").endswith(b"}\n")
    if attempt.state in ("failed", "refused"):
        said = attempt.reason or attempt.ending["reason"]
        assert os.strerror(errno.ENOSPC) in said or "full" in said, said
    if point.startswith("runner"):  # each new one would meet it
        failing.end(signal.SIGKILL)
        failing.start()
    assert failing.ended(offer(server, number), PATIENCE) == "finished", "the next run"
    assert failing.leftovers() == []
    assert server.violations == []
    return attempt.state


SKEWS = {"an hour behind": -3600, "an hour ahead": 3600, "ten years behind": -315576000, "ten years ahead": 315576000}


@pytest.mark.parametrize("name", SKEWS if IS_LONG else ["ten years behind"])
def test_a_wrong_clock_of_the_host_that_jumps_during_the_run_changes_nothing(
    failing: FailingHost, server: FakeServer, tmp_path: Path, name: str
) -> None:
    clock = tmp_path / "clock"
    clock.write_text(str(SKEWS[name]))
    attempt = server.offer(lasting(2))
    failing.start_with({"SPINDLE_CLOCK": str(clock)})
    until(lambda: attempt.running, "fio")
    assert abs(attempt.running["clock"] - time.time() - SKEWS[name]) < 10, "it says what its clock shows"
    clock.write_text("0")  # somebody sets it right
    begun = time.monotonic()
    assert failing.ended(attempt, 20) == "finished"
    assert time.monotonic() - begun < 10
    assert starts(attempt) == 1
    assert abs(attempt.ending["clock"] - time.time()) < 20
    following = server.offer(lasting(1))
    clock.write_text(str(-SKEWS[name]))
    assert failing.ended(following, 20) == "finished"
    with contextlib.suppress(AssertionError):
        kill_below(failing.files)
