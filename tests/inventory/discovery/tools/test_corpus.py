"""Other people's outputs of inventory tools: each is recognised by its own parser only, and its true values are exact."""

import pytest

from tests.inventory.discovery.tools.formats import FORMATS, content, corpus_text, parsed, scores
from tests.parsers.corpus import folder
from tests.sampling import for_each

FOLDERS = {
    "mdadm": {"mdadm"}, "mdstat": {"mdstat"}, "lsblk": {"lsblk"}, "lspci": {"lspci"}, "dmidecode": {"dmidecode"},
    "findmnt": {"findmnt"}, "smartctl-json": {"smartctl json"}, "smartctl-text": {"smartctl text"},
    "raid-storcli": {"storcli json", "storcli text"}, "raid-megacli": {"megacli"}, "raid-omreport": {"omreport"},
    "raid-tw_cli": {"tw_cli"}, "raid-hp": {"ssacli"}, "raid-arcconf": {"arcconf"},
}  # fmt: skip
WITHOUT_FILES = {"nvme", "zpool"}  # nobody's real outputs of these are in the corpus
CUT = {"glpi-rhel-3.4.txt": "36 structures"}  # of 59
MAILS_WITH_BOTH = ("mail-degraded-raid5.txt", "mail-imsm-raid5.txt")  # mdadm --detail and /proc/mdstat


@for_each("name", FOLDERS)
def test_every_file_is_recognised_by_its_own_format_and_no_other(name: str) -> None:
    for file in sorted(folder(name).iterdir()):
        found = {format_ for format_, score in scores(corpus_text(f"{name}/{file.name}")).items() if score > 0.5}
        also = {"mdstat"} if file.name in MAILS_WITH_BOTH else set()
        assert len(found - also) == 1, file.name
        assert found - also <= FOLDERS[name], file.name


@for_each("name", FOLDERS)
def test_every_file_is_read_without_a_broken_place(name: str) -> None:
    for file in sorted(folder(name).iterdir()):
        text = corpus_text(f"{name}/{file.name}")
        (format_,) = set(scores(text)) - ({"mdstat"} if file.name in MAILS_WITH_BOTH else set())
        found = parsed(format_, text)
        assert found.inventory, file.name
        assert [broken.found for broken in found.broken] == ([CUT[file.name]] if file.name in CUT else []), file.name
        for one in found.inventory:
            assert one.summary, file.name
            assert one.content, file.name
            assert 1 <= (one.line or 0) <= (one.last_line or 0) <= len(text.lines)


def test_benchmark_outputs_are_no_inventory() -> None:
    for name in (
        "bonnie1",
        "bonniepp",
        "dd",
        "fio-json",
        "fio-logs",
        "fio-text",
        "hdparm",
        "ioping",
        "iozone",
        "iperf",
        "netperf",
        "vdbench",
    ):
        for file in sorted(folder(name).iterdir()):
            assert scores(corpus_text(f"{name}/{file.name}")) == {}, file.name


def test_outputs_indented_in_a_wiki_page_are_read() -> None:
    text = corpus_text("mixed-logs/kaiser-iozone-in-markdown.md")
    lspci = parsed("lspci", text).inventory[0]
    assert len(lspci.content["devices"]) == 6
    assert lspci.host == "rock-5-itx"
    mdadm = parsed("mdadm", text).inventory[0]
    assert (mdadm.content["raid_level"], mdadm.content["raid_devices"], mdadm.host) == ("raid0", 2, "rock-5-itx")


MDADM = {  # level, array size, raid devices, state, active, failed
    "jc-mdadm-query-detail.txt": ("raid1", "5860520828 (5.46 TiB 6.00 TB)", 2, "clean", 2, 0),
    "jc-mdadm-query-raid0-ok.txt": ("raid0", "200704 (196.00 MiB 205.52 MB)", 2, "clean", 2, 0),
    "jc-mdadm-query-raid1-failed-and-flags.txt": ("raid1", "101376 (99.00 MiB 103.81 MB)", 2, "clean", 2, 1),
    "jc-mdadm-query-raid1-spare-writem-rebuild.txt": (
        "raid1",
        "101376 (99.00 MiB 103.81 MB)",
        2,
        "clean, recovering",
        2,
        0,
    ),
    "jc-mdadm-query-raid5-ok.txt": ("raid5", "405504 (396.00 MiB 415.24 MB)", 3, "clean", 3, 0),
    "jc-mdadm-examine.txt": ("raid1", "5860520828 KiB (5.46 TiB 6.00 TB)", 2, "clean", None, None),
    "jc-mdadm-examine-raid5-meta09.txt": ("raid5", "408576 (399.00 MiB 418.38 MB)", 3, "clean", 3, 0),
    "jc-mdadm-query-raid1-faulty-with-spare.txt": (
        "raid1",
        "101376 (99.00 MiB 103.81 MB)",
        2,
        "clean, degraded, recovering",
        1,
        1,
    ),
    "checkraid-white-mdadm-127.txt": ("raid1", "732571904 (698.64 GiB 750.15 GB)", 2, "clean", 2, 0),
    "mail-degraded-raid5.txt": ("raid5", "23441679360 (22355.73 GiB 24004.28 GB)", 4, "clean, degraded", 3, 0),
}


@for_each("file", MDADM)
def test_mdadm(file: str) -> None:
    found = content("mdadm", corpus_text(f"mdadm/{file}"))
    keys = ("raid_level", "array_size", "raid_devices", "state", "active_devices", "failed_devices")
    assert tuple(found.get(key) for key in keys) == MDADM[file]
    assert all(
        member["device"].startswith("/dev/") for member in found["device_table"] if member.get("state") != "removed"
    )


@pytest.mark.parametrize(
    ("file", "members"),
    [("jc-mdadm-query-container1-root.txt", "/dev/md/vol0"), ("mail-imsm-raid5.txt", "/dev/md/md1_0 /dev/md/md0_0")],
)
def test_mdadm_containers(file: str, members: str) -> None:
    found = content("mdadm", corpus_text(f"mdadm/{file}"))
    assert (found["raid_level"], found["member_arrays"]) == ("container", members)


def test_mdadm_examine_of_1_x_has_its_array_uuid() -> None:
    assert (
        content("mdadm", corpus_text("mdadm/jc-mdadm-examine.txt"))["array_uuid"]
        == "85c5b164:d58a5ada:14f5fe07:d642e843"
    )


MDSTAT = {  # arrays, then of the first ones: name, activity, level, members with number and flags, blocks
    "checkraid-mdstat-centos6.2.txt": (
        5,
        [
            ("md4", "active", "raid1", "sda6[0] sdb6[1]", 238456700),
            ("md3", "active", "raid1", "sda5[0] sdb5[1]", 471858044),
        ],
    ),
    "checkraid-mdstat-resync.txt": (
        3,
        [
            ("md0", "active", "raid1", "sda1[0] sdb1[1]", 56128),
            ("md2", "active", "raid1", "sdc1[0] sdd1[1]", 732571904),
        ],
    ),
    "checkraid-mdstat-none.txt": (0, []),
    "checkraid-mdstat-failed.txt": (1, [("md0", "active", "raid5", "sdc1[3]faulty sdb1[0] sdd1[2]", 8385664)]),
    "checkraid-issue43-reshape.txt": (
        1,
        [("md0", "active", "raid6", "sde1[6]spare sdf1[7]spare sdb1[0] sdg1[3] sdd1[2] sdc[1]", 5860543744)],
    ),
    "checkraid-pr77.txt": (
        2,
        [
            ("md1", "active", "raid1", "sda2[0] sdb2[1]", 467282752),
            ("md0", "active", "raid1", "sda1[0] sdb1[1]", 20971392),
        ],
    ),
    "checkraid-pr185_1.txt": (
        2,
        [
            ("md1", "active", "raid5", "sdh[3] sdg[2] sdj[6] sde[1] sdk[5]spare sdd[0]", 3750244352),
            ("md2", "active", "raid5", "sda[3] sdb[2] sdc[6] sdf[1] sdi[5]spare sdl[0]spare sdm[7]", 3750244352),
        ],
    ),
    "checkraid-issue43-recovery.txt": (
        1,
        [("md0", "active", "raid6", "sde1[6]rebuilding sdf1[7]rebuilding sdb1[0] sdg1[3] sdd1[2] sdc[1]", 5860543744)],
    ),
    "nodeexporter-many-arrays.txt": (
        17,
        [
            (
                "md3",
                "active",
                "raid6",
                "sda1[8] sdh1[7] sdg1[6] sdf1[5] sde1[11] sdd1[3] sdc1[10] sdb1[9] sdd1[10]spare sdd2[11]spare",
                5853468288,
            ),
            ("md127", "active", "raid1", "sdi2[0] sdj2[1]", 312319552),
        ],
    ),
    "checkbox-mdstat_intel_rst.txt": (
        2,
        [
            ("md126", "active", "raid0", "sda[1] sdb[0]", 500113408),
            ("md127", "inactive", "", "sdb[1]spare sda[0]spare", 7593),
        ],
    ),
}


@for_each("file", MDSTAT)
def test_mdstat(file: str) -> None:
    arrays = content("mdstat", corpus_text(f"mdstat/{file}"))["arrays"]
    count, first = MDSTAT[file]
    assert len(arrays) == count
    for array, (name, activity, level, members, blocks) in zip(arrays, first, strict=False):
        assert (array["name"], array["activity"], array["level"], array["size"]) == (
            name,
            activity,
            level,
            blocks * 1024,
        )
        shown = {f"{m['device']}[{m['number']}]{m['state'].removeprefix('in sync')}" for m in array["members"]}
        assert shown == set(members.split())


@pytest.mark.parametrize(
    ("file", "name", "action", "progress"),
    [
        ("checkraid-mdstat-resync.txt", "md2", "resync", 0.112), ("checkraid-issue43-reshape.txt", "md0", "reshape", 0.484),
        ("checkraid-pr77.txt", "md0", "check", 0.064), ("checkraid-issue43-recovery.txt", "md0", "recovery", 0.196),
        ("nodeexporter-many-arrays.txt", "md6", "recovery", 0.085), ("checkraid-pr77.txt", "md1", "resync", None),
    ],
)  # fmt: skip
def test_mdstat_says_how_far_it_is(file: str, name: str, action: str, progress: float | None) -> None:
    arrays = content("mdstat", corpus_text(f"mdstat/{file}"))["arrays"]
    (array,) = [array for array in arrays if array["name"] == name]
    assert (array["action"], array["progress"]) == (action, progress)


def test_mdstat_in_a_mail_is_put_together_where_its_lines_were_wrapped() -> None:
    first, second, _ = parsed("mdstat", corpus_text("mdadm/mail-degraded-raid5.txt")).inventory
    assert (first.content["personalities"][-1], first.content["arrays"][0]["chunk_size"]) == ("raid10", 64 * 1024)
    assert (second.content["arrays"][0]["action"], second.content["arrays"][0]["places"]) == ("recovery", "UUU_")
    before, after = parsed("mdstat", corpus_text("mdadm/mail-imsm-raid5.txt")).inventory
    assert [array["chunk_size"] for array in before.content["arrays"]] == [128 * 1024, 128 * 1024, None]
    assert len(after.content["arrays"][2]["members"]) == 5


LSBLK = {  # devices, keys, then of the first ones: name, type, size, model
    "checkbox-NVIDIA_DGX_STATION.json": (
        9,
        5,
        [("sda", "disk", 1734636624391), ("sda1", "part", 91024191260), ("sda2", "part", 198510558139)],
    ),
    "checkbox-CRYPTO_FDE.json": (
        44,
        5,
        [("loop0", "loop", 288811490), ("loop1", "loop", 127985324), ("loop2", "loop", 216191239)],
    ),
    "checkbox-PANDABOARD.json": (
        3,
        5,
        [("mmcblk0", "disk", 1865575148534), ("mmcblk0p1", "part", 375826659778), ("mmcblk0p2", "part", 57847761853)],
    ),
    "checkbox-XILINX_KR260.json": (
        28,
        5,
        [("loop0", "loop", 85096871), ("loop1", "loop", 447949219), ("loop2", "loop", 363121469)],
    ),
    "checkbox-IBM_s390x_DASD.json": (
        7,
        5,
        [("dasda", "disk", 1386063927162), ("dasda1", "part", 337807256036), ("dasda2", "part", 335077960609)],
    ),
    "fsinfocat-lsblk-wrapped.json": (
        14,
        45,
        [("/dev/loop0", "loop", 150798336), ("/dev/loop1", "loop", 102637568), ("/dev/loop2", "loop", 103129088)],
    ),
    "generated-J-O-simple-lvm.json": (
        7,
        65,
        [("loop0", "loop", "10M"), ("loop1", "loop", "10M"), ("loop2", "loop", "10M")],
    ),
    "generated-J-O-multi-devs-bcachefs.json": (
        5,
        65,
        [
            ("sda", "disk", "223.6G", "KINGSTON_SH103S3240G"),
            ("sdb", "disk", "74.5G", "WDC_WD800JD-00MSA1"),
            ("sdc", "disk", "500M", "scsi_debug"),
        ],
    ),
    "ironic-blk_device_template.json": (
        13,
        12,
        [
            ("sda", "disk", 3116853504, "TinyUSB Drive"),
            ("sdb", "disk", 10737418240, "Fastable SD131 7"),
            ("sdc", "disk", 1765517033472, "NWD-BLP4-1600"),
        ],
    ),
    "ironic-blk_device_template_small.json": (
        2,
        12,
        [("sda", "disk", 3116853504, "TinyUSB Drive"), ("sdb", "disk", 4294967295, "AlmostBigEnough Drive")],
    ),
    "ironic-blk_incomplete_device_template_small.json": (
        2,
        12,
        [("sda", "disk", 3116853504, "TinyUSB Drive"), ("sdb", "disk", 4294967295, "AlmostBigEnough Drive")],
    ),
    "ironic-multipath_blk_device_template.json": (
        15,
        12,
        [
            ("sda", "disk", 60022480896, "INTEL_SSDSC2CT060A3"),
            ("sda2", "part", 59162722304),
            ("sda3", "part", 650002432),
        ],
    ),
    "jc-ubuntu-18.04-lsblk-allcols.txt": (17, 40, [("fd0", "disk", "1.4M")]),
    "jc-centos-7.7-lsblk.txt": (6, 7, [("sda", "disk", "20G"), ("sda1", "part", "1G"), ("sda2", "part", "19G")]),
    "vps-do-5bucks-ubuntu-lsblk.txt": (2, 7, [("/dev/vda", "disk", "20G"), ("/dev/vda1", "part", "20G")]),
    "utillinux-simple-lvm-topo.txt": (21, 8, [("loop0", None, "10M"), ("vg_foo.4059-lv_foo.4059", None, "32M")]),
}


@for_each("file", LSBLK)
def test_lsblk(file: str) -> None:
    devices = content("lsblk", corpus_text(f"lsblk/{file}"))["blockdevices"]
    count, keys, first = LSBLK[file]
    assert len(devices) == count
    assert len(set(devices[0]) - {"parent"}) == keys
    for device, (name, kind, size, *model) in zip(devices, first, strict=False):
        assert (device.get("name") or device["kname"], device.get("type"), _size(device["size"])) == (name, kind, size)
        assert not model or device["model"].strip() == model[0]


def _size(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdigit() else value


def test_lsblks_tree_keeps_what_lies_on_what() -> None:
    centos = content("lsblk", corpus_text("lsblk/jc-centos-7.7-lsblk.txt"))["blockdevices"]
    assert {one["name"]: one.get("parent") for one in centos} == {
        "sda": None, "sda1": "sda", "sda2": "sda", "centos-root": "sda2", "centos-swap": "sda2", "sr0": None,
    }  # fmt: skip
    ascii_tree = content("lsblk", corpus_text("lsblk/utillinux-simple-lvm-topo.txt"))["blockdevices"]
    assert [one.get("parent") for one in ascii_tree[:4]] == [None, "loop0", None, "loop1"]


LSPCI = {  # devices, (slot, class, beginning of the name) of the first and the last
    "glpi-linux-2.txt": (
        19,
        ("00:00.0", "Host bridge", "Intel Corporation 82975X Memory Controll"),
        ("05:02.0", "FireWire (IEEE 1394)", "LSI Corporation FW322"),
    ),
    "glpi-dell-xt2.txt": (
        24,
        ("00:00.0", "Host bridge", "Intel Corporation Mobile 4 Series Chipse"),
        ("0c:00.0", "Network controller", "Intel Corporation WiFi"),
    ),
    "glpi-nvidia-1.txt": (
        51,
        ("00:00.0", "Host bridge", "Advanced Micro Devices, Inc. [AMD] Stars"),
        ("0d:00.0", "SATA controller", "Advanced Micro Devices, In"),
    ),
    "jc-lspci-nnmmv.txt": (
        47,
        ("00:00.0", "Host bridge", "440BX/ZX/DX"),
        ("ff:02:05.0", "SATA controller", "SATA AHCI controller"),
    ),
    "virtualclient-lspci_physical_system_1.txt": (
        25,
        ("00:00.0", "Host bridge", "Advanced Micro Devices, Inc. [AMD] Device 1566"),
        ("04:00.0", "Unassigned class", "Realtek Semiconductor Co."),
    ),
    "virtualclient-windows-1.txt": (
        29,
        ("00:00.0", "Host bridge", "Intel Corporation Device 2020"),
        ("02:00.0", "PCI bridge", "Pericom Semiconductor Device e113"),
    ),
    "proxmox-raid-lspci.txt": (
        1,
        ("03:00.0", "RAID bus controller", "Broadcom / LSI MegaRAID SAS 2008 [Falco"),
        ("03:00.0", "RAID bus controller", "Broadcom"),
    ),
}


@pytest.mark.parametrize("file", LSPCI)
def test_lspci(file: str) -> None:
    devices = content("lspci", corpus_text(f"lspci/{file}"))["devices"]
    count, *ends = LSPCI[file]
    assert len(devices) == count
    for device, (slot, kind, name) in zip((devices[0], devices[-1]), ends, strict=True):
        assert (device["slot"], device["class"]) == (slot, kind)
        assert (device.get("name") or device["device"]).startswith(name)


def test_lspci_keeps_numbers_and_what_the_link_runs_at() -> None:
    (raid,) = content("lspci", corpus_text("lspci/proxmox-raid-lspci.txt"))["devices"]
    assert (raid["rev"], raid["details"]["LnkSta"], raid["details"]["Kernel driver in use"]) == (
        "03",
        "Speed 5GT/s, Width x8",
        "megaraid_sas",
    )
    first = content("lspci", corpus_text("lspci/glpi-linux-2.txt"))["devices"][0]
    assert (first["class_id"], first["id"]) == ("0600", "8086:277c")
    machine = content("lspci", corpus_text("lspci/jc-lspci-nnmmv.txt"))["devices"][0]
    assert (machine["class_id"], machine["vendor_id"], machine["device_id"], machine["rev"]) == (
        "0600",
        "8086",
        "7190",
        "01",
    )


FINDMNT = {  # mounts, (target, source, fstype) of one of them by place
    "fsinfocat-findmnt.json": (42, 0, ("/sys", "sysfs", "sysfs")),
    "utillinux-outputs-default.txt": (32, 0, ("/", "/dev/sda4", "ext3")),
    "utillinux-outputs-pairs.txt": (32, 1, ("/sys", "/sys", "sysfs")),
    "jc-centos7-findmnt.txt": (32, 0, ("/", "/dev/mapper/centos-root", "xfs")),
}


@pytest.mark.parametrize("file", FINDMNT)
def test_findmnt(file: str) -> None:
    mounts = content("findmnt", corpus_text(f"findmnt/{file}"))["filesystems"]
    count, place, expected = FINDMNT[file]
    assert len(mounts) == count
    assert tuple(mounts[place][key] for key in ("target", "source", "fstype")) == expected


DMIDECODE = {  # version, structures, first manufacturer, product name, serial number, size
    "glpi-dell-r620.txt": ("3.0", 99, "Dell Inc.", "PowerEdge R620", "3FHW8Z1", "16384 MB"),
    "glpi-hp-dl360-gen8.txt": ("3.0", 180, "HP", "ProLiant DL360p Gen8", "USE2236835", "8192 MB"),
    "glpi-windows-hyperV.txt": (
        "2.10",
        159,
        "Microsoft Corporation",
        "Virtual Machine",
        "2349-2347-2234-2340-2341-3240-48",
        "1024 MB",
    ),
    "glpi-freebsd-8.1.txt": ("2.10", 37, "Hewlett-Packard", "HP Pavilion dv6 Notebook PC", "CNF01207X6", "2048 MB"),
    "glpi-psu-Supermicro_1.txt": ("2.12", 3, "SUPERMICRO", None, "P406PCG17LT2411", None),
    "glpi-rhel-3.4.txt": ("2.2", 36, "IBM", "IBM eServer x226-[8488PCR]-", "KDXPC16", "512 MB"),
    "glpi-vmware.txt": (
        "2.7",
        45,
        "VMware, Inc.",
        "VMware Virtual Platform",
        "VMware-50 0c 23 94 04 63 a1 3c-0d d4 f5 37 a6 bb f0 a6",
        "2048 MB",
    ),
    "glpi-dell-r640.txt": ("3.0", 82, "Dell Inc.", "PowerEdge R640", "2RJF153", "32 GB"),
    "vps-ovh-vpsssd1-ubuntu-dmidecode.txt": (
        "3.0",
        9,
        "OpenStack Foundation",
        "OpenStack Nova",
        "00000000-0000-0000-0000-0cc47adf1f1c",
        "2000 MB",
    ),
    "checkbox-lenovo-systemx.txt": (
        "3.2",
        83,
        "Intel(R) Corporation",
        "System x3550 M5: -[5463AC1]-",
        "Not Specified",
        "16384 MB",
    ),
}


@for_each("file", DMIDECODE)
def test_dmidecode(file: str) -> None:
    found = content("dmidecode", corpus_text(f"dmidecode/{file}"))
    first: dict[str, str] = {}
    for structure in found["structures"]:
        first = {**structure["fields"], **first} if isinstance(structure["fields"], dict) else first
    keys = ("Manufacturer", "Product Name", "Serial Number", "Size")
    assert (found["version"], len(found["structures"]), *(first.get(key) for key in keys)) == DMIDECODE[file]


def test_the_formats_have_names_of_their_own() -> None:
    assert sorted(FORMATS) == sorted([*WITHOUT_FILES, *(name for names in FOLDERS.values() for name in names)])
