"""A run is given up while its host is away, and the host comes back with it: nothing runs beside it, nothing is lost."""

import json
import os
import shutil
import signal
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.agents.models import Agent
from apps.agents.tasks import dispatch_host, sweep
from apps.labs.isolation import lab_scope
from apps.runs.artefacts.store import read
from apps.runs.models import Attempt, Run, RunArtefact
from apps.runs.queue import abandon_run
from apps.runs.states import State
from tests.faults.stack import Stack, until
from tests.sampling import IS_LONG

pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]


def go_quiet(stack: Stack) -> None:
    """What the server sees a minute after the host's last word."""
    past = timezone.now() - timedelta(minutes=5)
    with lab_scope(stack.lab.pk):
        Attempt.objects.filter(state=State.RUNNING).update(lease_until=past)
        Agent.objects.update(last_seen_at=past)
    sweep()


def journal(stack: Stack, run: Run) -> dict[str, float]:
    """Return when fio was started and when it ended, by the host's own clock; started exactly once."""
    with lab_scope(stack.lab.pk):
        lines = read(RunArtefact.objects.select_related("artefact").get(run=run, name="journal").artefact).decode()
    assert lines.count('"fio started"') == 1, lines
    events = [json.loads(line) for line in lines.splitlines()]
    return {event["event"]: event["at"] for event in events}


@pytest.mark.parametrize("away", ["stopped", "killed"] if IS_LONG else ["stopped"])
def test_a_host_that_comes_back_with_a_run_that_was_given_up(stack: Stack, away: str) -> None:
    first = stack.run(seconds=3)
    stack.wait_for(first, State.RUNNING)
    second = stack.run(seconds=1)
    process = stack.processes["agent"]
    if away == "stopped":
        os.kill(process.pid, signal.SIGSTOP)
    else:
        stack.kill("agent")
    try:
        go_quiet(stack)
        until("the run is unknown", 5, lambda: stack.now(first).state == State.UNKNOWN)
        with lab_scope(stack.lab.pk):
            assert abandon_run(stack.now(first), "its switch is on fire", "engineer")
        assert stack.now(first).state == State.INTERRUPTED
        for _ in range(3):
            assert dispatch_host(first.host_id) is None
        if away == "killed":
            until("fio ends, and nobody is there to see it", 30, lambda: not stack.fio_processes())
    finally:
        if away == "stopped":
            os.kill(process.pid, signal.SIGCONT)
        else:
            stack.start_agent()
    until(
        lambda: f"the late result is read in\n{stack.now(first).state}\n{stack.logs()}",
        60,
        lambda: stack.now(first).state == State.FINISHED and stack.attempt(first).ingested_at,
    )
    run = stack.now(first)
    assert (run.is_late, run.problem) == (True, "")
    stack.wait_for(second, State.FINISHED)
    stack.wait_until_read_in(second)
    assert journal(stack, second)["fio started"] > journal(stack, first)["ended"]
    with lab_scope(stack.lab.pk):
        assert Attempt.objects.count() == 2
