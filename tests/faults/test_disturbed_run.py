"""Somebody else uses the host during a run: the agent sees it, and everybody who looks at the figure is told."""

import os
import shutil
import subprocess
import time

import pytest

from apps.comparison.confounders import confounders, table
from apps.comparison.queries.samples import of_run
from apps.labs.isolation import lab_scope
from apps.runs.activity import ACTIVITY
from apps.runs.states import State
from tests.faults.stack import Stack

pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]
BESIDE = 4  # processes: more than this machine's cores leave to them, so that their share is surely over the limit


def test_a_disturbed_run_says_so_to_all_who_read_it(stack: Stack, sign_in) -> None:
    time.sleep(1.5)  # the time before the run
    run = stack.run(seconds=4)
    stack.wait_for(run, State.RUNNING)
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(BESIDE)]
    try:
        stack.wait_for(run, State.FINISHED)
    finally:
        for other in others:
            other.kill()
            other.wait()
    facts = stack.wait_until_read_in(run).facts
    assert {"load_during", "load_before", "disk_before"} <= set(facts)
    assert all(facts[name] >= 0 for name in ACTIVITY & set(facts))
    assert facts["load_during"] > 0.5
    told = sign_in("viewer").get(f"/api/v1/runs/{run.pk}/").json()
    assert told["facts"]["load_during"] == facts["load_during"]
    (caveat,) = [one for one in told["caveats"] if one["rule"] == "not_idle"]
    assert "cores busy during the run > 0.5" in "; ".join(caveat["arithmetic"])
    page = sign_in("viewer").get(run.get_absolute_url()).content.decode()
    assert "The machine was not idle" in page
    assert "load during" in page


@pytest.mark.long  # that of the agent alone is shown by tests/agent/test_guards.py
def test_a_run_after_another_has_a_load_before_it_too_and_the_two_are_no_less_alike(stack: Stack) -> None:
    runs = [stack.run(seconds=2), stack.run(seconds=2)]
    first, second = (stack.wait_until_read_in(stack.wait_for(run, State.FINISHED)) for run in runs)
    assert "load_before" in first.facts
    assert 0 <= second.facts["load_before"] <= (os.cpu_count() or 1) + 0.5, "of others, without the first run's own"
    assert "load_during" in first.facts
    assert "load_during" in second.facts
    with lab_scope(stack.lab.pk):
        groups = {str(run.pk): of_run(run) for run in (first, second)}
    assert first.facts != second.facts
    assert confounders(table(groups, ("label", "file_size"))) == []
