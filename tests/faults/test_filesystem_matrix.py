"""A matrix of filesystems on one host with real mounts: while one is away nothing of it runs on what lies there instead."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.plans import services
from apps.plans.models import Execution
from apps.runs.models import Run
from apps.studies.models import Plan
from tests.faults.mounts import MountingHost, can_mount
from tests.faults.stack import MIB, Stack, until
from tests.page_text import page_text

pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.long,
    pytest.mark.skipif(not can_mount("ext4"), reason="this machine mounts no image files"),
]
OTHER = next((kind for kind in ("xfs", "btrfs", "ext2") if can_mount(kind)), "ext4")
JOB = {"rw": "randwrite", "direct": True, "sync": "none", "time_based": True, "runtime": 1, "ioengine": "psync"}
POINT = {"tool": "fio", "name": "rw", "file_size": 8 * MIB, "block_size": 4096, "iodepth": 1, "threads": 1, "job": JOB}
NAMES = ("plain", "journal", "bound", "other", "memory")


@pytest.fixture
def host(transactional_db: None, cast: Any, tmp_path: Any) -> Iterator[MountingHost]:
    stack, host = Stack(tmp_path, cast.lab), None
    try:
        stack.start_web()
        stack.start_worker()
        stack.start_dispatcher()
        host = MountingHost(stack)
        yield host
    finally:
        stack.down()
        if host:
            host.remove()


def prepare(host: MountingHost) -> Any:
    """Mount five directories and start the agent; return the image of `other`, which is mounted again later."""
    host.mount("ext4", "plain")
    host.mount("ext4", "journal", "data=journal,noatime")
    image = host.mount(OTHER, "other")
    host.mount("tmpfs", "memory", "size=100m")
    host.call("mkdir", str(host.path("plain") / "below"))
    host.bind("plain/below", "bound")
    host.call("chmod", "700", *(str(host.path(name)) for name in NAMES))
    host.enrol(*NAMES)
    host.start_agent()
    host.stack.start_beat()
    until(host.stack.logs, 60, lambda: len(host.targets()) == len(NAMES))
    return image


def runs_of(plan: Plan, name: str) -> list[Run]:
    runs = Run.objects.filter(planned_run__row__plan=plan, target__path__endswith=f"/{name}")
    return list(runs.select_related("target").order_by("pk"))


def test_each_cell_is_measured_on_its_filesystem_or_waits(host: MountingHost, sign_in: Callable[[str], Client]) -> None:
    stack, image = host.stack, prepare(host)
    targets = host.targets()
    with lab_scope(stack.lab.pk):
        rows = [targets[name] for name in NAMES]
        rule, guards = {"kind": "fixed", "rounds": 2}, [{"kind": "filesystem"}]
        wanted = services.PlanRequest(stack.lab, "Filesystems", rows, [POINT], rule, guards=guards)
        plan = services.create_plan(wanted, actor="test")
    host.unmount("other")  # and the plan begins before the host's next report
    with lab_scope(stack.lab.pk):
        services.start_plan(plan, actor="test")

    def waits() -> list[str]:
        with lab_scope(stack.lab.pk):
            return [wait.reason for wait in Execution.objects.get(plan=plan).waits.all()]

    until(stack.logs, 200, lambda: any("takes no runs now" in reason for reason in waits()))
    assert any("other is not mounted" in reason for reason in waits()), waits()
    with lab_scope(stack.lab.pk):
        states = {name: [run.state for run in runs_of(plan, name)] for name in NAMES}
        assert "finished" not in states.pop("other"), "nothing of it ran on what lies below the mount point"
        assert states == {name: ["finished"] * 2 for name in NAMES if name != "other"}
    page = page_text(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "takes no runs now" in page

    host.mount("ext4", "other")
    successor = until(stack.logs, 90, lambda: host.targets().get("other"))
    assert (successor.pk != targets["other"].pk, successor.lies_on["type"]) == (True, "ext4")
    time.sleep(12)  # the sweep has looked at the plan again
    with lab_scope(stack.lab.pk):
        assert not Run.objects.filter(target=successor).exists(), "it is another target, and not in the plan"
        gone = Target.objects.get(pk=targets["other"].pk)
    assert "lies on ext4" in gone.gone_reason

    host.unmount("other")
    host.mount_image(image, "other")

    def is_done() -> bool:
        with lab_scope(stack.lab.pk):
            return bool(Execution.objects.get(plan=plan).state == "done")

    until(stack.logs, 150, is_done)
    kinds = dict(zip(NAMES, ("ext4", "ext4", "ext4", OTHER, "tmpfs"), strict=True))
    with lab_scope(stack.lab.pk):
        finished = {name: [run for run in runs_of(plan, name) if run.state == "finished"] for name in NAMES}
        assert {name: len(runs) for name, runs in finished.items()} == dict.fromkeys(NAMES, 2)
        for name, runs in finished.items():
            for run in runs:
                lies_on = {**run.target.lies_on}
                assert run.target_id == targets[name].pk
                assert run.facts["filesystem"] == run.place["type"] == kinds[name]
                assert run.place.get("uuid", "") == lies_on.get("uuid", "")
                assert run.place["mount_point"] == str(host.path(name))
    options = {name: runs[0].facts["mount_options"] for name, runs in finished.items()}
    assert "data=journal" in options["journal"]
    assert "data=journal" not in options["plain"]
    question = page_text(sign_in("viewer").get("/compare/questions/filesystem/").content.decode())
    assert all(kind in question for kind in {"ext4", OTHER, "tmpfs"})
