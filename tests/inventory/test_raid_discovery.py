"""Hosts with RAID controllers, from the tools' words to rows."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, Controller, Disk, Enclosure, Filesystem, Host, Nic, Target, ToolOutput
from apps.inventory.snapshots.content import freeze
from apps.inventory.snapshots.facts import facts_of
from apps.labs.models import Lab
from tests.inventory import hosts, raid_hosts
from tests.inventory.hosts import device, lsblk, output
from tests.parsers.corpus import folder
from tests.sampling import for_each

pytestmark = pytest.mark.django_db


@pytest.fixture
def host(lab: Lab) -> Host:
    return hosts.host(lab)


def shape(array: Array) -> Any:
    """Level and members, nested ones inside."""
    members = array.members.select_related("disk", "member_array").order_by("position")
    return array.level, [
        shape(one.member_array) if one.member_array else one.disk and one.disk.serial for one in members
    ]


def test_a_raid_50_is_nested_arrays_of_disks_in_slots_and_sda_is_no_disk(host: Host) -> None:
    receive(host, raid_hosts.megaraid())
    assert not ToolOutput.objects.exclude(problem="").exists()
    top = Array.objects.get(name="c0/v0 data")
    assert shape(top) == (
        "0",
        [("5", ["Z1Z00000", "Z1Z00001", "Z1Z00002"]), ("5", ["Z1Z00003", "Z1Z00004", "Z1Z00005"])],
    )
    assert (top.device_name, top.implementation, top.chunk_size, top.state) == ("/dev/sda", "hardware", 262144, "clean")
    assert (top.write_policy, top.read_policy, top.uuid) == ("write back", "read ahead", f"0x{raid_hosts.NAA}")
    assert top.capacity_bytes == 16_001_600_000_000
    disk = Disk.objects.get(serial="Z1Z00004")
    assert (disk.device_name, disk.enclosure, disk.slot_number, disk.health) == ("", "c0 enclosure 252", 4, "passed")
    assert (disk.interface, disk.generation, disk.capacity_bytes) == ("SATA", "SATA-6G", 4000787030016)
    assert (disk.wwn, disk.firmware, disk.is_solid_state) == ("0x5000c50000000004", "SN04", False)
    assert Disk.objects.count() == 6
    assert Filesystem.objects.get().array == top


def test_the_card_is_one_controller_with_what_each_tool_knows(host: Host) -> None:
    receive(host, raid_hosts.megaraid())
    card = Controller.objects.get(kind="raid")
    assert (card.address, card.model, card.serial) == (raid_hosts.PCI, "AVAGO MegaRAID SAS 9361-8i", "SV50123456")
    assert (card.model_behind, card.bus, card.driver) == (
        "MegaRAID SAS-3 3108 [Invader]",
        "PCIe 3.0 x8",
        "megaraid_sas",
    )
    assert (card.cache_bytes, card.cache_protection, card.protection_state) == (2**30, "non-volatile", "Optimal")
    assert (card.ports, card.firmware) == (8, "4.680.00-8290")
    assert set(Disk.objects.values_list("controller", flat=True)) == {card.pk}
    assert set(Array.objects.values_list("controller", flat=True)) == {card.pk}
    channel = Controller.objects.get(kind="fc")
    assert (channel.vendor, channel.driver, channel.address) == ("QLogic Corp.", "qla2xxx", "0000:81:00.0")


def test_its_enclosure_and_nic_are_there(host: Host) -> None:
    receive(host, raid_hosts.megaraid())
    shelf = Enclosure.objects.get()
    assert (shelf.name, shelf.model, shelf.layout) == (
        "c0 enclosure 252", "SGPIO", [{"label": "", "slots": [f"d{n}" for n in range(8)]}],
    )  # fmt: skip
    nic = Nic.objects.get()
    assert (nic.name, nic.bits_per_second, nic.mtu, nic.firmware) == ("eth0", 10**10, 9000, "0x800003df")
    assert (nic.model, nic.bus) == ("82599ES 10-Gigabit SFI/SFP+ Network Connection", "PCIe 2.0 x8")


def test_facts_of_a_run_on_it_are_those_of_the_raid(host: Host) -> None:
    receive(host, raid_hosts.megaraid())
    target = Target.objects.create(
        lab=host.lab, host=host, name="data", path="/data", filesystem=Filesystem.objects.get()
    )
    facts = facts_of(freeze(target).content)
    assert (facts["raid_level"], facts["raid_implementation"], facts["disk_count"]) == ("50", "hardware", 6)
    assert (facts["chunk_size"], facts["controller_cache"], facts["disk_model"]) == (
        262144,
        2**30,
        "ST4000NM0033-9ZM170",
    )


@pytest.mark.slow
def test_a_second_look_changes_nothing_and_queries_do_not_grow_with_drives(host: Host) -> None:
    def rows() -> list[Any]:
        return [
            list(model.objects.order_by("pk").values()) for model in (Host, Controller, Disk, Array, Enclosure, Nic)
        ]

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            rebuild(host)
        return len(queries)

    receive(host, raid_hosts.megaraid())
    before, few = rows(), cost()
    receive(host, raid_hosts.megaraid())
    assert rows() == before
    receive(host, raid_hosts.megaraid(each=100, serials="Q"))
    rebuild(host)
    assert Disk.objects.filter(is_present=True).count() == 200
    assert cost() == few


def test_a_failed_drive_and_a_rebuild_are_seen(host: Host) -> None:
    text = raid_hosts.storcli(state="Dgrd").replace('"State": "Onln"', '"State": "Failed"', 1)
    receive(host, [*raid_hosts.megaraid()[:-1], output("storcli", text)])
    states = {array.name: array.state for array in Array.objects.all()}
    assert states == {"c0/v0 data": "degraded", "c0/v0 data span 0": "degraded", "c0/v0 data span 1": ""}
    first = Array.objects.get(name="c0/v0 data span 0").members.order_by("position").first()
    assert first
    assert first.state == "faulty"


def test_a_drive_that_moved_to_another_slot_or_host_keeps_its_row(host: Host) -> None:
    receive(host, raid_hosts.megaraid())
    disk = Disk.objects.get(serial="Z1Z00000")
    disk.notes = "slow"
    disk.save()
    swapped = raid_hosts.storcli().replace("Z1Z00000", "TMP").replace("Z1Z00005", "Z1Z00000").replace("TMP", "Z1Z00005")
    swapped = (
        swapped.replace("5000C50000000000", "TMP")
        .replace("5000C50000000005", "5000C50000000000")
        .replace("TMP", "5000C50000000005")
    )
    receive(host, [output("storcli", swapped)])
    disk.refresh_from_db()
    assert (disk.slot_number, Disk.objects.count()) == (5, 6)
    other = hosts.host(host.lab, "node8")
    moved = hosts.sas("b", vendor="ATA", model="ST4000NM0033-9ZM170", serial="Z1Z00000", wwn="0x5000c50000000000")
    receive(other, [output("lsblk", lsblk(moved))])
    disk.refresh_from_db()
    assert (disk.host, disk.device_name, disk.notes, disk.enclosure, disk.slot_number) == (
        other,
        "sdb",
        "slow",
        "",
        None,
    )


def test_without_its_tool_a_raid_volume_is_an_array_of_unknown_members_and_becomes_that_volume(host: Host) -> None:
    receive(host, [output("lsblk", lsblk(raid_hosts.volume_device()))])
    [array] = Array.objects.all()
    assert (array.name, array.implementation, array.level, array.members.count()) == ("sda", "hardware", "", 0)
    assert not Disk.objects.exists()
    receive(host, raid_hosts.megaraid())
    array.refresh_from_db()
    assert (array.level, array.members.count(), Array.objects.count()) == ("0", 2, 3)


def test_a_tool_that_is_gone_or_unreadable_leaves_its_drives(host: Host) -> None:
    receive(host, raid_hosts.megaraid())
    receive(host, [output("storcli", "segmentation fault", 139)])
    assert Disk.objects.filter(is_present=True).count() == 6
    assert Array.objects.filter(is_present=True).count() == 3
    assert "storcli" in ToolOutput.objects.filter(tool="storcli").latest("id").problem
    receive(host, [output("storcli", "", 127, "not found")])
    assert ToolOutput.objects.filter(tool="storcli").latest("id").problem == ""


def test_drives_of_an_hba_that_the_kernel_sees_get_their_slots_and_no_second_row(host: Host) -> None:
    text = (
        raid_hosts.storcli(level="RAID0", spans=1, each=2)
        .replace("megaraid_sas", "mpt3sas")
        .replace('"TYPE"', '"X"')
        .replace("DG/VD", "Y")
    )
    disks = [
        device(
            "sdb",
            vendor="ATA",
            model="ST4000NM0033-9ZM",
            serial="Z1Z00000",
            wwn="0x5000c50000000000",
            tran="sas",
            hctl="0:0:0:0",
        ),
        device(
            "sdc",
            vendor="ATA",
            model="ST4000NM0033-9ZM",
            serial="Z1Z00001",
            wwn="0x5000c50000000001",
            tran="sas",
            hctl="0:0:1:0",
        ),
    ]
    receive(host, [output("lsblk", lsblk(*disks)), output("storcli", text)])
    assert [(d.device_name, d.slot_number, d.generation) for d in Disk.objects.all()] == [
        ("sdb", 0, "SATA-6G"),
        ("sdc", 1, "SATA-6G"),
    ]
    assert not Array.objects.exists()


@pytest.mark.slow
@for_each(
    "tool, path, disks, arrays",
    [
        ("storcli", "raid-storcli/netdata-megaraid-controllers-info.json", 6, {"c0/v0 Sluthub": ("6", 6)}),
        ("storcli", "raid-storcli/storclicheck-single-controller.txt", 16, {"c0/v0": ("1", 2), "c0/v1": ("0", 7)}),
        (
            "megacli",
            "raid-megacli/checkraid-issue41-ldinfo.txt",
            0,
            {"c0/v0": ("1", 0), "c0/v1": ("1", 0), "c0/v2": ("1", 0)},
        ),
        ("megacli", "raid-megacli/checkraid-3-pdlist.txt", 12, {}),
        ("ssacli", "raid-hp/netdata-ssacli-P408i-a.txt", 4, {"hp c0/v1 LD-SSD": ("6", 4)}),
        (
            "arcconf",
            "raid-arcconf/checkraid-issue155-getconfig.txt",
            8,
            {"adaptec c1/v0 HDD": ("0", 2), "adaptec c1/v1 SSD": ("0", 2)},
        ),
        ("arcconf", "raid-arcconf/checkraid-1-getconfig.txt", 2, {"adaptec c1/v0": ("1", 2)}),
        ("tw_cli", "raid-tw_cli/checkraid-2-c0.show.all.txt", 4, {"3ware c0/u0": ("5", 4)}),
        (
            "omreport",
            "raid-omreport/dellhw-vdisk-1.ssv.txt",
            0,
            {"perc cEmbedded/v0 GenericR5_0": ("5", 0), "perc cEmbedded/v1 GenericR10_0": ("10", 0)},
        ),
        ("omreport", "raid-omreport/dellhw-pdisk-1.ssv.txt", 3, {}),
    ],
    taken_back=True,
)
def test_real_outputs_make_disks_arrays_and_members(
    host: Host, tool: str, path: str, disks: int, arrays: dict[str, tuple[str, int]]
) -> None:
    directory, _, file = path.partition("/")
    receive(host, [output(tool, (folder(directory) / file).read_text(errors="replace"))])
    assert not ToolOutput.objects.exclude(problem="").exists()
    assert Disk.objects.count() == disks
    found = {a.name: (a.level, a.members.count()) for a in Array.objects.all() if " span " not in a.name}
    assert found == arrays
    before = list(Disk.objects.values())
    rebuild(host)
    assert list(Disk.objects.values()) == before
