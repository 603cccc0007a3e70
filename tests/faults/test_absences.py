"""A host is paused past its lease, or cut off for an hour, a day or a week: its run goes on, and nothing is started again.

The server's clock is moved on instead of waiting: every time that it has stored of the host lies so much further back.
"""

import os
import signal
import time
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F

from apps.agents.models import Agent
from apps.agents.tasks import dispatch_host, dispatch_waiting, sweep
from apps.labs.isolation import lab_scope
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from tests.faults.stack import Stack, until
from tests.faults.test_abandoned_run import journal

pytestmark = [pytest.mark.faults, pytest.mark.fio, pytest.mark.long]
ABSENCES = {
    "a minute": timedelta(minutes=1),
    "an hour": timedelta(hours=1),
    "a day": timedelta(days=1),
    "a week": timedelta(days=7),
}
PAUSES = 5


def move_clock(stack: Stack, span: timedelta) -> None:
    with lab_scope(stack.lab.pk):
        Attempt.objects.update(
            **{name: F(name) - span for name in ("lease_until", "offered_at", "accepted_at", "overdue_at")}
        )
        Run.objects.update(created_at=F("created_at") - span)
        Agent.objects.update(last_seen_at=F("last_seen_at") - span, polling_until=F("polling_until") - span)


def check_nothing_is_started(stack: Stack, run: Run) -> None:
    """Sweep and dispatch as the beat does, again and again."""
    for _ in range(3):
        sweep()
        dispatch_waiting()
        assert dispatch_host(run.host_id) is None
    until("the run is unknown", 5, lambda: stack.now(run).state == State.UNKNOWN)


def test_a_paused_agent_goes_on_with_its_run(stack: Stack) -> None:
    for _ in range(PAUSES):
        run = stack.run(seconds=6)
        waiting = stack.run(seconds=1)
        stack.wait_for(run, State.RUNNING)
        process = stack.processes["agent"]
        os.kill(process.pid, signal.SIGSTOP)
        try:
            assert stack.fio_processes()
            time.sleep(0.5)
            move_clock(stack, timedelta(minutes=10))
            check_nothing_is_started(stack, run)
            assert stack.now(waiting).state == State.QUEUED
        finally:
            os.kill(process.pid, signal.SIGCONT)
        stack.wait_for(run, State.RUNNING)
        stack.wait_for(run, State.FINISHED)
        stack.wait_for(waiting, State.FINISHED)
        journal(stack, stack.wait_until_read_in(run))
    with lab_scope(stack.lab.pk):
        assert Attempt.objects.count() == 2 * PAUSES
    call_command("check_ledger", f"--spool={stack.state}")


@pytest.mark.parametrize("name", ABSENCES)
def test_a_cut_of_any_length_costs_a_run_nothing(stack: Stack, name: str) -> None:
    run = stack.run(seconds=4)
    stack.wait_for(run, State.RUNNING)
    stack.kill("web")
    until("fio has ended, and nobody heard of it", 30, lambda: not stack.fio_processes())
    move_clock(stack, ABSENCES[name] + timedelta(minutes=1))
    check_nothing_is_started(stack, run)
    stack.start_web()
    done: Any = stack.wait_for(run, State.FINISHED, 60)
    assert done.problem == ""
    assert not done.is_late
    journal(stack, stack.wait_until_read_in(run))
    with lab_scope(stack.lab.pk):
        assert Attempt.objects.count() == 1
    call_command("check_ledger", f"--spool={stack.state}")
