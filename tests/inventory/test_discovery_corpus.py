"""Other people's real lsblk, findmnt and mdstat against the true values that the corpus index lists."""

import re
from pathlib import Path

import pytest

from apps.inventory.discovery.models import Layer
from apps.inventory.discovery.storage.layers import Layers
from apps.inventory.discovery.tools import findmnt, mdstat
from apps.inventory.discovery.tools.lsblk import devices as lsblk
from tests.parsers.corpus import folder


def index(format_name: str) -> dict[str, str]:
    """File → its last column, the true values."""
    lines = (folder(format_name).parent / "INDEX.md").read_text().splitlines()
    rows = [line.strip("| ").split("|") for line in lines if line.startswith("| ") and line.count("|") > 5]
    names = {path.name for path in folder(format_name).iterdir()}
    return {row[0].strip(): row[-1].strip() for row in rows if row[0].strip() in names}


def each(format_name: str, pattern: str) -> list[Path]:
    return sorted(folder(format_name).glob(pattern))


def test_every_mdstat_has_the_arrays_members_and_sizes_of_the_index() -> None:
    truths = index("mdstat")
    assert len(truths) == len(each("mdstat", "*.txt"))
    for file, truth in truths.items():
        read = mdstat.discover((folder("mdstat") / file).read_text())
        arrays = read.by_name()
        assert len(arrays) == int(truth.split()[0]), file
        assert read.warnings == (), file
        for name, activity, members, blocks in re.findall(r"(md\d+): (\w+) (?:raid\d+ )?([^,;]*), (\d+) blocks", truth):
            array = arrays[name]
            assert (array.activity, array.size) == (activity, int(blocks) * 1024), file
            printed = set(re.findall(r"(\w+)\[(\d+)\]", members))
            assert printed <= {(member.device, str(member.number)) for member in array.members}, file


def test_what_the_index_says_md_is_busy_with() -> None:
    for file, truth in index("mdstat").items():
        for action, percent in re.findall(r"(resync|recovery|check|reshape) ([\d.]+) %", truth):
            arrays = mdstat.discover((folder("mdstat") / file).read_text()).arrays
            assert (action, round(float(percent) / 100, 4)) in {(a.action, a.progress) for a in arrays}, file


def test_every_state_in_one_file() -> None:
    arrays = mdstat.discover((folder("mdstat") / "nodeexporter-many-arrays.txt").read_text()).by_name()
    states = {name: arrays[name].state for name in ("md3", "md4", "md6", "md7", "md9", "md11", "md201")}
    assert states == {"md3": "clean", "md4": "inactive", "md6": "recovering", "md7": "degraded", "md9": "resyncing",
                      "md11": "resyncing", "md201": "checking"}  # fmt: skip
    assert [name for name, array in arrays.items() if array.is_container] == ["md219"]
    assert {m.device: m.state for m in arrays["md11"].members} == {
        "sdb2": "in sync", "sdc2": "in sync", "sdc3": "faulty", "ssdc2": "spare", "hda": "spare",
    }  # fmt: skip


@pytest.mark.parametrize("printed", ["1.4M", "223.6G"])
def test_rounded_sizes_of_the_index_are_read(printed: str) -> None:
    assert lsblk.discover(f'{{"blockdevices": [{{"name": "a", "size": "{printed}"}}]}}').devices[0].size


def test_every_lsblk_json_has_the_first_devices_of_the_index() -> None:
    for file, truth in index("lsblk").items():
        if not file.endswith(".json"):
            continue
        read = lsblk.discover((folder("lsblk") / file).read_text())
        devices = read.by_kname()
        assert read.warnings == (), file
        for name, kind, size in re.findall(r"(?:/dev/)?(\w+) type (\w+) size (\S+?)(?:;|$| )", truth):
            factor = 1024 ** "BKMGT".index(size[-1]) if size[-1] in "KMGT" else 1
            assert (devices[name].type, devices[name].size) == (kind, int(float(size.rstrip("KMGT")) * factor)), file


def test_lvm_over_four_loop_devices() -> None:
    read = lsblk.discover((folder("lsblk") / "generated-J-O-simple-lvm.json").read_text())
    storage = Layers(read, None).storage()
    [volume] = storage.arrays
    assert (volume.software, volume.level, [m.layer.name for m in volume.members]) == (
        "LVM",
        "linear",
        ["loop0", "loop1", "loop2", "loop3"],
    )
    models = {disk.device_name: disk.model for disk in storage.disks}
    assert (models["sda"], models["loop0"]) == ("KINGSTON SH103S3", "loop device")


def test_bcachefs_over_two_partitions_and_the_disks_beside_it() -> None:
    built = Layers(lsblk.discover((folder("lsblk") / "generated-J-O-multi-devs-bcachefs.json").read_text()), None)
    storage = built.storage()
    [pool] = storage.arrays
    assert (pool.software, [m.partition for m in pool.members]) == ("bcachefs", ["sdc1", "sdc2"])
    assert {d.device_name: d.interface for d in storage.disks} == {"sda": "", "sdb": "", "sdc": "", "nvme0n1": "NVMe"}
    assert built.layer_of("sda3") == Layer("disk", "sda")


def test_a_flat_list_without_parents_still_finds_the_md_device_once() -> None:
    read = lsblk.discover((folder("lsblk") / "checkbox-NVIDIA_DGX_STATION.json").read_text())
    [md0] = Layers(read, None).storage().arrays
    assert (md0.name, md0.level, md0.members) == ("md0", "0", ())


def test_the_wrapped_document_of_a_hyper_v_guest() -> None:
    read = lsblk.discover((folder("lsblk") / "fsinfocat-lsblk-wrapped.json").read_text())
    storage = Layers(read, None).storage()
    assert {(d.device_name, d.is_solid_state) for d in storage.disks} == {("sda", None), ("sdb", None)}


def test_multipath_of_ironics_sample_is_seen_through_or_left_alone() -> None:
    read = lsblk.discover((folder("lsblk") / "ironic-multipath_blk_device_template.json").read_text())
    assert {d.device_name for d in Layers(read, None).storage().disks} >= {"sda", "sdb"}


@pytest.mark.parametrize(
    ("file", "count", "root", "parents"),
    [
        ("jc-centos-7.7-lsblk.txt", 6, "centos-root", ("sda2",)),
        ("vps-do-5bucks-ubuntu-lsblk.txt", 2, "vda1", ("vda",)),
    ],
)
def test_tables_of_lsblk(file: str, count: int, root: str, parents: tuple[str, ...]) -> None:
    read = lsblk.discover((folder("lsblk") / file).read_text())
    assert len(read.devices) == count
    assert [(one.kname, one.parents) for one in read.devices if "/" in one.mountpoints] == [(root, parents)]


def test_findmnt_of_a_real_cloud_guest() -> None:
    read = findmnt.discover((folder("findmnt") / "fsinfocat-findmnt.json").read_text())
    by_target = {mount.target: mount for mount in read.mounts}
    assert (by_target["/sys"].fstype, by_target["/sys"].source) == ("sysfs", "sysfs")
    assert 41 <= len(read.mounts) <= 42  # 42 lines; one target is mounted over
    assert by_target["/"].source.startswith("/dev/")


@pytest.mark.parametrize(
    ("file", "source", "targets"),
    [
        ("utillinux-outputs-default.txt", "/dev/sda4", 29),
        ("utillinux-outputs-pairs.txt", "/dev/sda4", 29),
        ("jc-centos7-findmnt.txt", "/dev/mapper/centos-root", 32),
    ],
)
def test_tree_table_and_pairs_of_findmnt(file: str, source: str, targets: int) -> None:
    read = findmnt.discover((folder("findmnt") / file).read_text())
    assert [mount.source for mount in read.mounts if mount.target == "/"] == [source]
    assert len(read.mounts) == targets  # of two on one target only the upper one counts
    assert all("1 targets passed over" in warning for warning in read.warnings)  # a last line `rc=0`
