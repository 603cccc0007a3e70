"""What findmnt prints is read whatever its version, and the mount that holds a path is found."""

import pytest

from apps.inventory.discovery.host_facts import kept
from apps.inventory.discovery.tool_values import UnreadableError
from apps.inventory.discovery.tools import findmnt
from tests.inventory import hosts


def test_a_real_virtual_machines_mounts_are_read_with_their_children() -> None:
    read = findmnt.discover(hosts.fixture("guest/findmnt.json"))
    by_target = {mount.target: mount for mount in read.mounts}
    root = by_target["/"]
    assert (root.source, root.fstype, root.numbers, root.size) == ("/dev/vda", "ext4", "254:0", 270553174016)
    assert root.used
    assert root.available
    assert "/sys/fs/cgroup/unified" in by_target


def test_a_list_tells_the_same_targets_as_json() -> None:
    listed, tree = (findmnt.discover(hosts.fixture(f"guest/findmnt{name}")) for name in ("-list.txt", ".json"))
    assert {mount.target for mount in listed.mounts} == {mount.target for mount in tree.mounts}
    assert listed.holder_of("/srv/x") == findmnt.Mount(
        "/", "/dev/vda", fstype="ext4", options="rw,relatime,discard,resv_strict,resuid=65534,resgid=65534"
    )


def test_of_two_mounts_on_one_target_the_later_counts() -> None:
    read = findmnt.discover(
        hosts.findmnt(hosts.mount("/data", "/dev/sda1", "ext4"), hosts.mount("/data", "/dev/sdb1", "xfs"))
    )
    assert [mount.source for mount in read.mounts] == ["/dev/sdb1"]


def test_brackets_after_a_source_are_the_subvolume() -> None:
    [mount] = findmnt.discover(hosts.findmnt(hosts.mount("/home", "/dev/sda2[/@home]", "btrfs"))).mounts
    assert (mount.source, mount.root) == ("/dev/sda2", "/@home")


def test_the_holder_of_a_path_is_the_longest_target_at_a_whole_name() -> None:
    targets = ("/", "/srv", "/srv/fast")
    read = findmnt.discover(hosts.findmnt(*(hosts.mount(t, "/dev/sda1", "ext4") for t in targets)))
    holders = {path: read.holder_of(path) for path in ("/srv/fast/x", "/srv/faster", "/srv", "/home")}
    assert {path: mount.target for path, mount in holders.items() if mount} == {
        "/srv/fast/x": "/srv/fast", "/srv/faster": "/srv", "/srv": "/srv", "/home": "/",
    }  # fmt: skip


def test_blanks_in_names_of_a_list_are_unescaped() -> None:
    read = findmnt.discover("TARGET SOURCE FSTYPE OPTIONS\n/mnt/my\\x20disk //nas/a\\x20b cifs rw\n")
    assert (read.mounts[0].target, read.mounts[0].source) == ("/mnt/my disk", "//nas/a b")


def test_kept_are_those_on_disks_and_the_one_that_holds_a_wanted_path() -> None:
    read = findmnt.discover(
        hosts.findmnt(
            hosts.mount("/", "overlay", "overlay"),
            hosts.mount("/boot", "/dev/sda1", "ext4"),
            hosts.mount("/etc/hosts", "/dev/sda1[/containers/hosts]", "ext4"),
            hosts.mount("/home", "/dev/sda2[/@home]", "btrfs"),
            hosts.mount("/snap/core/1", "/dev/loop0", "squashfs"),
            hosts.mount("/tank/data", "tank/data", "zfs"),
            hosts.mount("/dev/shm", "tmpfs", "tmpfs"),
            hosts.mount("/nfs", "nas:/export", "nfs4"),
        )
    )
    assert {mount.target for mount in kept(read, [])} == {"/boot", "/home", "/tank/data"}
    assert {mount.target for mount in kept(read, ["/srv/spindle"])} == {"/", "/boot", "/home", "/tank/data"}
    assert "/nfs" in {mount.target for mount in kept(read, ["/nfs/bench"])}


def test_relative_and_overlong_targets_are_passed_over_with_a_warning() -> None:
    odd = hosts.findmnt(
        hosts.mount("sda", "x", "ext4"), hosts.mount("/" + "a" * 600, "x", "ext4"), hosts.mount("/ok", "x", "ext4")
    )
    read = findmnt.discover(odd)
    assert [mount.target for mount in read.mounts] == ["/ok"]
    assert "2 targets passed over" in read.warnings[0]


def test_what_is_no_list_of_filesystems_is_said() -> None:
    with pytest.raises(UnreadableError, match="expected filesystems with a list"):
        findmnt.discover('{"filesystems": {"target": "/"}}')
