"""kill -9, from the first day: the run goes on, nothing is lost, nothing is done twice."""

import os
import random
import shutil
import time

import pytest

from apps.labs.isolation import lab_scope
from apps.runs.models import Attempt, Chunk, RunArtefact, Sample
from apps.runs.states import State
from tests.faults.stack import Stack, until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.services,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]
KILLS = int(os.environ.get("SPINDLE_KILLS", "1"))  # 20 in the long form


def _assert_whole(stack: Stack, run) -> None:
    """One attempt, started once by the host's own journal; every byte here under the hash that the host promised."""
    with lab_scope(stack.lab.pk):
        [attempt] = Attempt.objects.filter(run=run)
        kept = {row.name: row.artefact for row in RunArtefact.objects.filter(run=run).select_related("artefact")}
        assert kept["result.json"].sha256 == attempt.manifest["result"]["sha256"]
        assert kept["result.json"].size == attempt.manifest["result"]["bytes"]
        assert Sample.objects.filter(run=run, measure__metric="iops").count() == 1
        from apps.runs.artefacts.store import read

        journal = read(kept["journal"]).decode()
    assert journal.count('"fio started"') == 1, journal


def test_a_run_goes_from_click_to_samples(stack: Stack) -> None:
    run = stack.run(seconds=2)
    stack.wait_for(run, State.FINISHED)
    done = stack.wait_until_read_in(run)
    assert done.tool_version[0].isdigit()
    assert done.snapshot_id
    assert done.facts["rw"] == "randwrite"
    _assert_whole(stack, run)


def test_kill_9_of_the_agent_hurts_no_run(stack: Stack) -> None:
    """The agent is killed at random moments of one run after another; a new one re-attaches and brings everything home."""
    chance = random.Random(20261121)
    reattached = []
    for _ in range(KILLS):
        run = stack.run(seconds=3)
        stack.wait_for(run, State.RUNNING)
        time.sleep(chance.uniform(0, 1.2))
        fio = {process.pid for process in stack.fio_processes()}
        stack.kill("agent")
        assert fio, "fio was not running when the agent was killed"
        assert fio <= {process.pid for process in stack.fio_processes()}, "the agent's death touched fio"
        begin = time.monotonic()
        stack.start_agent()
        stack.wait_for(run, State.FINISHED)
        reattached.append(time.monotonic() - begin)
        stack.wait_until_read_in(run)
        _assert_whole(stack, run)
    print(
        f"\nagent killed {KILLS} times; runs lost 0, started twice 0; slowest end after the new start {max(reattached):.1f} s"
    )


def test_kill_9_of_web_and_worker_hurts_no_run(stack: Stack) -> None:
    run = stack.run(seconds=3)
    stack.wait_for(run, State.RUNNING)
    stack.kill("web")
    stack.kill("worker")
    until("fio goes on without the server", 2, stack.fio_processes)
    time.sleep(1)
    stack.start_web()
    until("all of it is here and waits to be read", 40, lambda: stack.now(run).is_reading)
    stack.start_worker()
    stack.wait_until_read_in(run)
    _assert_whole(stack, run)


def test_kill_9_of_fio_is_reported_and_leaves_nothing(stack: Stack) -> None:
    run = stack.run(seconds=30)
    stack.wait_for(run, State.RUNNING)
    until("fio runs", 5, stack.fio_processes)
    for process in stack.fio_processes():
        process.kill()
    failed = stack.wait_for(run, State.FAILED)
    assert failed.problem
    assert not stack.fio_processes()


def test_cancel_ends_fio_and_its_children(stack: Stack) -> None:
    from apps.runs.services import cancel_run

    run = stack.run(seconds=30, numjobs=2)
    stack.wait_for(run, State.RUNNING)
    until("fio and its jobs run", 5, lambda: len(stack.fio_processes()) >= 2)
    with lab_scope(stack.lab.pk):
        assert cancel_run(stack.now(run), "engineer")
    stack.wait_for(run, State.CANCELLED, 10)
    assert not stack.fio_processes()
    # not rglob: the agent is still tidying up, and a folder that goes meanwhile is no error
    left = [name for _, folders, files in os.walk(stack.state) for name in [*folders, *files]]
    assert not [name for name in left if name.startswith("data.")]


def test_a_worker_killed_while_reading_in_leaves_one_result(stack: Stack) -> None:
    from apps.agents.tasks import sweep

    stack.kill("worker")
    run = stack.run(seconds=1)
    until("all of it is here and waits to be read", 40, lambda: stack.now(run).is_reading)
    with lab_scope(stack.lab.pk):
        Attempt.objects.update(next_try_at="2020-01-01T00:00:00Z")
    sweep()  # published again, although the first task still waits in the broker: it comes twice
    stack.start_worker()
    stack.wait_until_read_in(run)
    later = stack.run(seconds=1)
    stack.wait_for(later, State.FINISHED)
    stack.wait_until_read_in(later)  # the worker takes one task after the other: the second came before
    _assert_whole(stack, run)
    with lab_scope(stack.lab.pk):
        assert not Chunk.objects.filter(attempt__run=run, data__isnull=False).exists()
