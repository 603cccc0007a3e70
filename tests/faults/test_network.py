"""Real cuts of the network between two hosts and the server, while a plan runs on both: nothing twice, nothing lost.

Each host is an agent in namespaces of its own, with its own machine id, name and ext4 filesystem.
"""

import subprocess
import time
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Attempt, Run
from apps.runs.states import State
from apps.studies.models import Plan, PlannedRun
from tests.faults.namespaces import NamespaceHost, explain_missing
from tests.faults.stack import Stack, until
from tests.sampling import IS_LONG

MISSING = explain_missing()
pytestmark = [pytest.mark.faults, pytest.mark.fio, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
MIB, ROUNDS = 1 << 20, 2
CUT_S = 90 if IS_LONG else 3  # a lease is 60 s
JOB = {"rw": "randwrite", "direct": False, "sync": "none", "time_based": True, "runtime": 3}


@pytest.fixture
def hosts(transactional_db: None, cast, tmp_path) -> Iterator[list[NamespaceHost]]:  # type: ignore[no-untyped-def]
    """Two hosts beside each other, enrolled and described."""
    stack = Stack(tmp_path, cast.lab, listen="0.0.0.0")  # the hosts come by their own networks
    made = [NamespaceHost(stack, number) for number in (1, 2)]
    try:
        stack.start_web()
        stack.start_worker()
        stack.start_dispatcher()
        stack.start_beat()
        for host in made:
            host.make()
            host.enrol()
            host.start_agent()
        until(lambda: f"both describe themselves\n{stack.logs()}", 60, lambda: all(host.target() for host in made))
        yield made
    finally:
        for host in made:
            host.remove()
        stack.down()


def start_plan(hosts: list[NamespaceHost]) -> Plan:
    stack = hosts[0].stack
    points = [{"name": "4k", "tool": "fio", "file_size": 4 * MIB, "block_size": 4096, "job": JOB}]
    targets = [target for host in hosts if (target := host.target())]
    request = services.PlanRequest(stack.lab, "Through cuts", targets, points, {"kind": "fixed", "rounds": ROUNDS})
    with lab_scope(stack.lab.pk):
        plan = services.create_plan(request, actor="test")
        services.start_plan(plan, actor="test")
    return plan


def running_on(host: NamespaceHost) -> Run | None:
    target = host.target()
    assert target
    with lab_scope(host.stack.lab.pk):
        return Run.objects.filter(host=target.host, state=State.RUNNING).first()


def check_machines(hosts: list[NamespaceHost]) -> None:
    """Check that each host is a machine with a filesystem of its own."""
    targets = [host.target() for host in hosts]
    assert [target.host.name for target in targets if target] == [host.name for host in hosts]
    stacks = [target.filesystem for target in targets if target]
    assert [filesystem.type for filesystem in stacks if filesystem] == ["ext4", "ext4"]
    assert len({filesystem.uuid for filesystem in stacks if filesystem}) == 2


def test_a_plan_goes_on_through_a_cut_of_one_hosts_network(hosts: list[NamespaceHost]) -> None:
    lost, other = hosts
    stack = lost.stack
    check_machines(hosts)
    plan = start_plan(hosts)
    run = until(lambda: f"a run on the first host\n{stack.logs()}", 60, lambda: running_on(lost))
    lost.cut()
    target = other.target()
    assert target

    def has_gone_on() -> bool:
        with lab_scope(stack.lab.pk):
            return bool(Run.objects.filter(host=target.host, state=State.FINISHED).exists())

    time.sleep(CUT_S)
    until(lambda: f"the other host has gone on\n{stack.logs()}", 60, has_gone_on)
    with lab_scope(stack.lab.pk):
        run.refresh_from_db()
        assert run.state in (State.RUNNING, State.UNKNOWN), "nobody can know how it ended"
        if IS_LONG:
            assert run.state == State.UNKNOWN
    lost.join()
    with lab_scope(stack.lab.pk):
        until(
            lambda: f"the plan is done\n{stack.logs()}", 150, lambda: Execution.objects.get(plan=plan).state == "done"
        )
        planned = PlannedRun.objects.filter(row__plan=plan).select_related("run")
        assert {entry.run.state for entry in planned} == {State.FINISHED}
        assert len(planned) == 2 * ROUNDS
        assert Attempt.objects.count() == 2 * ROUNDS, "none was tried twice"
    call_command("check_ledger", *(f"--spool={host.state}" for host in hosts))


@pytest.mark.long
def test_a_cable_that_is_pulled_again_and_again_loses_nothing(hosts: list[NamespaceHost]) -> None:
    lost, _ = hosts
    stack = lost.stack
    plan = start_plan(hosts)
    for _number in range(12 if IS_LONG else 4):
        time.sleep(1)
        lost.cut()
        time.sleep(1.5)
        lost.join()
    with lab_scope(stack.lab.pk):
        until(
            lambda: f"the plan is done\n{stack.logs()}", 150, lambda: Execution.objects.get(plan=plan).state == "done"
        )
        assert Run.objects.filter(state=State.FINISHED).count() == 2 * ROUNDS
        assert Attempt.objects.count() == 2 * ROUNDS
    call_command("check_ledger", *(f"--spool={host.state}" for host in hosts))
    left = subprocess.run(["ip", "netns", "pids", lost.name], capture_output=True, text=True, check=True).stdout.split()
    assert len(left) <= 3, f"nothing but the agent is left on the host: {left}"
