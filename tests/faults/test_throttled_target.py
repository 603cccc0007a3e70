"""A search for saturation whose answer is known: the kernel lets the target's device do so many I/Os a second, no more."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Run
from apps.studies.models import Plan
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.saturation.ladder import LadderLoad, double_in_turn
from apps.studies.plans.saturation.row_ladders import RowLadder
from tests.faults.mounts import MountingHost, can_mount
from tests.faults.stack import MIB, until
from tests.faults.test_filesystem_matrix import host

__all__ = ["host"]
GROUPS = Path("/sys/fs/cgroup/blkio")
pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.long,
    pytest.mark.skipif(
        not (can_mount("ext4") and (GROUPS / "blkio.throttle.read_iops_device").exists()),
        reason="this machine mounts no image files, or cannot throttle them by control groups",
    ),
]
LIMIT = 400  # I/Os a second, of reads and of writes each
DEPTHS, JOBS = [1, 8, 32, 64], [1, 8]
# The kernel lets the I/Os of a tenth of a second through together, so that percentiles of a light load are short or
# 100 ms long with 2 to 39 in flight, and more than that with 64, of which each waits 64 ÷ 400 s on average.
BETWEEN_DEPTHS, BETWEEN_JOBS = 130, 60  # bounds in ms


def group_of(host: MountingHost) -> Path:
    return GROUPS / f"spindle-{host.holder.pid}"


def join(host: MountingHost) -> None:
    """Put the agent into the control group, and so all that it starts."""
    (group_of(host) / "cgroup.procs").write_text(str(host.stack.processes["agent"].pid))


@pytest.fixture
def throttled(host: MountingHost) -> Iterator[MountingHost]:
    """A host with one directory, whose device is throttled for the agent and all that it starts."""
    group = group_of(host)
    group.mkdir()
    try:
        host.mount("ext4", "disk")
        host.call("chmod", "700", str(host.path("disk")))
        host.enrol("disk")
        host.start_agent()
        join(host)
        for way in ("read", "write"):
            (group / f"blkio.throttle.{way}_iops_device").write_text(f"{host.loop_device('disk')} {LIMIT}")
        host.stack.start_beat()
        until(host.stack.logs, 60, lambda: "disk" in host.targets())
        yield host
    finally:
        for process in (group / "cgroup.procs").read_text().split():
            (GROUPS / "cgroup.procs").write_text(process)
        time.sleep(0.2)
        group.rmdir()


def kill_agent(host: MountingHost, plan: Plan) -> None:
    """Kill the agent while the second point is measured, and start it again."""

    def is_under_way() -> bool:
        with lab_scope(host.stack.lab.pk):
            runs = Run.objects.filter(planned_run__row__plan=plan).order_by("pk")
            return [run.state for run in runs] == ["finished", "running"]

    until(host.stack.logs, 90, is_under_way)
    host.stack.kill("agent")
    host.start_agent()
    join(host)


def search(
    host: MountingHost, loads: list[LadderLoad], bound: int, *, is_killed: bool = False, **job: Any
) -> tuple[Plan, RowLadder]:
    """Carry a search out; with `is_killed` the agent is killed in the middle of it."""
    stack, target = host.stack, host.targets()["disk"]
    whole = {"direct": True, "sync": "none", "time_based": True, "runtime": 6, **job}
    point = {"tool": "fio", "file_size": 16 * MIB, "block_size": 4096, "job": whole}
    points = [
        {**point, "name": f"d{load.depth}-j{load.jobs}", "iodepth": load.depth, "threads": load.jobs} for load in loads
    ]
    rule = {"kind": "saturation", "percentile": 95, "bound_ms": bound, "rounds": 1}
    with lab_scope(stack.lab.pk):
        title = " ".join(map(str, job.values()))
        plan = services.create_plan(services.PlanRequest(stack.lab, title, [target], points, rule), actor="test")
        services.start_plan(plan, actor="test")

    if is_killed:
        kill_agent(host, plan)

    def is_done() -> bool:
        with lab_scope(stack.lab.pk):
            return bool(Execution.objects.get(plan=plan).state == "done")

    until(stack.logs, 240, is_done)
    with lab_scope(stack.lab.pk):
        [ladder] = PlanPage(Plan.objects.whole().get(pk=plan.pk), runs_of(plan.study)).ladders
    return plan, ladder


def assert_known(host: MountingHost, plan: Plan, found: RowLadder) -> None:
    ladder = found.ladder
    assert ladder.best is not None, found.statement
    assert ladder.passed is not None, found.statement
    best = ladder.results[ladder.best]
    assert best.iops == pytest.approx(LIMIT, rel=0.05), found.statement
    assert ladder.lightest == 0, f"one I/O in flight is enough: {found.statement}"
    with lab_scope(host.stack.lab.pk):
        made = Run.objects.filter(planned_run__row__plan=plan)
        assert made.count() == ladder.passed + 1, "nothing heavier is measured, and nothing twice"
        assert set(made.values_list("state", flat=True)) == {"finished"}


def test_the_limit_of_a_throttled_device_is_found(throttled: MountingHost) -> None:
    by_jobs, by_depth = double_in_turn([1], JOBS), double_in_turn(DEPTHS, [1])
    assert_known(throttled, *search(throttled, by_jobs, BETWEEN_JOBS, rw="randread", ioengine="psync", is_killed=True))
    assert_known(throttled, *search(throttled, by_depth, BETWEEN_DEPTHS, rw="randwrite", ioengine="libaio"))
    through_cache = {"rw": "randread", "ioengine": "libaio", "direct": False}
    assert_known(throttled, *search(throttled, by_depth, BETWEEN_DEPTHS, **through_cache))
