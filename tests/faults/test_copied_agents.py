"""Two real agents with one secret: on the same machine the second hears 409, on another one the host goes into quarantine."""

import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from apps.agents.models import Agent
from apps.agents.tasks import dispatch_host, dispatch_waiting
from apps.labs.isolation import lab_scope
from apps.runs.models import Attempt
from apps.runs.states import State
from tests.faults.namespaces import explain_missing
from tests.faults.stack import ROOT, Stack, until

MISSING = explain_missing()
pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.long,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]
ONE_POLL_S = 5


def copy_state(stack: Stack, name: str) -> Path:
    """Copy what makes an agent: its secret and its agent.conf."""
    copy = stack.folder / name
    copy.mkdir(mode=0o700)
    for part in ("identity.json", "agent.conf"):
        shutil.copy2(stack.state / part, copy / part)
    return copy


def state_of(stack: Stack) -> str:
    with lab_scope(stack.lab.pk):
        return str(Agent.objects.get().state)


def test_a_second_copy_on_the_same_machine_waits_and_gets_nothing(stack: Stack) -> None:
    copy = copy_state(stack, "second")
    stack.start("second", "-m", "worker.agent", "run", "--state", str(copy))
    log = stack.folder / "second.log"
    until("it hears 409", 20, lambda: "another copy of this agent is alive" in log.read_text())
    runs = [stack.run(seconds=1) for _ in range(3)]
    for run in runs:
        stack.wait_for(run, State.FINISHED)
    assert "Connected." not in log.read_text()
    assert not list(copy.glob("spool/[0-9]*"))
    assert state_of(stack) == "approved"
    with lab_scope(stack.lab.pk):
        assert Attempt.objects.count() == len(runs)


def test_the_same_secret_on_another_machine_is_a_quarantine_without_work(stack: Stack) -> None:
    copy, machine = copy_state(stack, "clone"), stack.folder / "machine-id"
    machine.write_text(f"{uuid.uuid4().hex}\n")
    command = f"mount --bind {machine} /etc/machine-id; exec {sys.executable} -m worker.agent run --state {copy}"
    log = (stack.folder / "clone.log").open("ab")
    begun = time.monotonic()
    clone = subprocess.Popen(
        ["unshare", "--mount", "sh", "-ec", command], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
    )
    stack.processes["clone"] = clone
    until("the host is in quarantine", ONE_POLL_S + 5, lambda: state_of(stack) == "quarantined")
    assert time.monotonic() - begun < ONE_POLL_S + 5
    run = stack.run(seconds=1)
    stack.start_beat()
    time.sleep(15)  # the beat's turn, and several polls of both
    dispatch_waiting()
    assert dispatch_host(stack.now(run).host_id) is None
    with lab_scope(stack.lab.pk):
        assert not Attempt.objects.exists()
    assert stack.now(run).state == State.QUEUED
    assert not list(copy.glob("spool/[0-9]*"))
    assert "in quarantine" in (stack.folder / "clone.log").read_text()
