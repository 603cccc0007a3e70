"""The real agent and the real server, between which three answers of ten are lost after the server has given them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.runs.models import Attempt
from apps.runs.states import State
from tests.faults.door import Door
from tests.faults.stack import Stack
from tests.faults.test_abandoned_run import journal

pytestmark = [pytest.mark.faults, pytest.mark.fio, pytest.mark.long]
RUNS = 30
LOST = 0.3


@pytest.fixture
def door(transactional_db: None, cast: Any, tmp_path: Path) -> Iterator[tuple[Stack, Door]]:
    stack = Stack(tmp_path, cast.lab)
    made = Door(("127.0.0.1", stack.port))
    stack.agent_url = f"http://127.0.0.1:{made.port}"
    try:
        stack.up()
        yield stack, made
    finally:
        stack.down()
        made.close()


def test_runs_through_lost_answers_are_started_once_and_whole(door: tuple[Stack, Door]) -> None:
    stack, between = door
    between.lost = LOST
    runs = [stack.run(seconds=1) for _ in range(RUNS)]
    for run in runs:
        stack.wait_for(run, State.FINISHED, 120)
        journal(stack, stack.wait_until_read_in(run))
    with lab_scope(stack.lab.pk):
        assert Attempt.objects.count() == RUNS
        assert not AuditEvent.objects.filter(act="chunk conflict").exists()
    call_command("check_ledger", f"--spool={stack.state}")
    print(f"\n{between.answers} answers, {between.answers_lost} of them lost; {RUNS} runs, each started once and whole")
    assert between.answers_lost > RUNS
