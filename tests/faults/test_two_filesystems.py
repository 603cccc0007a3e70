"""One host, two filesystems, real fio: whatever is killed, no run lies on the other's, none starts twice, and no comparison mixes them."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.comparison.likeness import Likeness
from apps.comparison.queries.samples import of_run
from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from apps.runs.services import start_on_targets
from apps.runs.states import State
from tests.faults.stack import KIB, MIB, ROOT, Stack, until
from tests.faults.test_kills import KILLS, _assert_whole

pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]
JOB = {"rw": "randwrite", "block_size": 4 * KIB, "file_size": 4 * MIB, "time_based": True, "direct": False}


@pytest.fixture
def memory(stack: Stack) -> Iterator[Path]:
    """A directory on another filesystem than the stack's, which the agent is allowed beside its own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if os.stat(folder).st_dev == os.stat(stack.state).st_dev:
            pytest.skip("the temporary folder is in memory too")
        argv = [sys.executable, "-m", "worker.agent", "allow", "--state", str(stack.state), "--directory", folder]
        subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=60)
        stack.kill("agent", signal.SIGTERM)
        stack.start_agent()
        until("both directories are targets", 40, lambda: len(_targets(stack)) == 2)
        yield Path(folder)
        stack.kill("agent")


def _targets(stack: Stack) -> list[Target]:
    with lab_scope(stack.lab.pk):
        return list(Target.objects.filter(is_agents_own=True).select_related("host", "filesystem").order_by("path"))


def _start(stack: Stack, seconds: int, repetitions: int = 1, last: str = "") -> list[Run]:
    """Queue runs on all targets, that of the path `last` behind the others."""
    spec = {"tool": "fio", "jobs": [{**JOB, "runtime": seconds}]}
    targets = sorted(_targets(stack), key=lambda target: target.path == last)
    with lab_scope(stack.lab.pk):
        return start_on_targets(targets, lab=stack.lab, spec=spec, repetitions=repetitions, who="test")


def test_runs_of_two_filesystems_never_share_a_target_or_a_cell(stack: Stack, memory: Path) -> None:
    chance = random.Random(20261126)
    kinds = {target.pk: target.lies_on["type"] for target in _targets(stack)}
    assert len(set(kinds.values())) == 2
    finished = []
    for run in _start(stack, 2, repetitions=max(1, KILLS // 2)):
        stack.wait_for(run, State.RUNNING, seconds=90)
        time.sleep(chance.uniform(0, 1))
        stack.kill("agent")
        stack.start_agent()
        stack.wait_for(run, State.FINISHED, seconds=90)
        finished.append(stack.wait_until_read_in(run))
        _assert_whole(stack, run)
    for run in finished:
        with lab_scope(stack.lab.pk):
            target = Target.objects.get(pk=run.target_id)
        assert (run.place["path"], run.place["type"]) == (target.path, kinds[target.pk])
        assert run.facts["filesystem"] == kinds[target.pk]
    with lab_scope(stack.lab.pk):
        readings = [reading for run in finished for reading in of_run(run)]
        assert Target.objects.count() == 2
    iops = [reading for reading in readings if reading.metric == "iops"]
    groups = Likeness().members(iops)
    assert len(groups) >= 2
    for members in groups.values():
        assert len({reading.facts["filesystem"] for reading in members}) == 1
    assert not list(memory.iterdir())


def test_a_directory_that_vanishes_fails_its_runs_and_no_others(stack: Stack, memory: Path) -> None:
    first, second = _start(stack, 4, last=str(memory))
    stack.wait_for(first, State.RUNNING, seconds=60)
    memory.rename(f"{memory}-away")
    try:
        stack.wait_for(first, State.FINISHED, seconds=60)
        until("the other one has failed", 60, lambda: stack.now(second).state == State.FAILED)
        assert str(memory) in stack.now(second).problem
        assert not memory.exists(), "the agent made the directory anew"
        until("it takes no runs", 60, lambda: [target.path for target in _targets(stack)] == [first.target.path])
    finally:
        Path(f"{memory}-away").rename(memory)
    _start(stack, 1)  # on the other one: behind a run the agent polls anew, and says what is there
    until("it is offered again", 60, lambda: len(_targets(stack)) == 2)
