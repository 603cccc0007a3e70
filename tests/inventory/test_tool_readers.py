"""What each tool's reader makes of that tool's words: exact values, from the manuals' forms and the corpus' real files."""

import json
from typing import Any

import pytest

from apps.inventory.discovery.storage.buses import is_volume
from apps.inventory.discovery.tool_text import generation_of, level_of, pci_of, size_of, state_of, wwn_of
from apps.inventory.discovery.tool_values import UnreadableError
from apps.inventory.discovery.tools import dmidecode, ethtool, links, lspci, lvs, mkfs, nvme, sysctl, sysfs, zpool
from apps.inventory.discovery.tools.mdadm import arrays as mdadm
from apps.inventory.discovery.tools.smartctl import drives as smartctl
from apps.inventory.discovery.tools.storcli import cards as storcli
from tests.inventory import discovery_seeds as seeds
from tests.inventory import raid_hosts
from tests.parsers.corpus import folder


@pytest.mark.parametrize(
    ("printed", "size"),
    [
        ("465.761 GB [0x3a386030 Sectors]", 500107862016),
        ("3.638 TB [0x3a3812ab Sectors]", 0x3A3812AB * 4096),  # sectors of 4096 bytes
        ("93.13 GiB (99999547392 bytes)", 99999547392),
        ("1,117.25 GB (1199638052864 bytes)", 1199638052864),
        ("256 KB", 262144), ("0 KB", None), ("", None), ("9" * 40 + " PB", None),
    ],
)  # fmt: skip
def test_sizes_are_exact_where_they_are_printed_so(printed: str, size: int | None) -> None:
    assert size_of(printed) == size


def test_words_in_common() -> None:
    assert [level_of(word) for word in ("RAID50", "RAID-6", "10", "JBOD", "?")] == [
        ("0", "5"),
        ("6", ""),
        ("0", "1"),
        ("single", ""),
        ("", ""),
    ]
    assert [state_of(word) for word in ("Optl", "Pdgd", "VERIFYING", "Interim Recovery Mode", "OfLn", "Background Initialization")] == [
        "clean", "degraded", "resyncing", "degraded", "failed", "resyncing",
    ]  # fmt: skip
    assert [pci_of(word) for word in ("00:3b:00:00", "0000:5C:00.0", "0a:00.1", "x")] == [
        "0000:3b:00.0",
        "0000:5c:00.0",
        "0000:0a:00.1",
        "",
    ]
    assert wwn_of("5 000c50 04a1f0000") == "0x5000c5004a1f0000"
    assert (wwn_of("0" * 16), wwn_of("REDACTED"), generation_of("SAS", "12.0Gb/s")) == ("", "", "SAS-12G")


@pytest.mark.parametrize(
    ("vendor", "model", "truth"),
    [("DELL", "PERC H730 Mini", True), ("HP", "LOGICAL VOLUME", True), ("AVAGO", "MR9361-8i", True), ("AMCC", "9650SE-4LP DISK", True),
     ("ATA", "ST4000NM0033", False), ("", "INTEL SSDSC2KB038T8", False), ("HP", "EH0300FBQDD", False), ("IBM-ESXS", "ST373455SS", False)],
)  # fmt: skip
def test_what_calls_itself_a_raid_volume(vendor: str, model: str, truth: bool) -> None:
    assert is_volume(vendor, model) is truth


def test_a_zfs_pool_has_its_vdevs_logs_and_spares() -> None:
    [tank] = zpool.discover(seeds.ZPOOL).pools
    assert [(node.name, node.role, node.level, node.state, len(node.below)) for node in tank.below] == [
        ("raidz2-0", "", "6", "clean", 4), ("raidz2-1", "", "6", "degraded", 4), ("mirror-2", "log", "1", "clean", 2),
        ("/dev/sdi1", "spare", "", "", 0),
    ]  # fmt: skip
    assert zpool.discover("no pools available\n").pools == ()
    assert zpool.discover_datasets(seeds.ZFS).options["tank/db"] == (
        "-o recordsize=16K -o compression=off -o checksum=on -o sync=always -o primarycache=metadata -o atime=off"
    )


def test_lvs_tells_levels_and_stripes() -> None:
    found = lvs.discover(seeds.LVS).by_dm_name
    assert (found["vg-data"].level, found["vg-data"].chunk_size, found["vg-data"].uuid) == ("5", 65536, "a-b")
    assert (found["vg-thin"].level, found["vg-thin"].chunk_size, found["vg-thin"].layout) == ("0", 131072, "thin")


def test_filesystems_as_mkfs_was_asked() -> None:
    ext = mkfs.discover_ext(seeds.TUNE2FS).by_place["/dev/sda1"]
    assert (ext.block_size, ext.stripe_unit, ext.stripe_width) == (4096, 524288, 1572864)
    assert ext.options == "-b 4096 -I 256 -E stride=128,stripe-width=384 -O 64bit,dir_index,ext_attr,extent,has_journal"
    xfs = mkfs.discover_xfs(seeds.XFS_INFO).by_place["/data"]
    assert (xfs.block_size, xfs.stripe_unit, xfs.stripe_width) == (4096, 262144, 524288)
    assert xfs.options == (
        "-b size=4096 -i size=512 -d agcount=32,sunit=512,swidth=1024 -m crc=1,finobt=1,rmapbt=0,reflink=1,bigtime=1"
        " -l size=521728b,version=2"
    )
    with pytest.raises(UnreadableError, match="a filesystem that may be read"):
        mkfs.discover_ext("$ tune2fs -l /dev/sda1\ntune2fs 1.47.0 (5-Feb-2023)\n")


def test_nics_settings_and_cards() -> None:
    assert [(link.name, link.mtu, link.pci) for link in links.discover(seeds.IP).links] == [
        ("eth0", 9000, "0000:05:00.0")
    ]
    assert ethtool.discover(raid_hosts.ETHTOOL).by_name["eth0"].bits_per_second == 10**10
    assert sysctl.discover(seeds.SYSCTL).values == {
        "net.core.rmem_max": "16777216", "net.ipv4.tcp_rmem": "4096 87380 16777216", "vm.dirty_ratio": "20",
    }  # fmt: skip
    assert [(card.kind, card.address) for card in lspci.discover(raid_hosts.LSPCI).cards] == [
        ("raid", "0000:03:00.0"), ("network", "0000:05:00.0"), ("fc", "0000:81:00.0"),
    ]  # fmt: skip
    tree = sysfs.discover(raid_hosts.sysfs())
    assert (tree.pci_of["sda"], tree.buses["0000:03:00.0"]) == ("0000:03:00.0", "PCIe 3.0 x8")
    assert nvme.discover(seeds.NVME).drives[0].capacity_bytes == 1000204886016


def test_slots_of_a_jbod_that_the_kernel_knows() -> None:
    found = {
        "enclosures": {
            "0:0:12:0": {
                "vendor": "LSI",
                "model": "SAS2X36",
                "slots": {"Slot 01": {"slot": 1, "disk": "sda"}, "Slot 02": {"slot": 2}},
            }
        }
    }
    tree = sysfs.discover(json.dumps(found))
    assert (tree.housings[0].name, tree.housings[0].slots, tree.seats["sda"].slot) == ("enclosure 0:0:12:0", 2, 1)


SMART: list[tuple[str, str, dict[str, Any]]] = [
    ("smartctl-json", "scrutiny-smart-ata-full.json", {"device": "sda", "model": "Samsung SSD 860 EVO 500GB", "serial": "S3YZNB0KB00864E",
      "wwn": "0x5002538e40a22954", "firmware": "RVT02B6Q", "interface": "SATA", "generation": "SATA-6G", "is_solid_state": True, "rpm": None,
      "capacity_bytes": 500107862016, "health": "passed"}),
    ("smartctl-json", "scrutiny-smart-fail2.json", {"health": "failed", "generation": "SATA-6G", "link_generation": "SATA-1.5G", "rpm": 7200}),
    ("smartctl-json", "exporter-HITACHI_H109060SESUN600G_10.json",
     {"vendor": "HITACHI", "model": "H109060SESUN600G", "interface": "SAS", "rpm": 10020}),
    ("smartctl-json", "scrutiny-smart-megaraid0.json", {"device": "", "wwn": "0x50014ee26101eee7", "firmware": "00.0D1K4"}),
    ("smartctl-text", "pysmart-sas-ssd-x.txt",
     {"vendor": "SAMSUNG", "serial": "S5DDNE0R801692", "capacity_bytes": 7681501126656, "is_solid_state": True}),
    ("smartctl-text", "pysmart-nvme0.txt", {"interface": "NVMe", "capacity_bytes": 256060514304, "firmware": "ADHA0101"}),
    ("smartctl-text", "glpi-sample7.txt", {"serial": "D5G7WG8L", "wwn": "0x5000cca2940e56b8", "rpm": 7200, "interface": "SAS"}),
]  # fmt: skip


@pytest.mark.parametrize(("directory", "file", "truth"), SMART)
def test_what_a_drive_says_of_itself(directory: str, file: str, truth: dict[str, Any]) -> None:
    [drive] = smartctl.discover((folder(directory) / file).read_text()).drives
    assert {name: getattr(drive, name) for name in truth} == truth


def test_a_raid_volume_is_no_drive_even_to_smartctl() -> None:
    assert smartctl.discover((folder("smartctl-text") / "pysmart-unsupported.txt").read_text()).drives == ()


def test_every_file_of_smartctl_and_storcli_is_read() -> None:
    silent = []
    for name, read in (
        ("smartctl-json", smartctl),
        ("smartctl-text", smartctl),
        ("raid-storcli", storcli),
        ("dmidecode", dmidecode),
        ("lspci", lspci),
    ):
        for path in sorted(folder(name).iterdir()):
            found = read.discover(path.read_text(errors="replace"))
            if not any(vars(found).values()):
                silent.append(path.name)
    assert silent == [
        "scrutiny-smart-fail.json", "scrutiny-smartctl_scan_megaraid.json", "checkraid-cciss-smartctl.txt", "pysmart-unsupported.txt",
        "puppet-perccli_call_show_fail.json", "glpi-psu-Supermicro_1.txt",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "truth"),
    [
        (
            "glpi-dell-r640.txt",
            ("Dell Inc.", "PowerEdge R640", "2RJF153", "Dell Inc. 06NR82", "8 × 32 GB DDR4 2933 MHz"),
        ),
        (
            "glpi-rhel-3.4.txt",
            ("IBM", "IBM eServer x226-[8488PCR]-", "KDXPC16", "IBM MSI-9151 Boards", "3 × 512 MB DDR 400 MHz (2.5 ns)"),
        ),
    ],
)
def test_the_machine_and_its_memory(file: str, truth: tuple[str, ...]) -> None:
    found = dmidecode.discover((folder("dmidecode") / file).read_text())
    assert (found.vendor, found.model, found.serial, found.board, found.ram_type) == truth


def test_mdadm_gives_md_its_own_uuid_and_places() -> None:
    found = mdadm.discover((folder("mdadm") / "jc-mdadm-query-raid5-ok.txt").read_text()).by_name["md0"]
    assert (found.uuid, found.places) == ("4d798d62-adfb-6a9f-cbe9-a393b79cd3f4", {"vda1": 0, "vda2": 1, "vda3": 2})
    assert found.array
    assert (found.array.level, found.array.chunk_size, found.array.size, found.array.state) == (
        "raid5",
        524288,
        415236096,
        "clean",
    )
