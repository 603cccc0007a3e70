"""The inventory read from outputs: complete, repeatable, careful with what people typed, blind to other labs."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.agents.models import Agent
from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.discovery.receive import receive
from apps.inventory.models import (
    Array,
    ArrayMember,
    Controller,
    Disk,
    Filesystem,
    Host,
    Part,
    Target,
    ToolOutput,
)
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from tests.conftest import Cast
from tests.inventory import hosts
from tests.inventory.hosts import device, dm, findmnt, lsblk, machine, mount, output, part, sas
from tests.sampling import for_each

pytestmark = pytest.mark.services
PARTS: list[type[Part]] = [Host, Controller, Disk, Array, Filesystem, Target]


@pytest.fixture
def host(lab: Lab) -> Host:
    return hosts.host(lab)


def everything() -> list[Any]:
    return [list(model.objects.order_by("pk").values()) for model in [*PARTS, ArrayMember]]


def test_a_real_virtual_machine_is_read_from_its_own_outputs(host: Host) -> None:
    receive(host, hosts.guest())
    assert (host.cpu_model, host.cpu_count, host.cpu_sockets) == ("AMD EPYC", 2, 1)
    assert (host.ram_bytes, host.os) == (24684096 * 1024, "Debian GNU/Linux 12 (bookworm)")
    assert (host.kernel, host.architecture, host.environment) == ("6.18.44-guest", "x86_64", "guest")
    disk = Disk.objects.get()
    assert (disk.device_name, disk.interface, disk.capacity_bytes) == ("vda", "virtio", 274877906944)
    assert disk.controller
    assert disk.controller.kind == "virtio"
    target = Target.objects.get()
    assert (target.name, target.path, target.is_agents_own) == ("agent directory", "/srv/spindle", True)
    assert target.filesystem
    assert (target.filesystem.mount_point, target.filesystem.type, target.filesystem.disk) == ("/", "ext4", disk)
    assert not ToolOutput.objects.exclude(problem="").exists()


def test_raid_50_is_stored_as_nested_arrays_with_partitions_and_spare(host: Host) -> None:
    receive(host, hosts.raid50())
    md2 = Array.objects.get(name="md2")
    assert [m.member_array.name for m in md2.members.all() if m.member_array] == ["md0", "md1"]
    md1 = Array.objects.get(name="md1")
    assert [(m.disk.device_name, m.partition, m.state) for m in md1.members.all() if m.disk] == [
        ("sdd", "sdd1", "in sync"), ("sde", "sde1", "in sync"), ("sdf", "sdf1", "in sync"), ("sdg", "sdg1", "spare"),
    ]  # fmt: skip
    assert (md1.level, md1.chunk_size, md1.layout, md1.state, md1.software) == (
        "5",
        524288,
        "left-symmetric",
        "clean",
        "md",
    )
    data = Filesystem.objects.get(mount_point="/data")
    assert (data.array, data.disk, data.type, data.stripe_unit, data.stripe_width) == (md2, None, "xfs", 262144, 524288)
    assert Target.objects.get().filesystem == data
    assert {c.name for c in Controller.objects.all()} == {"sas host 0", "nvme0"}
    assert (host.environment, host.absent["hypervisor"], host.board) == ("native", "none", "Supermicro X11DPi-N")


@pytest.mark.parametrize("outputs", [hosts.guest, hosts.raid50])
def test_a_second_rebuild_changes_nothing_not_even_times(host: Host, outputs: Any) -> None:
    receive(host, outputs())
    before = everything()
    rebuild(host)
    receive(host, outputs())
    assert everything() == before


def test_everything_found_is_marked_as_discovered_or_inferred(host: Host) -> None:
    receive(host, hosts.raid50())
    disk = Disk.objects.get(device_name="sda")
    assert disk.sources["serial"] == "discovered"
    assert disk.sources["controller"] == Controller.objects.get(name="nvme0").sources["name"] == "inferred"


def test_typed_fields_stay_and_the_others_follow(host: Host) -> None:
    receive(host, hosts.raid50())
    Host.objects.filter(pk=host.pk).update(cpu_model="2 × Xeon", sources=host.sources | {"cpu_model": "typed"})
    disk = Disk.objects.get(device_name="sda")
    disk.model, disk.firmware, disk.sources["model"] = "Savvio 10K.6", "old", "typed"
    disk.save()
    rebuild(host)
    disk.refresh_from_db()
    assert (disk.model, disk.firmware, host.cpu_model) == ("Savvio 10K.6", "LS08", "2 × Xeon")


def test_what_a_tool_does_not_tell_any_more_is_not_forgotten(host: Host) -> None:
    receive(host, [output("lsblk", lsblk(sas("a")))])
    receive(host, [output("lsblk", lsblk(device("sda")))])  # in a container without udev
    disk = Disk.objects.get()
    assert (disk.serial, disk.model, disk.is_present) == ("S0M00000", "ST600MM0006", True)


def test_what_is_gone_is_marked_and_comes_back_as_the_same_rows(host: Host) -> None:
    receive(host, hosts.raid50())
    ids = set(Disk.objects.values_list("pk", flat=True))
    receive(host, [output("lsblk", lsblk(sas("a"))), output("findmnt", findmnt(mount("/", "tmpfs", "tmpfs"))),
                   output("mdstat", "Personalities : \n")])  # fmt: skip
    assert [d.device_name for d in Disk.objects.filter(is_present=True)] == ["sda"]
    assert not Array.objects.filter(is_present=True).exists()
    assert [f.mount_point for f in Filesystem.objects.filter(is_present=True)] == ["/"]
    receive(host, hosts.raid50())
    assert set(Disk.objects.filter(is_present=True).values_list("pk", flat=True)) == ids
    assert (Array.objects.count(), Array.objects.filter(is_present=True).count()) == (3, 3)


def test_what_only_people_know_is_never_marked_as_gone(host: Host) -> None:
    behind = Disk.objects.create(
        lab=host.lab, host=host, model="behind the RAID controller", sources={"model": "typed"}
    )
    receive(host, hosts.raid50())
    behind.refresh_from_db()
    assert behind.is_present


@for_each(
    "change, state",
    [
        ("[3/2] [U_U]", "degraded"),
        ("[3/1] [U__]", "failed"),
        ("[3/3] [UUU]\n      [=>..]  resync = 11.2% (1/9) finish=1min speed=1K/sec", "resyncing"),
        ("[3/3] [UUU]\n      [=>..]  check = 11.2% (1/9) finish=1min speed=1K/sec", "resyncing"),
        ("[3/2] [UU_]\n      [=>..]  recovery = 11.2% (1/9) finish=1min speed=1K/sec", "degraded"),
    ],
    taken_back=True,
)
def test_the_state_of_md_is_taken_over(host: Host, change: str, state: str) -> None:
    receive(host, hosts.raid50(hosts.RAID50_MDSTAT.replace("[3/3] [UUU]", change, 1)))
    assert {a.name: a.state for a in Array.objects.all()} == {"md0": "clean", "md1": state, "md2": "clean"}


def test_a_degraded_array_shows_its_faulty_member(host: Host) -> None:
    broken = hosts.RAID50_MDSTAT.replace("sde1[1] ", "sde1[1](F) ").replace("[3/3] [UUU]", "[3/2] [U_U]", 1)
    receive(host, hosts.raid50(broken))
    members = Array.objects.get(name="md1").members.order_by("position")
    assert [(m.disk.device_name, m.state) for m in members if m.disk] == [
        ("sdd", "in sync"), ("sdf", "in sync"), ("sde", "faulty"), ("sdg", "spare"),
    ]  # fmt: skip


def test_another_array_under_the_same_name_leaves_the_former_one_in_its_round(host: Host) -> None:
    receive(host, hosts.raid50())
    former = Array.objects.get(name="md0")
    again = [o | {"stdout": o["stdout"].replace(hosts.UUIDS["md0"], "ffff")} for o in hosts.raid50()]
    receive(host, again)
    now = Array.objects.get(name="md0", round="")
    former.refresh_from_db()
    assert now.pk != former.pk
    assert (former.round, former.is_present, former.members.count()) == (hosts.UUIDS["md0"], False, 3)
    assert Array.objects.get(name="md2").members.first().member_array == now


def test_a_filesystem_made_anew_is_another_one_and_another_target(host: Host) -> None:
    receive(host, hosts.raid50())
    measured = Target.objects.get()
    former = Filesystem.objects.get(mount_point="/data")
    receive(
        host, [o | {"stdout": o["stdout"].replace('"bb"', '"cc"')} for o in hosts.raid50() if o["tool"] == "findmnt"]
    )
    former.refresh_from_db()
    now = Filesystem.objects.get(mount_point="/data", is_present=True)
    own = Target.objects.get(is_agents_own=True)
    assert (now.uuid, former.is_present, own.filesystem) == ("cc", False, now)
    measured.refresh_from_db()
    assert (measured.filesystem, measured.is_agents_own, bool(measured.gone_at)) == (former, False, True)
    assert "(UUID cc) now" in measured.gone_reason
    receive(host, hosts.raid50())  # the old one is back
    measured.refresh_from_db()
    assert (measured.is_agents_own, measured.gone_at, Target.objects.count()) == (True, None, 2)


def test_one_unreadable_tool_leaves_the_others_working(host: Host) -> None:
    receive(host, hosts.raid50())
    before = [list(model.objects.order_by("pk").values()) for model in (Disk, Array, ArrayMember)]
    receive(host, [output("lsblk", "Segmentation fault"), output("meminfo", "MemTotal: 1024 kB\n"),
                   output("findmnt", findmnt(mount("/", "/dev/nvme0n1p1", "ext4", uuid="aa", used=7)))])  # fmt: skip
    root = Filesystem.objects.get(mount_point="/")
    assert (host.ram_bytes, root.used_bytes, root.disk.device_name if root.disk else None) == (1048576, 7, "nvme0n1")
    assert [list(model.objects.order_by("pk").values()) for model in (Disk, Array, ArrayMember)] == before
    assert "expected blockdevices as JSON, pairs or a table" in ToolOutput.objects.filter(tool="lsblk").first().problem


def test_a_hardware_array_that_was_typed_in_takes_the_place_of_the_disk_it_looks_like(host: Host) -> None:
    outputs = [
        output("lsblk", lsblk(device("sda", part("sda1"), vendor="ACME", model="VIRTUAL", hctl="0:1:0:0"))),
        output("findmnt", findmnt(mount("/", "/dev/sda1", "ext4"))),
    ]
    receive(host, outputs)
    typed = Array.objects.create(
        lab=host.lab,
        host=host,
        name="ld 1",
        device_name="/dev/sda",
        level="5",
        implementation="hardware",
        member_count=6,
    )
    rebuild(host)
    root = Filesystem.objects.get()
    assert (root.array, root.disk, Disk.objects.get().is_present) == (typed, None, False)


def test_lvm_volumes_are_arrays_of_lvm(host: Host) -> None:
    volume = dm("vg-root", 0, "lvm", fstype="ext4", **{"maj:min": "254:0"})
    root = mount("/", "/dev/mapper/vg-root", "ext4", **{"maj:min": "254:0"})
    receive(host, [output("lsblk", lsblk(sas("a", part("sda3", volume)))), output("findmnt", findmnt(root))])
    array = Array.objects.get()
    assert (array.name, array.software, array.level, array.implementation) == ("vg-root", "LVM", "linear", "software")
    assert (array.absent["chunk_size"], array.sources["level"]) == ("none", "inferred")
    assert Filesystem.objects.get().array == array


def test_a_typed_target_on_nfs_gets_its_filesystem(host: Host) -> None:
    typed = Target.objects.create(lab=host.lab, host=host, name="home", path="/nfs/home")
    receive(host, [output("lsblk", lsblk(sas("a"))), output("findmnt", findmnt(mount("/nfs", "nas:/x", "nfs4")))])
    typed.refresh_from_db()
    assert typed.filesystem
    assert (typed.filesystem.type, typed.filesystem.disk, typed.filesystem.device_name) == ("nfs4", None, "nas:/x")


def test_another_directory_of_the_agent_is_another_target(host: Host) -> None:
    receive(host, hosts.guest())
    measured = Target.objects.get()
    before = (measured.path, measured.filesystem)
    receive(host, [output("machine", machine("/dev/shm/bench"))])
    own = Target.objects.get(is_agents_own=True)
    assert own.filesystem
    assert (own.path, own.filesystem.type, own.filesystem.disk) == ("/dev/shm/bench", "tmpfs", None)
    measured.refresh_from_db()
    assert (measured.path, measured.filesystem) == before
    assert measured.gone_reason == "the agent offers /dev/shm/bench now"


def test_a_target_already_there_with_the_agents_directory_becomes_its_own(host: Host) -> None:
    typed = Target.objects.create(
        lab=host.lab, host=host, name="scratch", path="/srv/spindle", sources={"name": "typed"}
    )
    Target.objects.create(lab=host.lab, host=host, name="agent directory", path="/elsewhere")
    receive(host, hosts.guest())
    typed.refresh_from_db()
    assert (typed.is_agents_own, typed.name, Target.objects.count()) == (True, "scratch", 2)


def test_the_number_of_queries_does_not_grow_with_the_number_of_disks(host: Host) -> None:
    def queries(count: int) -> int:
        disks = [device(f"sd{i}x", serial=f"SER{count}{i:04}", tran="sas", hctl=f"0:0:{i}:0") for i in range(count)]
        with CaptureQueriesContext(connection) as captured:
            receive(host, [output("lsblk", lsblk(*disks))])
        return len(captured)

    queries(2)
    assert queries(40) == queries(160)


class TestDisksAcrossTheLab:
    @pytest.fixture
    def two(self, lab: Lab) -> tuple[Host, Host]:
        return hosts.host(lab, "first"), hosts.host(lab, "second")

    def see(self, host: Host, *disks: hosts.Node) -> None:
        receive(host, [output("lsblk", lsblk(*disks))])

    def test_a_disk_that_moved_keeps_its_row_and_what_was_typed(self, two: tuple[Host, Host]) -> None:
        first, second = two
        self.see(first, sas("a"), sas("b"))
        disk = Disk.objects.get(serial="S0M00001")
        Disk.objects.filter(pk=disk.pk).update(rpm=10000, sources=disk.sources | {"rpm": "typed"})
        self.see(second, sas("q", serial="S0M00001", wwn="0x5000c5004a1f0001", hctl="5:0:0:0"))
        disk.refresh_from_db()
        assert (disk.host, disk.device_name, disk.rpm, Disk.objects.count()) == (second, "sdq", 10000, 2)
        assert disk.controller
        assert (disk.controller.host, disk.controller.name) == (second, "sas host 5")

    def test_an_older_look_does_not_take_it_back(self, two: tuple[Host, Host]) -> None:
        first, second = two
        self.see(first, sas("a"))
        self.see(second, sas("a"))
        rebuild(first)
        disk = Disk.objects.get()
        assert (disk.host, disk.is_present) == (second, True)
        self.see(first, sas("a"), sas("b"))
        disk.refresh_from_db()
        assert disk.host == first

    def live(self, host: Host) -> None:
        Agent.objects.update_or_create(
            host=host, defaults={"lab": host.lab, "secret_sha256": host.name, "last_seen_at": timezone.now()}
        )

    def test_a_host_that_is_heard_of_keeps_the_disk_that_another_claims(self, two: tuple[Host, Host]) -> None:
        honest, thief = two
        self.live(honest)
        self.see(honest, sas("a"))
        for size in (1, 2, 3):  # however often the other one says so
            self.see(thief, sas("a", size=size * 10**12, hctl="5:0:0:0"))
        mine = Disk.objects.get(serial="S0M00000")
        assert (mine.host, mine.is_present, mine.device_name, mine.controller.host) == (honest, True, "sda", honest)
        assert [(disk.serial, disk.wwn, disk.device_name) for disk in thief.disks.all()] == [("", "", "sda")]
        problem = ToolOutput.objects.filter(host=thief).latest("id").problem
        assert "S0M00000" in problem
        assert "also shown by first" in problem

    def test_a_claimed_disk_goes_over_when_its_host_no_longer_shows_it(self, two: tuple[Host, Host]) -> None:
        first, second = two
        self.live(first)
        self.see(first, sas("a"), sas("b"))
        self.see(second, sas("q", serial="S0M00001", wwn="0x5000c5004a1f0001", hctl="5:0:0:0"))
        moved = Disk.objects.get(serial="S0M00001")
        assert moved.host == first
        self.see(first, sas("a"))
        moved.refresh_from_db()
        assert (moved.host, moved.is_present, moved.device_name) == (second, True, "sdq")
        assert not ToolOutput.objects.filter(host=second, problem__contains="also shown").exists()
        assert list(second.disks.filter(is_present=True)) == [moved]

    def test_a_silent_host_loses_the_disk_that_another_shows(self, two: tuple[Host, Host]) -> None:
        self.live(two[0])
        Agent.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
        self.see(two[0], sas("a"))
        self.see(two[1], sas("a"))
        assert Disk.objects.get().host == two[1]

    def test_a_model_cut_by_another_version_of_lsblk_is_the_same_disk(self, two: tuple[Host, Host]) -> None:
        self.see(two[0], sas("a", model="KINGSTON SH103S3", wwn=None))
        self.see(two[1], sas("a", model="KINGSTON_SH103S3240G", wwn=None))
        assert Disk.objects.get().model == "KINGSTON SH103S3240G"

    def test_names_that_swap_at_a_reboot_leave_each_row_its_disk(self, two: tuple[Host, Host]) -> None:
        self.see(two[0], sas("a"), sas("b"))
        swapped = [
            sas("a", serial="S0M00001", wwn="0x5000c5004a1f0001"),
            sas("b", serial="S0M00000", wwn="0x5000c5004a1f0000"),
        ]
        self.see(two[0], *swapped)
        assert {d.serial: d.device_name for d in Disk.objects.all()} == {"S0M00001": "sda", "S0M00000": "sdb"}
        assert Disk.objects.count() == 2

    def test_a_new_disk_in_the_place_of_another_is_another_row(self, two: tuple[Host, Host]) -> None:
        self.see(two[0], sas("a"))
        self.see(two[0], sas("a", serial="NEW00001", wwn="0x5000000000000999"))
        assert {d.serial: d.is_present for d in Disk.objects.all()} == {"S0M00000": False, "NEW00001": True}

    def test_numbers_that_contradict_each_other_break_no_rule(self, two: tuple[Host, Host]) -> None:
        self.see(two[0], sas("a"), sas("b"))
        crossed = [sas("a", serial="S0M00001"), sas("b", serial="S0M00000")]
        self.see(two[0], *crossed)
        assert Disk.objects.filter(is_present=True).count() == 2

    def test_the_same_serial_in_another_lab_is_another_disk(self, cast: Cast) -> None:
        rows = {}
        for lab in (cast.lab, cast.other_lab):
            with lab_scope(lab.pk):
                self.see(hosts.host(lab), sas("a"))
                rows[lab.pk] = Disk.objects.values().get()
        with lab_scope(cast.other_lab.pk):
            assert Disk.objects.values().get() == rows[cast.other_lab.pk]
        with lab_scope(cast.lab.pk):
            assert Disk.objects.values().get() == rows[cast.lab.pk]
        assert rows[cast.lab.pk]["id"] != rows[cast.other_lab.pk]["id"]


def test_a_typed_target_that_was_measured_is_not_pointed_elsewhere(host: Host) -> None:
    """What a person entered is known by its filesystem as well, once something was measured there."""
    typed = Target.objects.create(lab=host.lab, host=host, name="home", path="/nfs/home")
    first = [output("lsblk", lsblk(sas("a"))), output("findmnt", findmnt(mount("/nfs", "nas:/x", "nfs4")))]
    receive(host, first)
    typed.refresh_from_db()
    before = typed.filesystem
    Run.objects.create(lab=host.lab, tool="dd", origin=Run.Origin.UPLOADED, host=host, target=typed, state="finished")
    receive(host, [output("findmnt", findmnt(mount("/nfs", "nas:/x", "xfs", uuid="bb")))])
    typed.refresh_from_db()
    assert (typed.filesystem, bool(typed.gone_at)) == (before, True)
    successor = Target.objects.get(gone_at=None)
    assert (successor.path, successor.filesystem.type if successor.filesystem else "") == ("/nfs/home", "xfs")
    receive(host, first)
    typed.refresh_from_db()
    assert (typed.filesystem, typed.gone_at) == (before, None)
    assert Target.objects.exclude(gone_at=None).count() == 1
