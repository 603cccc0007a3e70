"""Only what a command would have listed can be missing from its output."""

import json
from typing import Any

import pytest

from apps.inventory.discovery.looks import ARRAYS, DISKS, FILESYSTEMS, command_above, look_of
from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, Disk, Filesystem, Host
from apps.labs.models import Lab
from tests.inventory import hosts
from tests.inventory.hosts import device, findmnt, lsblk, mount, output, part
from tests.sampling import for_each

WHOLE = {DISKS, ARRAYS, FILESYSTEMS}
COMMANDS = [
    ("lsblk", "$ lsblk", WHOLE), ("lsblk", "root@box:~# lsblk -J -O -b", WHOLE), ("lsblk", "# sudo lsblk -o NAME,SIZE --bytes", WHOLE),
    ("lsblk", "% lsblk -fp 2>/dev/null", WHOLE), ("lsblk", "$ lsblk | tee disks.txt", WHOLE), ("lsblk", "$ lsblk -e7 -o+UUID", WHOLE),
    ("lsblk", "$ lsblk --exclude 7,11 --list", WHOLE), ("lsblk", "+ /usr/bin/lsblk -r", WHOLE),
    ("lsblk", "$ LC_ALL=C lsblk -l", WHOLE), ("lsblk", "➜  ~ lsblk", WHOLE), ("lsblk", "lsblk", WHOLE),
    ("lsblk", "$ lsblk -dno NAME,SIZE", {DISKS}), ("lsblk", "# lsblk --nodeps -J", {DISKS}),
    ("lsblk", "$ lsblk /dev/sdq", set()), ("lsblk", "$ lsblk -f /dev/sdq /dev/sdr", set()), ("lsblk", "$ lsblk -I 8,259", set()),
    ("lsblk", "$ lsblk --include 8", set()), ("lsblk", "# lsblk -S", set()), ("lsblk", "$ lsblk --nvme", set()),
    ("lsblk", "$ lsblk -e 8", set()), ("lsblk", "$ lsblk | grep -v loop", set()), ("lsblk", "$ lsblk -o NAME | head -3", set()),
    ("lsblk", "$ for d in q r; do lsblk /dev/sd$d; done", set()), ("lsblk", "$ ls /dev/sd? | xargs lsblk", set()),
    ("lsblk", "$ lsblk --an-option-of-tomorrow", set()), ("lsblk", "what lsblk says", set()), ("lsblk", "", set()),
    ("findmnt", "$ findmnt", WHOLE), ("findmnt", "$ findmnt --real -o TARGET,SOURCE,FSTYPE", WHOLE), ("findmnt", "$ findmnt -lnb", WHOLE),
    ("findmnt", "$ findmnt /srv", set()), ("findmnt", "$ findmnt -t xfs,ext4", set()), ("findmnt", "$ findmnt -S /dev/sdq1", set()),
    ("findmnt", "$ findmnt -no SOURCE -T /srv/x", set()), ("findmnt", "$ findmnt --types btrfs", set()), ("findmnt", "$ findmnt -R /mnt", set()),
    ("findmnt", "$ findmnt --fstab", set()), ("findmnt", "$ findmnt | grep xfs", set()),
    ("mdstat", "$ cat /proc/mdstat", WHOLE), ("mdstat", "$ cat /proc/mdstat | grep -A3 md7", set()), ("mdstat", "$ grep -A3 md7 /proc/mdstat", set()),
    ("mdstat", "# head -4 /proc/mdstat", set()),
    ("lspci", "# lspci -nnvvv", WHOLE), ("lspci", "$ lspci -s 3:0.0 -vv", set()), ("lspci", "$ lspci -d 8086:", set()),
    ("lspci", "$ lspci | grep -i raid", set()),
]  # fmt: skip


@for_each("tool, command, kinds", COMMANDS)
def test_a_command_line_tells_what_was_looked_at(tool: str, command: str, kinds: set[str]) -> None:
    words = command_above([command], 1, tool)
    assert look_of(tool, words, "").kinds == kinds


def test_options_tell_what_was_left_out() -> None:
    without_loops = look_of("lsblk", ["lsblk", "-e7"], "")
    assert (without_loops.lists(DISKS, "sdq"), without_loops.lists(DISKS, "loop3")) == (True, False)
    real = look_of("findmnt", ["findmnt", "--real"], "")
    assert (real.lists(FILESYSTEMS, "xfs"), real.lists(FILESYSTEMS, "tmpfs")) == (True, False)


def test_without_a_command_line_an_output_is_whole_only_where_it_shows_so() -> None:
    whole = "Personalities : [raid1]\nmd7 : active raid1 sdr1[1] sdq1[0]\n      9 blocks [2/2] [UU]\n\nunused devices: <none>\n"
    assert look_of("mdstat", [], whole).is_whole
    assert not look_of("mdstat", [], whole.partition("\n")[2]).is_whole
    mounts = "TARGET SOURCE FSTYPE OPTIONS\n/ /dev/sdq2 ext4 rw\n├─/proc proc proc rw\n└─/sys sysfs sysfs rw\n"
    assert look_of("findmnt", [], mounts).is_whole
    assert not look_of("findmnt", [], mounts.replace("/proc proc", "/prog prog")).is_whole
    assert not look_of("lsblk", [], '{"blockdevices": []}').is_whole


def test_the_command_is_the_nearest_one_of_that_tool() -> None:
    assert command_above(["$ lsblk /dev/sdq", "", "NAME"], 2, "lsblk") == ["lsblk", "/dev/sdq"]
    assert command_above(["$ lsblk", "$ findmnt"], 2, "lsblk") == []
    assert command_above(["$ lsblk", "a", "b", "c", "d"], 5, "lsblk") == []


@pytest.fixture
def host(lab: Lab) -> Host:
    return hosts.host(lab)


def brought(tool: str, command: str, printed: str) -> dict[str, Any]:
    """An output as an upload brings it: with the words of the command line above it, or none."""
    return output(tool, printed) | {"argv": command.split()}


def disk(letter: str, *children: Any, **fields: Any) -> Any:
    return device(f"sd{letter}", *children, model="OWN DISK", serial=f"QQ{letter}000{letter}", **fields)


def raid() -> Any:
    """Two disks whose first partitions are md7, and a third one."""
    pair = [part(f"sd{letter}1", fstype="linux_raid_member") for letter in "qr"]
    for one in pair:
        one["children"] = [device("md7", kind="raid1")]
    return [disk("q", pair[0]), disk("r", pair[1]), disk("s", part("sds1"))]


def present(model: Any = Disk) -> list[str]:
    names = model.objects.filter(is_present=True).order_by("device_name")
    return [one.device_name.removeprefix("/dev/") for one in names]


@pytest.mark.django_db
def test_one_disk_says_nothing_of_the_others(host: Host) -> None:
    receive(host, [brought("lsblk", "lsblk -J -O -b", lsblk(*raid()))])
    before = list(Array.objects.values()), list(Array.objects.get().members.values())
    receive(host, [brought("lsblk", "lsblk -J -O -b /dev/sds", lsblk(disk("s", size=7 * hosts.GIB)))])
    assert present() == ["sdq", "sdr", "sds"]
    assert Disk.objects.get(device_name="sds").capacity_bytes == 7 * hosts.GIB
    assert (list(Array.objects.values()), list(Array.objects.get().members.values())) == before
    receive(host, [brought("lsblk", "lsblk -J -O -b", lsblk(*raid()[:2]))])
    assert present() == ["sdq", "sdr"]


@pytest.mark.django_db
def test_disks_alone_say_nothing_of_arrays_and_tell_which_disk_is_gone(host: Host) -> None:
    receive(host, [brought("lsblk", "lsblk -J -O -b", lsblk(*raid()))])
    receive(host, [brought("lsblk", "lsblk -d -J -b", lsblk(disk("q"), disk("r")))])
    assert present() == ["sdq", "sdr"]
    assert present(Array) == ["md7"]
    assert Array.objects.get().members.count() == 2


@pytest.mark.django_db
def test_what_may_be_anything_marks_nothing_as_gone(host: Host) -> None:
    receive(host, [brought("lsblk", "lsblk -J -O -b", lsblk(*raid()))])
    receive(host, [brought("lsblk", "", lsblk(disk("s"), disk("t")))])
    assert present() == ["sdq", "sdr", "sds", "sdt"]


@pytest.mark.django_db
def test_a_disk_that_has_another_name_in_a_partial_look_is_not_there_twice(host: Host) -> None:
    receive(host, [brought("lsblk", "lsblk -J -O -b", lsblk(disk("q"), disk("r")))])
    moved = device("sdq", model="OWN DISK", serial="QQr000r")
    receive(host, [brought("lsblk", "lsblk -J -O -b /dev/sdq", lsblk(moved))])
    assert sorted(Disk.objects.values_list("serial", "device_name", "is_present")) == [
        ("QQq000q", "sdq", True),
        ("QQr000r", "sdq", True),
    ]


@pytest.mark.django_db
def test_what_was_gone_does_not_come_back_with_a_partial_look(host: Host) -> None:
    for disks in (raid(), raid()[:2]):
        receive(host, [brought("lsblk", "lsblk -J -O -b", lsblk(*disks))])
    receive(host, [brought("lsblk", "lsblk /dev/sdq", lsblk(disk("q")))])
    assert present() == ["sdq", "sdr"]


@pytest.mark.django_db
def test_one_mount_says_nothing_of_the_others(host: Host) -> None:
    mounts = [mount("/", "/dev/sdq2", "ext4"), mount("/srv", "/dev/sdr1", "xfs"), mount("/home", "/dev/sds1", "ext4")]
    receive(host, [brought("findmnt", "findmnt -J", findmnt(*mounts))])
    for command, shown in (("findmnt -J /srv", [mounts[1]]), ("findmnt -J -t ext4", [mounts[0]]), ("", [mounts[2]])):
        receive(host, [brought("findmnt", command, findmnt(*shown))])
        assert sorted(Filesystem.objects.filter(is_present=True).values_list("mount_point", flat=True)) == [
            "/",
            "/home",
            "/srv",
        ]
    receive(host, [brought("findmnt", "findmnt -J", findmnt(*mounts[:2]))])
    assert sorted(Filesystem.objects.filter(is_present=True).values_list("mount_point", flat=True)) == ["/", "/srv"]


@pytest.mark.django_db
def test_a_list_without_types_is_the_same_filesystems(host: Host) -> None:
    receive(host, [brought("findmnt", "findmnt -J", findmnt(mount("/srv", "/dev/sdr1", "xfs")))])
    row = Filesystem.objects.get()
    plain = json.dumps({"filesystems": [{"target": "/srv", "source": "/dev/sdr1", "size": "7G"}]})
    receive(host, [brought("findmnt", "findmnt -J -o TARGET,SOURCE,SIZE", plain)])
    again = Filesystem.objects.get()
    assert (again.pk, again.type, again.is_present, again.size_bytes) == (row.pk, "xfs", True, 7 * hosts.GIB)


@pytest.mark.django_db
def test_a_part_of_mdstat_says_nothing_of_other_arrays(host: Host) -> None:
    whole = (
        "Personalities : [raid1]\nmd7 : active raid1 sdr1[1] sdq1[0]\n      9 blocks [2/2] [UU]\n"
        "md8 : inactive sds1[0](S)\n      9 blocks\n\nunused devices: <none>\n"
    )
    looks = [brought("mdstat", "cat /proc/mdstat", whole), brought("lsblk", "lsblk -J -O -b", lsblk(*raid()))]
    receive(host, looks)
    some = "md7 : active raid1 sdr1[1](F) sdq1[0]\n      9 blocks [2/1] [U_]\n"
    receive(host, [brought("mdstat", "grep -A1 md7 /proc/mdstat", some)])
    assert present(Array) == ["md7", "md8"]
    assert Array.objects.get(name="md7").state == "degraded"


@pytest.mark.django_db
def test_the_agents_own_looks_are_whole(host: Host) -> None:
    receive(host, [output("lsblk", lsblk(*raid())) | {"argv": ["lsblk", "-J", "-O", "-b"]}])
    receive(host, [output("lsblk", lsblk(disk("q"))) | {"argv": ["lsblk", "-J", "-b"]}])
    assert present() == ["sdq"]
    assert present(Array) == []
