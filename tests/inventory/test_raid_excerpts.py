"""Parts of what RAID controllers' tools and lspci print, as people copy them: a topology alone, logical devices alone, a link."""

import pytest

from apps.inventory.discovery.receive import receive
from apps.inventory.discovery.tools.lspci import link_of
from apps.inventory.models import Array, Host
from apps.labs.models import Lab
from tests.inventory import hosts
from tests.inventory.brought import BroughtText
from tests.sampling import for_each

MIB, GIB = 1024**2, 1024**3
HEAD = "Controller = 2\nStatus = Success\nDescription = Show Drive Group Succeeded\n\n\nTOPOLOGY :\n========\n\n"
DASHES = "-" * 76 + "\n"
FIRST = HEAD + DASHES + """\
DG Arr Row EID:Slot DID Type   State BT     Size PDC  PI SED DS3  FSpace TR
""" + DASHES + """\
 3 -   -   -        -   RAID60 Dgrd  N  7.000 TB dflt N  N   none N      N
 3 0   -   -        -   RAID6  Optl  N  3.500 TB dflt N  N   none N      N
 3 0   0   64:2     0   DRIVE  Onln  N  1.750 TB dflt N  N   none -      N
 3 0   1   64:3     1   DRIVE  Onln  N  1.750 TB dflt N  N   none -      N
 3 1   -   -        -   RAID6  Dgrd  N  3.500 TB dflt N  N   none N      N
 3 1   0   64:4     3   DRIVE  Onln  N  1.750 TB dflt N  N   none -      N
 3 1   1   64:5     4   DRIVE  Rbld  Y  1.750 TB dflt N  N   none -      N
 3 1   2   -        -   DRIVE  Msng  -  1.750 TB -    -  -   -    -      N
 3 -   -   64:6     6   DRIVE  DHS   -  1.750 TB -    -  -   -    -      N
 - -   -   64:7     7   DRIVE  GHS   -  1.750 TB -    -  -   -    -      N
""" + DASHES  # fmt: skip
VOLUME = "Controller = 2\nStatus = Success\nDescription = None\n\n\nVirtual Drives :\n==============\n\n" + DASHES + """\
DG/VD TYPE   State Access Consist Cache Cac sCC     Size Name
""" + DASHES + """\
3/7   RAID60 Dgrd  RW     Yes     RWBD  -   ON  7.000 TB vault
""" + DASHES  # fmt: skip


def test_a_topology_alone_has_drives_spares_and_the_group() -> None:
    text = BroughtText(FIRST)
    drives = {one.place: one.state for one in text.readings.storcli.cards[0].drives}  # type: ignore[union-attr]
    assert drives == {
        "64:2": "online",
        "64:3": "online",
        "64:4": "online",
        "64:5": "rebuilding",
        "64:6": "spare",
        "64:7": "spare",
    }
    assert {one.capacity_bytes for one in text.disks.values()} == {1792 * GIB}
    group = text.arrays["c2/dg3"]
    assert (group.level, group.capacity_bytes, group.state, group.member_count) == ("0", 7168 * GIB, "degraded", 2)
    assert text.members("c2/dg3 span 1") == [("c2 64:4", "", "in sync"), ("c2 64:5", "", "rebuilding")]
    assert text.file.inventory[0].summary == "controller 2: topology with 7 drives"


@pytest.mark.django_db
def test_a_group_becomes_its_volume_when_that_is_listed(lab: Lab) -> None:
    host = hosts.host(lab)
    for printed in (FIRST, f"{FIRST}\n\n{VOLUME}"):
        receive(host, [vars(one) for one in BroughtText(printed).outputs.values()])
    assert Array.objects.filter(host=host).count() == 3
    volume = Array.objects.get(host=host, level="0")
    assert volume.name == "c2/v7 vault"
    assert (volume.capacity_bytes, volume.write_policy, volume.members.count()) == (7168 * GIB, "write back", 2)
    assert Host.objects.count() == 1


def test_an_output_without_anything_for_the_inventory_says_so() -> None:
    printed = "Controller = 0\nStatus = Success\nDescription = Show Drive Group Succeeded\n\nRebuild Rate = 30%\n"
    found = BroughtText(printed).readings.storcli
    assert found is not None
    assert "no drives and no volumes" in found.empty_because


LOGICAL = """\
Logical device information
----------------------------------------------------------------------
Logical Device number {number}
   Logical Device name                      : own{number}
   RAID level                               : {level}
   Status of Logical Device                 : {state}
   Size                                     : {size} MB
   Stripe-unit size                         : 64 KB
   --------------------------------------------------------
   Logical Device segment information
   --------------------------------------------------------
{segments}
"""


def segments(words: list[str]) -> str:
    return "\n".join(f"   {word}" for word in words)


def test_logical_devices_are_read_without_the_first_line_and_between_dashes() -> None:
    words = [
        f"Group {n // 3}, Segment {n % 3}                       : Present (1907729MB, SAS, HDD, Enclosure:0, Slot:{n}) QQ{n:04}"
        for n in range(6)
    ]
    plain = LOGICAL.format(
        number=4, level=50, state="Suboptimal, Fault Tolerant", size=7630000, segments=segments(words)
    )
    for printed in (
        plain,
        "-" * 70 + f"\n{plain}",
        f"Controllers found: 1\n{plain}",
        f"$ arcconf getconfig 1 ld\n\n{plain}\nCommand completed successfully.\n",
    ):
        text = BroughtText(printed)
        top = text.arrays["adaptec c1/v4 own4"]
        assert (top.capacity_bytes, top.chunk_size, top.state) == (7630000 * MIB, 65536, "degraded")
        assert {text.arrays[name].level for name, _, _ in text.members(top.name)} == {"5"}
        assert {(one.interface, one.is_solid_state, one.capacity_bytes) for one in text.disks.values()} == {
            ("SAS", False, 1907729 * MIB)
        }
        assert sorted(one.serial for one in text.disks.values()) == [f"QQ{n:04}" for n in range(6)]


def test_a_segments_words_tell_how_its_drive_is() -> None:
    words = [
        "Segment 0       : Present (953869MB, SATA, SSD, Connector:1, Device:0) QQ0001",
        "Segment 1       : Rebuilding (953869MB, SATA, SSD, Connector:1, Device:1) QQ0002",
        "Segment 2       : Missing",
    ]
    text = BroughtText(LOGICAL.format(number=0, level=5, state="Degraded", size=1907000, segments=segments(words)))
    assert [state for _, _, state in text.members("adaptec c1/v0 own0")] == ["in sync", "rebuilding"]


def test_physical_devices_alone_are_read() -> None:
    printed = """\
Physical Device information
----------------------------------------------------------------------
      Device #0
         Device is a Hard drive
         State                              : Online
         Transfer Speed                     : SATA 6.0 Gb/s
         Reported Channel,Device(T:L)       : 0,3(3:0)
         Model                              : OWN DISK
         Serial number                      : QQ0009
         Size                               : 457862 MB
         SSD                                : Yes
"""
    (disk,) = BroughtText(printed).disks.values()
    assert (disk.serial, disk.model, disk.capacity_bytes, disk.is_solid_state) == (
        "QQ0009",
        "OWN DISK",
        457862 * MIB,
        True,
    )


@for_each("state, capability, bus", [
    ("Speed 8GT/s (ok), Width x8 (ok)", "Port #0, Speed 8GT/s, Width x8, ASPM L0s", "PCIe 3.0 x8"),
    ("Speed 8GT/s (ok), Width x4 (downgraded)", "Port #0, Speed 8GT/s, Width x8, ASPM L0s", "PCIe 3.0 x4"),
    ("Speed 2.5GT/s (downgraded), Width x1 (downgraded)", "Port #1, Speed 16GT/s, Width x16", "PCIe 1.0 x1"),
    ("Speed 16GT/s, Width x4", "Port #0, Speed 16GT/s, Width x4", "PCIe 4.0 x4"),
    ("Speed 5GT/s, Width x8, TrErr- Train- SlotClk+", "", "PCIe 2.0 x8"),
    ("Speed 32GT/s (overdriven), Width x4", "Port #0, Speed 16GT/s, Width x4", "PCIe 5.0 x4"),
    ("Speed 5GT/s, Width x8", "Port #0, Speed 5GT/s, Width x4", ""),
    ("Speed unknown, Width x0", "Port #0, Speed 8GT/s, Width x4", ""),
    ("", "Port #0, Speed 8GT/s, Width x4", ""),
])  # fmt: skip
def test_a_link_is_what_it_runs_at(state: str, capability: str, bus: str) -> None:
    assert link_of(state, capability) == bus


def test_a_controllers_bus_is_its_cards_link() -> None:
    printed = (
        "0b:00.0 RAID bus controller: Own Corporation Card 9 (rev 02)\n"
        "\tCapabilities: [68] Express (v2) Endpoint, MSI 00\n"
        "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x8, ASPM not supported\n"
        "\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (ok)\n"
        "\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-\n"
        "\tKernel driver in use: own\n"
    )
    (controller,) = BroughtText(printed).storage.controllers
    assert (controller.address, controller.bus) == ("0000:0b:00.0", "PCIe 3.0 x8")
