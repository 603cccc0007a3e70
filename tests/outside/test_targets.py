"""A target is a host, a path and a filesystem: what is measured on another filesystem is never put down to the old one."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.outside.lab_host import QUICK, LabHost, can_mount, mount, unmount
from tests.outside.product import Client, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long]


@pytest.fixture(scope="module")
def bench(product: Product, owner: Client, admin: Client) -> Iterator[tuple[LabHost, Path]]:
    """A host whose directory lies on a disk (a loop file with ext4) at /…/disk."""
    place = Path(tempfile.mkdtemp(prefix="spindle-disk-", dir="/tmp"))
    disk = place / "disk"
    if not can_mount(disk):
        shutil.rmtree(place)
        pytest.skip("this account may not mount filesystems")
    image = place / "ext4.img"
    subprocess.run(["truncate", "-s", "200M", str(image)], check=True)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    host = LabHost(product, owner, admin, place / "host")
    try:
        mount("--bind", str(place), str(place))
        mount("--make-shared", str(place))  # what is mounted below it later is seen by the agent, too
        mount("-o", "loop", str(image), str(disk))
        host.enrol(disk / "spindle")
        host.approve()
        host.start()
        yield host, place
    finally:
        host.stop()
        for point in (disk, disk, place / "point", place):
            unmount(point)
        shutil.rmtree(place, ignore_errors=True)


def _by_id(host: LabHost, number: int) -> dict[str, Any]:
    return next(one for one in host.targets() if one["id"] == number)


def test_another_filesystem_under_the_directory_is_another_target(bench: tuple[LabHost, Path]) -> None:
    """ext4, unmounted, tmpfs, ext4 again: three states of one path, two targets, and no run in the wrong place."""
    host, place = bench
    disk = place / "disk"
    ext4 = host.target(lies_type="ext4")
    on_ext4 = host.ended(host.run(ext4["id"]))
    assert on_ext4["state"] == "finished", on_ext4["problem"]
    assert (on_ext4["place"]["type"], on_ext4["facts"]["filesystem"]) == ("ext4", "ext4")
    assert on_ext4["place"]["uuid"] == ext4["lies_on"]["uuid"]

    # queued for a disk that is taken away: refused in a sentence, and the agent lives
    host.stop()
    queued = host.run(ext4["id"])
    unmount(disk)
    host.start()
    refused = host.ended(queued)
    assert refused["state"] == "failed"
    assert "spindle" in refused["problem"]
    assert ("not there" in refused["problem"]) or ("No such file" in refused["problem"]), refused["problem"]
    assert host.is_alive
    assert not (disk / "spindle").exists(), "the agent made its directory anew on the filesystem above"
    gone = _by_id(host, ext4["id"])
    assert (gone["takes_runs"], bool(gone["gone_at"]), gone["path"]) == (False, True, ext4["path"])

    # another filesystem at the same path: another target; the old one and its run stay as they were
    mount("-t", "tmpfs", "-o", "size=100m", "tmpfs", str(disk))
    (disk / "spindle").mkdir()
    tmpfs = host.target(lies_type="tmpfs")
    assert tmpfs["id"] != ext4["id"]
    assert tmpfs["path"] == ext4["path"]
    on_tmpfs = host.ended(host.run(tmpfs["id"], direct=False))
    assert on_tmpfs["state"] == "finished", on_tmpfs["problem"]
    assert (on_tmpfs["target"], on_tmpfs["place"]["type"]) == (tmpfs["id"], "tmpfs")
    assert on_tmpfs["facts"]["filesystem"] == "tmpfs"
    assert host.read(on_ext4["id"])["target"] == ext4["id"]
    again = host.admin.send(
        "POST",
        "/api/v1/runs/",
        {"target": ext4["id"], "workload": {"rw": "read", "block_size": 4096, "file_size": 65536}},
    )
    assert again.status == 400
    assert "gone" in again.text
    page = host.owner.get(f"/targets/{ext4['id']}/").text
    assert "Gone, and takes no runs" in page

    # the disk is back: its target takes runs again
    unmount(disk)
    mount("-o", "loop", str(place / "ext4.img"), str(disk))
    back = host.target(lies_type="ext4")
    assert back["id"] == ext4["id"]
    assert host.ended(host.run(back["id"]))["state"] == "finished"
    assert len(host.targets()) == 2


def test_a_mount_point_that_is_not_mounted_takes_no_runs(bench: tuple[LabHost, Path]) -> None:
    """Here the directory itself is the mount point, so it is still there when nothing is mounted on it."""
    host, place = bench
    point = place / "point"
    point.mkdir()
    mount("-t", "tmpfs", "-o", "size=150m,mode=0700", "tmpfs", str(point))
    try:
        _offer(host, point)
        tmpfs = host.target(path=str(point))
        assert host.ended(host.run(tmpfs["id"], direct=False))["state"] == "finished"
        unmount(point)
        wait_until("the target is gone", 60, lambda: _by_id(host, tmpfs["id"])["gone_at"])
        assert "not mounted" in _by_id(host, tmpfs["id"])["gone_reason"]
        assert not [one for one in host.targets() if one["takes_runs"]]
        host_page = host.owner.get(f"/hosts/{host.id}/").text
        assert str(point) in host_page
    finally:
        unmount(point)


def test_another_directory_of_the_same_host_is_another_target(bench: tuple[LabHost, Path]) -> None:
    host, place = bench
    first = place / "first"
    first.mkdir()
    _offer(host, first)
    host.target(path=str(first))
    before = {one["id"]: one["path"] for one in host.targets()}
    second = place / "second"
    second.mkdir()
    _offer(host, second)
    found = host.target(path=str(second))
    assert found["id"] not in before
    after = {one["id"]: one["path"] for one in host.targets()}
    assert before.items() <= after.items(), "an old target was pointed elsewhere"
    assert [one["id"] for one in host.targets() if one["takes_runs"]] == [found["id"]]
    old = next(one for one in host.targets() if one["gone_reason"].endswith(f"offers {second} now"))
    assert old["id"] in before


def test_an_agent_goes_on_whatever_its_directory_becomes(bench: tuple[LabHost, Path]) -> None:
    """A directory that is removed, or replaced by a file, under a living agent."""
    host, place = bench
    third = place / "third"
    third.mkdir()
    _offer(host, third)
    target = host.target(path=str(third))
    shutil.rmtree(third)
    asked = {"target": target["id"], "workload": QUICK}
    answer = host.admin.send("POST", "/api/v1/runs/", asked)  # which of the two hears of it first is open
    assert answer.status in (201, 400), answer.text
    told = host.ended(answer.json()["id"])["problem"] if answer.status == 201 else answer.json()["detail"]
    assert str(third) in told
    third.write_text("a file")
    wait_until("the server hears of it", 60, lambda: not _by_id(host, target["id"])["takes_runs"])
    assert host.is_alive
    third.unlink()
    third.mkdir()
    back = host.target(path=str(third))
    assert back["id"] == target["id"]
    assert host.ended(host.run(back["id"]))["state"] == "finished"
    assert host.is_alive


def _offer(host: LabHost, directory: Path) -> None:
    """As its administrator does: another directory in agent.conf, and the agent started again."""
    host.stop()
    conf = host.state / "agent.conf"
    lines = [line for line in conf.read_text().splitlines() if not line.startswith("directory")]
    conf.write_text("\n".join([*lines, f"directory = {directory}"]) + "\n")
    host.start()
