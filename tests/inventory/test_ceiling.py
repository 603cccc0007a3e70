"""The bound that a topology sets, against sums worked by hand from the reports' own machines."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.core.quantities import written
from apps.inventory.ceilings.ceiling import Bound, Ceiling, ceiling_of
from apps.inventory.ceilings.current import ceiling_now
from apps.inventory.ceilings.rates import bus_rate, link_rate, rate_in_words
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Host, Target
from apps.inventory.snapshots.content import freeze
from apps.labs.models import Lab
from tests.page_text import page_text
from tests.sampling import for_each

Content = dict[str, Any]
MB = 1e6


def disk(
    number: int, interface: str = "", generation: str = "", controller: Content | None = None, **labels: str
) -> Content:
    told = {"number": number, "interface": interface, "generation": generation, "labels": labels}
    return {"disk": told, "controller": controller, "state": "", "partition": ""}


def array(level: str, members: list[Content], implementation: str = "software", **fields: Any) -> Content:
    controller = fields.pop("controller", None)
    told = {"name": "md0", "level": level, "implementation": implementation, **fields}
    return {"array": told, "controller": controller, "members": members, "state": "", "partition": ""}


def content(storage: Content | None, target: Content | None = None, **more: Any) -> Content:
    return {"target": target or {"kind": "directory"}, "host": {}, "filesystem": None, "storage": storage, **more}


def ceiling(storage: Content | None, target: Content | None = None, **more: Any) -> Ceiling:
    return ceiling_of(content(storage, target, **more))


def plain(bound: Bound) -> list[str]:
    """The sums of its parts."""
    return [written(part.arithmetic).replace("\u202f", " ").replace("\u00a0", " ") for part in bound.parts]


def in_mb(bound: Bound) -> float | None:
    return None if bound.value is None else round(bound.value / MB, 1)


PERC = {"name": "PERC H700", "kind": "raid", "bus": "PCI Express 2.0"}
AIC = {"name": "AIC-7902", "kind": "hba", "ports": 2}


def test_dtns_twelve_sas_drives_have_twelve_lanes_and_not_one() -> None:
    drives = [disk(number, "SAS", "SAS-6G") for number in range(12)]
    found = ceiling(array("6", drives, "hardware", controller=PERC))
    assert plain(found.read) == ["12 × 600 MB/s SAS-6G lanes = 7 200 MB/s"]
    assert plain(found.write) == ["12 × 600 MB/s SAS-6G lanes × 10/12 that carry data = 6 000 MB/s"]
    assert found.read.decides
    assert "not one link's 600" in written(found.read.decides.why)
    assert "the host bus of PERC H700" in found.unknown


def test_a_controller_with_fewer_lanes_than_drives_is_the_narrow_part() -> None:
    perc = {**PERC, "bus": "PCIe 2.0 x8", "lanes": 8}
    found = ceiling(array("6", [disk(n, "SAS", "SAS-6G") for n in range(12)], "hardware", controller=perc))
    assert plain(found.read) == [
        "1 × 4 000 MB/s PCIe 2.0 x8 (8 lanes × 5 GT/s × 8/10 ÷ 8) = 4 000 MB/s",
        "8 × 600 MB/s SAS-6G lanes of PERC H700 for 12 disks = 4 800 MB/s",
    ]


def test_crs4s_two_u320_disks_on_a_dual_channel_adapter() -> None:
    """Which channel each disk is on is not printed, so the wider case stands: a channel for each."""
    found = ceiling(array("0", [disk(n, "SCSI", "U320", AIC) for n in range(2)]))
    assert plain(found.read) == plain(found.write) == ["2 × 320 MB/s U320 channels = 640 MB/s"]
    assert "which channel of AIC-7902 each disk is on: taken as 2 channels" in found.unknown


def test_disks_on_one_scsi_channel_share_it() -> None:
    found = ceiling(array("5", [disk(n, "SCSI", "U320", AIC, channel="A") for n in range(4)], "hardware"))
    assert plain(found.read) == ["1 × 320 MB/s U320 channel shared by 4 disks = 320 MB/s"]
    assert in_mb(found.write) == 240.0
    assert found.read.decides
    assert found.read.decides.why == "The disks of a channel share it."


def test_crs4s_report_counts_its_disks_and_names_their_kind_only() -> None:
    counted = array("0", [], controller=AIC, member_count=2)
    found = ceiling(counted, published={"disk": {"interface": "SCSI U320"}})
    assert in_mb(found.write) == 640.0
    uncounted = ceiling(array("5", [], "hardware", controller=AIC), published={"disk": {"interface": "SCSI U320"}})
    assert uncounted.write.value is None
    assert "how many disks md0 has" in uncounted.unknown


def thumper(level: str, count: int, bus: str = "PCI-X 133", generation: str = "SATA-3G") -> Content:
    """`count` disks over the X4500's six controllers of eight ports, in turn."""
    six = [{"name": f"Marvell {n}", "kind": "hba", "bus": bus, "ports": 8} for n in range(6)]
    return array(level, [disk(n, "SATA", generation, six[n % 6]) for n in range(count)])


def test_the_x4500s_48_disks_are_narrowed_by_the_buses_of_6_controllers() -> None:
    found = ceiling(thumper("0", 48))
    assert plain(found.read) == [
        "6 × 1 067 MB/s PCI-X 133 (64 bits × 133 MHz ÷ 8) = 6 400 MB/s",
        "48 × 300 MB/s SATA-3G links = 14 400 MB/s",
    ]
    assert plain(found.write) == plain(found.read)


def test_software_raid_sends_its_parity_over_the_bus_and_hardware_raid_does_not() -> None:
    """Eight disks on six controllers, RAID 6: of 8 bytes that pass the bus 6 are data."""
    software = thumper("6", 8)
    assert in_mb(ceiling(software).write) == 1800.0  # 8 × 300 × 6/8, less than 6 400 × 6/8
    buses = [part for part in ceiling(software).write.parts if part.name == "host bus"]
    assert round(buses[0].value / MB) == 4800
    assert "× 3/4 that is data" in buses[0].arithmetic
    software["array"]["implementation"] = "hardware"
    (bus,) = [part for part in ceiling(software).write.parts if part.name == "host bus"]
    assert round(bus.value / MB) == 6400


def test_one_disk_of_the_x4500_cannot_write_1_gb_a_second() -> None:
    """Its generation is not printed: the fastest SATA there is still bounds it."""
    found = ceiling(disk(1, "SATA"))
    assert plain(found.write) == ["1 × 600 MB/s SATA-6G links = 600 MB/s"]
    assert "the generation of the SATA links: taken as the fastest, SATA-6G" in found.unknown


def test_raid_50_loses_a_disk_in_each_group() -> None:
    groups = [array("5", [disk(4 * g + n, "SATA", "SATA-3G") for n in range(4)]) for g in range(2)]
    found = ceiling(array("0", groups))
    assert plain(found.write)[0] == "8 × 300 MB/s SATA-3G links × 6/8 that carry data = 1 800 MB/s"
    assert in_mb(found.read) == 2400.0


@pytest.mark.parametrize(
    ("layout", "write"),
    [("", 600.0), ("near=2", 600.0), ("2 near-copies", 600.0), ("near=1, far=2", 600.0), ("near=3", 400.0)],
)
def test_md_raid_10_writes_each_byte_as_often_as_its_layout_says(layout: str, write: float) -> None:
    """Four (here: 4 × 300 = 1 200) disks: two copies leave half, three a third."""
    found = ceiling(array("10", [disk(n, "SATA", "SATA-3G") for n in range(4)], layout=layout))
    assert (in_mb(found.read), in_mb(found.write)) == (1200.0, write)


@pytest.mark.parametrize(("level", "data"), [("0", 4), ("1", 1), ("5", 3), ("6", 2), ("10", 2), ("linear", 4)])
def test_how_many_of_four_members_carry_data(level: str, data: int) -> None:
    found = ceiling(array(level, [disk(n, "SAS", "SAS-12G") for n in range(4)]))
    assert (in_mb(found.read), in_mb(found.write)) == (4800.0, data * 1200.0)


def test_spares_hold_nothing_and_a_failed_member_leaves_the_rest_to_carry_all() -> None:
    members = [disk(n, "SATA", "SATA-3G") for n in range(5)]
    members[4]["state"] = "spare"
    assert in_mb(ceiling(array("5", members)).write) == 900.0
    members[3]["state"] = "faulty"
    found = ceiling(array("5", members, state="degraded"))
    assert (in_mb(found.read), in_mb(found.write)) == (900.0, 900.0)


def test_two_partitions_of_one_disk_have_one_link() -> None:
    assert in_mb(ceiling(array("0", [disk(1, "SATA", "SATA-3G"), disk(1, "SATA", "SATA-3G")])).read) == 300.0


def test_infns_san_is_bounded_by_four_fc_channels_and_not_by_10_gigabit_ethernet() -> None:
    storm = {"name": "Storm T2000", "kind": "fc", "ports": 4, "bus": "FC-2G"}
    target = {"kind": "directory", "labels": {"path controllers to JBODs": "4 × FC-2G", "network": "10 Gb/s"}}
    found = ceiling(array("0", [], "hardware", controller=storm), target)
    assert plain(found.read) == [
        "4 × 200 MB/s FC-2G = 800 MB/s",
        "4 × 200 MB/s FC-2G = 800 MB/s",
        "1 × 1 250 MB/s 10 Gb/s (10 Gb/s ÷ 8) = 1 250 MB/s",
    ]
    assert {part.name for part in found.read.parts} == {"path controllers to JBODs", "FC channels", "network"}
    assert plain(found.network) == ["1 × 1 250 MB/s 10 Gb/s (10 Gb/s ÷ 8) = 1 250 MB/s"]


def test_only_one_path_to_the_jbods_is_used_at_a_time() -> None:
    target = {"kind": "directory", "labels": {"path controllers to JBODs": "2 × FC-2G"}}
    assert in_mb(ceiling(None, target).read) == 400.0


def test_fc_disks_of_a_loop_share_it() -> None:
    loops = {"name": "qla", "kind": "fc", "ports": 2, "bus": "FC-4G"}
    found = ceiling(array("0", [disk(n, "FC", "FC-4G", loops) for n in range(8)]))
    assert "2 × 400 MB/s FC-4G channels shared by 8 disks = 800 MB/s" in plain(found.read)


def test_a_lun_may_be_reached_over_all_ports_at_once() -> None:
    """Multipath: one disk, two channels; without their number nothing bounds it."""
    lun = disk(1, "FC", "FC-8G", {"name": "qla", "kind": "fc", "ports": 2, "bus": "FC-8G"})
    assert in_mb(ceiling(lun).read) == 1600.0
    lun["controller"] = {"name": "qla", "kind": "fc"}
    assert ceiling(lun).read.value is None
    assert "how many FC channels lead to the disks" in ceiling(lun).unknown


def test_a_sas_port_is_a_connector_and_limits_nothing() -> None:
    perc = {**PERC, "ports": 2}
    assert in_mb(ceiling(array("0", [disk(n, "SAS", "SAS-6G", perc) for n in range(8)])).read) == 4800.0


@pytest.mark.parametrize("model", ["QEMU HARDDISK", "VMware Virtual disk", "Amazon Elastic Block Store"])
def test_a_virtual_disk_that_calls_itself_scsi_is_not_bound_by_u320(model: str) -> None:
    one = disk(1, "SCSI")
    one["disk"]["model"] = model
    assert ceiling(one).read.value is None
    assert "what lies under the hypervisor's virtual disks" in ceiling(one).unknown


def test_an_nvme_drive_of_pcie_3_with_four_lanes() -> None:
    drive = disk(1, "NVMe", "", {"name": "nvme0", "kind": "nvme", "bus": "PCIe 3.0 x4"})
    found = ceiling(drive)
    assert plain(found.read) == ["1 × 3 938 MB/s PCIe 3.0 x4 links (4 lanes × 8 GT/s × 128/130 ÷ 8) = 3 938 MB/s"]
    assert found.read.value == pytest.approx(4 * 8e9 * 128 / 130 / 8)
    assert ceiling(disk(1, "NVMe", "", {"name": "nvme0", "kind": "nvme", "bus": "PCI Express"})).read.value is None


def test_the_disks_media_bound_where_all_are_known() -> None:
    told = [disk(n, "SATA", "SATA-3G", media_rate="70 MB/s") for n in range(4)]
    found = ceiling(array("5", told))
    assert plain(found.write)[0] == "4 × 70 MB/s media × 3/4 that carry data = 210 MB/s"
    told[0]["disk"]["labels"] = {}
    assert "how fast the disks' media are" in ceiling(array("5", told)).unknown
    assert in_mb(ceiling(array("5", told)).write) == 900.0


@pytest.mark.parametrize(
    ("storage", "word"),
    [
        (None, "which disks lie under this target"),
        (disk(1, "virtio"), "what lies under the hypervisor's virtual disks"),
        (disk(1), "how the disks are attached"),
        (disk(1, "NVMe"), "the generation and lanes of the NVMe disks"),
    ],
)
def test_what_is_not_known_sets_no_bound_and_is_named(storage: Content | None, word: str) -> None:
    found = ceiling(storage)
    assert (found.read.value, found.write.value) == (None, None)
    assert word in found.unknown


def test_memory_and_network_filesystems_have_no_disks_here() -> None:
    assert "no disks: tmpfs lies in memory" in ceiling(None, filesystem={"type": "tmpfs"}).unknown
    assert "how fast the network is" in ceiling(None, filesystem={"type": "nfs4"}).unknown
    host = {"labels": {"network": "1 Gb/s"}}
    assert in_mb(ceiling(None, filesystem={"type": "nfs4"}, host=host).read) == 125.0


@for_each("interface, generation, rate", [
        ("SATA", "SATA-1.5G", 150), ("SATA", "SATA-3G", 300), ("SATA", "SATA 6 Gb/s", 600), ("SAS", "SAS-3G", 300),
        ("SAS", "SAS-6G", 600), ("SAS", "SAS-12G", 1200), ("SCSI", "U320", 320), ("SCSI", "Ultra160", 160),
        ("FC", "FC-2G", 200), ("FC", "FC-4G", 400), ("FC", "FC-8G", 800), ("PATA", "ATA-100", 100), ("PATA", "UDMA/66", 66),
    ])  # fmt: skip
def test_links_carry_what_their_standards_say(interface: str, generation: str, rate: int) -> None:
    found = link_rate(interface, generation)
    assert found
    assert (found.value, found.is_guess) == (rate * MB, False)


@for_each("text, rate", [
        ("PCIe 1.0 x8", 2000), ("PCI Express 2.0 x8", 4000), ("PCI-Express Gen2.0 x4", 2000), ("PCIe 4.0 x4", 7877),
        ("PCIe 5.0 x4", 15754), ("PCI-X 133", 1067), ("PCI 64-bit/66 MHz", 533), ("PCI 32 bit 33 MHz", 133),
        ("PCI Express 2.0", None), ("zero-channel slot", None),
    ])  # fmt: skip
def test_buses_carry_what_their_clocks_say(text: str, rate: int | None) -> None:
    found = bus_rate(text)
    assert (round(found.value / MB) if found else None) == rate


def test_a_bit_is_no_byte() -> None:
    values = [rate_in_words(text) for text in ("10 Gb/s", "10 Gbs", "10 GB/s", "1 GiB/s", "fast")]
    assert [one.value if one else None for one in values] == [1.25e9, 1.25e9, 1e10, 2**30, None]


@pytest.fixture
def dtn(lab: Lab) -> Target:
    """Twelve SAS drives in a RAID 6 of the PERC H700."""
    host = Host.objects.create(lab=lab, name="dtn")
    perc = Controller.objects.create(lab=lab, host=host, name="PERC H700", kind="raid", bus="PCI Express 2.0")
    data = {"lab": lab, "host": host, "controller": perc}
    raid = Array.objects.create(**data, name="vd-data", level="6", implementation="hardware")
    for place in range(12):
        drive = Disk.objects.create(**data, device_name=f"d{place}", interface="SAS", generation="SAS-6G")
        ArrayMember.objects.create(array=raid, position=place, disk=drive)
    return Target.objects.create(lab=lab, host=host, name="/data", array=raid)


def test_the_rest_interface_gives_it_with_the_target(dtn: Target, client: Client, token: Callable[[str], str]) -> None:
    answer = client.get(f"/api/v1/targets/{dtn.pk}/", headers={"Authorization": f"Bearer {token('read')}"}).json()
    assert answer["ceiling"]["read"]["bandwidth"] == 7.2e9
    assert answer["ceiling"]["read"]["decided_by"] == "disk links"
    assert answer["ceiling"]["write"]["bandwidth"] == 6e9
    assert "the host bus of PERC H700" in answer["ceiling"]["unknown"]


def test_a_frozen_run_keeps_the_ceiling_of_its_time(dtn: Target) -> None:
    snapshot = freeze(dtn)
    Disk.objects.update(generation="SAS-12G")
    now = ceiling_now(dtn)
    assert (ceiling_of(snapshot.content).read.value, now and now.read.value) == (7.2e9, 14.4e9)


def test_arrays_that_lie_on_themselves_have_none(dtn: Target, client: Client, token: Callable[[str], str]) -> None:
    other = Array.objects.create(lab=dtn.lab, host=dtn.host, name="x", level="0", implementation="software")
    ArrayMember.objects.create(array=other, position=0, member_array=dtn.array)
    ArrayMember.objects.create(array=dtn.array, position=12, member_array=other)
    assert ceiling_now(dtn) is None
    answer = client.get(f"/api/v1/targets/{dtn.pk}/", headers={"Authorization": f"Bearer {token('read')}"})
    assert answer.json()["ceiling"] is None


def test_the_targets_page_explains_the_sum(dtn: Target, sign_in: Callable[[str], Client]) -> None:
    page = page_text(sign_in("viewer").get(dtn.get_absolute_url()).content.decode())
    assert "12 × 600 MB/s SAS-6G lanes = 7 200 MB/s" in page
    assert "their sum is the bound, not one link's 600 MB/s." in page
    assert "the host bus of PERC H700" in page
    assert "no known limit" not in page


def test_the_page_of_an_unknown_target_says_that_nothing_bounds_it(
    dtn: Target, sign_in: Callable[[str], Client]
) -> None:
    Target.objects.update(array=None)
    page = sign_in("viewer").get(dtn.get_absolute_url()).content.decode()
    assert page.count("no known limit") == 2
    assert "which disks lie under this target" in page
