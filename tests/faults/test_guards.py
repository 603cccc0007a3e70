"""The agent is killed while a guard holds a step of a plan back: nothing is started twice, and the plan goes on."""

import mmap
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.studies.models import Plan, PlannedRun
from tests.faults.stack import MIB, Stack, until
from tests.faults.test_abandoned_run import journal

pytestmark = [pytest.mark.faults, pytest.mark.fio]
JOB = {"rw": "randread", "direct": False, "sync": "none", "time_based": True, "runtime": 1}
ROUNDS = 2


@contextmanager
def in_memory(path: Path) -> Iterator[None]:
    """Keep all pages of a file mapped, so that the kernel cannot drop them and the guard waits."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[at] for at in range(0, len(mapped), mmap.PAGESIZE)) >= 0
        yield


def start(stack: Stack) -> Plan:
    target = stack.target()
    assert target
    point = {"name": "reads", "tool": "fio", "file_size": MIB, "block_size": 4096, "job": JOB}
    wanted = services.PlanRequest(
        stack.lab, "Guarded", [target], [point], {"kind": "fixed", "rounds": ROUNDS},
        guards=[{"kind": "caches_dropped"}, {"kind": "space"}, {"kind": "array_settled"}],
        preparations=[{"kind": "pause", "time": "start", "seconds": 5}],
    )  # fmt: skip
    with lab_scope(stack.lab.pk):
        plan = services.create_plan(wanted, actor="test")
        services.start_plan(plan, actor="test", guard_wait=300)
    return plan


def test_file(stack: Stack) -> Path | None:
    files = stack.folder.rglob("attempt-*/data.0.0")
    return next((path for path in files if path.stat().st_size == MIB), None)


test_file.__test__ = False  # type: ignore[attr-defined]


def is_waiting(stack: Stack) -> bool:
    with lab_scope(stack.lab.pk):
        evidence = Attempt.objects.values_list("guards", flat=True).latest("pk")
    return any(entry["is_waiting"] for entry in evidence)


def test_a_plan_goes_on_after_its_agent_was_killed_while_a_guard_waited(stack: Stack) -> None:
    stack.start_beat(quick=True)
    plan = start(stack)
    path = until(lambda: f"the test file\n{stack.logs()}", 60, lambda: test_file(stack))
    with in_memory(path):
        until(lambda: f"a guard that waits\n{stack.logs()}", 60, lambda: is_waiting(stack))
        stack.kill("agent")
        assert stack.fio_processes() == []
        time.sleep(1)
        stack.start_agent()
        with lab_scope(stack.lab.pk):
            attempt = Attempt.objects.get()
            assert (attempt.state, attempt.started_at) == (State.ACCEPTED, None)
        before = attempt.lease_until
        until("its lease is renewed", 30, lambda: stack.attempt(attempt.run).lease_until > before)
        assert stack.fio_processes() == []

    def state() -> str:
        with lab_scope(stack.lab.pk):
            return str(Execution.objects.get(plan=plan).state)

    until(lambda: f"the plan is done\n{stack.logs()}", 120, lambda: state() == "done")
    with lab_scope(stack.lab.pk):
        planned = list(PlannedRun.objects.filter(row__plan=plan).select_related("run").order_by("run_id"))
        assert [entry.round for entry in planned] == list(range(1, ROUNDS + 1))
        assert {entry.run.state for entry in planned} == {State.FINISHED}, stack.logs()
        assert set(Counter(Attempt.objects.values_list("run_id", flat=True)).values()) == {1}
        first = {entry["guard"]: entry for entry in planned[0].evidence if entry.get("phase") == "before"}
        assert first["caches_dropped"]["outcome"] == "passed"
        assert first["caches_dropped"]["waited_s"] > 0
        assert first["caches_dropped"]["figures"]["resident_pages"] == 0
        assert first["pause"]["figures"]["seconds"] >= 5
        assert [entry["guard"] for entry in planned[1].evidence if entry["guard"] == "pause"] == []
        assert all("load_before" in entry.run.facts for entry in planned[1:])
        for run in Run.objects.all():
            journal(stack, run)  # fio was started once
