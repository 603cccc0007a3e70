"""On which disks a directory lies: this machine's own, and device trees laid out as the kernel does it."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from worker.agent import mount

PCI = "devices/pci0000:00/0000:00:1f.2"


class Tree:
    """A /sys of links and folders, with one filesystem mounted on `folder`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sys, self.folder, self.monkeypatch = folder / "sys", folder / "mounted", monkeypatch
        (self.sys / "class/block").mkdir(parents=True)
        (self.sys / "dev/block").mkdir(parents=True)
        self.folder.mkdir()
        monkeypatch.setattr(mount, "SYS", str(self.sys))
        monkeypatch.setattr(mount, "MOUNTS", str(folder / "mountinfo"))

    def device(self, path: str, *slaves: str, **files: str) -> None:
        """`device("devices/…/sda", "below", partition="1")`."""
        here = self.sys / path
        (here / "slaves").mkdir(parents=True)
        for name in slaves:
            (here / "slaves" / name).touch()
        for name, text in files.items():
            (here / name).write_text(text)
        (self.sys / "class/block" / here.name).symlink_to(here)

    def mount(self, name: str = "", kind: str = "ext4", at: Path | None = None) -> tuple[set[str] | None, bool]:
        """The disks below the folder, once `name` is mounted there."""
        number = os.stat(self.folder).st_dev
        if name:
            link = self.sys / f"dev/block/{os.major(number)}:{os.minor(number)}"
            link.symlink_to(self.sys / "class/block" / name)
        point = str(at or self.folder).replace(" ", "\\040")
        lines = [
            "22 1 0:21 / / rw - rootfs rootfs rw",
            f"40 22 0:40 / {point} rw shared:1 - {kind} /dev/{name or 'pool'} rw",
        ]
        Path(mount.MOUNTS).write_text("\n".join(lines))
        return mount.disks_below(str(self.folder))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return Tree(tmp_path, monkeypatch)


def disk(tree: Tree, name: str, at: str = f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block") -> None:
    tree.device(f"{at}/{name}")


def test_a_partition_lies_on_its_disk(tree: Tree) -> None:
    disk(tree, "sda")
    tree.device(f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/sda/sda1", partition="1")
    assert tree.mount("sda1") == ({"sda"}, True)


def test_a_volume_over_an_array_of_partitions_lies_on_all_its_members(tree: Tree) -> None:
    for name in ("sda", "sdb", "sdc"):
        disk(tree, name)
    for name in ("sda", "sdb"):
        tree.device(f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/{name}/{name}2", partition="2")
    tree.device("devices/virtual/block/md0", "sda2", "sdb2")
    tree.device("devices/virtual/block/dm-0", "md0")
    assert tree.mount("dm-0") == ({"sda", "sdb"}, True)


def test_members_of_btrfs(tree: Tree) -> None:
    for name in ("sda", "sdb", "sdc"):
        disk(tree, name)
    for name in ("pool", "sdb"):
        (tree.sys / "fs/btrfs/0f0f/devices").mkdir(parents=True, exist_ok=True)
        (tree.sys / "fs/btrfs/0f0f/devices" / name).touch()
    tree.device(f"{PCI}/block/pool")
    assert tree.mount(kind="btrfs") == ({"pool", "sdb"}, True)


def test_btrfs_reads_ahead_by_itself_whatever_its_disks_are_set_to(tree: Tree) -> None:
    disk(tree, "pool")
    queue = tree.sys / f"{PCI}/ata1/host0/target0:0:0/0:0:0:0/block/pool/queue"
    queue.mkdir()
    (queue / "read_ahead_kb").write_text("8192\n")
    for folder in ("devices", "bdi"):
        (tree.sys / "fs/btrfs/0f0f" / folder).mkdir(parents=True)
    (tree.sys / "fs/btrfs/0f0f/devices/pool").touch()
    (tree.sys / "fs/btrfs/0f0f/bdi/read_ahead_kb").write_text("4096\n")
    tree.mount(kind="btrfs")
    handle = os.open(tree.folder, os.O_RDONLY)
    found = mount.settings_below(handle)
    os.close(handle)
    assert found["device"] == {"read_ahead_kb": "4096"}
    assert found["disks"]["pool"] == {"read_ahead_kb": "8192"}


@pytest.mark.parametrize(("kind", "found"), [("nfs4", (None, False)), ("zfs", (None, True)), ("tmpfs", (set(), True))])
def test_filesystems_without_a_device(tree: Tree, kind: str, found: Any) -> None:
    assert tree.mount(kind=kind) == found


def test_a_disk_that_no_one_knows_the_below_of_is_not_guessed(tree: Tree) -> None:
    tree.device("devices/virtual/block/nbd0")
    assert tree.mount("nbd0") == (None, False)


@pytest.mark.parametrize(("transport", "is_local"), [("pcie", True), ("tcp", False)])
def test_nvme_with_several_paths_may_be_remote(tree: Tree, transport: str, is_local: bool) -> None:
    above = "devices/virtual/nvme-subsystem/nvme-subsys0"
    tree.device(f"{above}/nvme0n1")
    (tree.sys / above / "nvme0").mkdir()
    (tree.sys / above / "nvme0" / "transport").write_text(transport + "\n")
    assert tree.mount("nvme0n1") == ({"nvme0n1"}, is_local)


def test_a_disk_over_iscsi_is_remote(tree: Tree) -> None:
    disk(tree, "sdx", at="devices/platform/host7/session1/target7:0:0/7:0:0:1/block")
    assert tree.mount("sdx") == ({"sdx"}, False)


def test_the_last_mount_of_the_longest_place_counts(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "with blank").mkdir()
    tree.folder = tmp_path / "with blank"
    assert tree.mount(kind="tmpfs", at=tmp_path / "with") == (None, False), "a name that only begins alike"
    assert tree.mount(kind="tmpfs") == (set(), True)


def test_a_loop_device_lies_where_its_file_lies(tmp_path: Path) -> None:
    """A real one, where this account may make it."""
    own, file = mount.disks_below(str(tmp_path))[0], tmp_path / "image"
    file.write_bytes(b"\0" * 2**20)
    made = subprocess.run(["losetup", "-f", "--show", str(file)], capture_output=True, text=True, check=False)
    if made.returncode or own is None:
        pytest.skip("no loop device, or no disk below the temporary folder")
    device = made.stdout.strip()
    try:
        assert mount._whole(f"/sys/class/block/{os.path.basename(device)}") == own
    finally:
        subprocess.run(["losetup", "-d", device], check=True)
