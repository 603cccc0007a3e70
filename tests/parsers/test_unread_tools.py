"""What lies beside results in a lab's folders and only looks like a table of them."""

import re

from apps.parsers.core.source_text import SourceText
from apps.parsers.core.unread_tools import TOOLS, detect_unread_tool
from apps.uploads.file_reader import read_file
from tests.sampling import for_each

VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 21034016  65632 1290508    0    0   192   402 1290    4  5  1 94  0  0
 0  0      0 21034016  65632 1290508    0    0     0     0  289  480  0  0 100  0  0
"""
IOSTAT = """\
Linux 2.6.18-128.el5 (nas3) \t11/02/2009

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.20    0.00    0.62    0.34    0.00   97.83

Device:         rrqm/s   wrqm/s   r/s   w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
sda               1.19     1.25  5.49  1.02   235.94    29.66    81.59     0.02    5.42   2.41   1.57
sdb               1.19     1.25 12.00  1.02  1235.94    29.66   194.40     0.02    5.42   2.41  11.57
"""
DF = """\
Filesystem            Size  Used Avail Use% Mounted on
/dev/md0              1.4T  600G  700G  47% /data
tmpfs                 7.9G     0  7.9G   0% /dev/shm
"""
DF_RUSSIAN = """\
Файл.система   Размер Использовано  Дост Использовано% Cмонтировано в
/dev/sda1         20G         4,1G   15G           22% /
"""
DF_GERMAN = """\
Dateisystem    1K-Blöcke  Benutzt Verfügbar Verw% Eingehängt auf
/dev/sda1       20509264  4210236  15234180   22% /
tmpfs            1012340        0   1012340    0% /dev/shm
"""
FREE = """\
             total       used       free     shared    buffers     cached
Mem:       8174392    8127272      47120          0     146288    6844548
Swap:      2096472         88    2096384
"""
MEMORY = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 1

Running memory speed test with the following options:
  block size: 1KiB

60623.20 MiB transferred (6061.48 MiB/sec)

General statistics:
    total time:                          10.0001s
    total number of events:              62078154
"""
MEMINFO = "MemTotal:       24684096 kB\nMemFree:        20102196 kB\nBuffers:           65632 kB\n"
NET = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1836200   12214    0    0    0     0          0         0  1836200   12214    0    0    0     0       0          0
  eth0: 9836200   72214    0    0    0     0          0         0  2836200   42214    0    0    0     0       0          0
"""
DU = "0\t/data/a\n128\t/data/b\n4096\t/data\n"
SYSCTL = "kernel.sched_latency_ns = 24000000\nvm.dirty_ratio = 40\nvm.swappiness = 60\nnet.ipv4.tcp_rmem = 4096  87380  6291456\n"
TOP = """\
top - 11:15:26 up 30 min,  0 users,  load average: 2.32, 2.15, 1.33
Tasks: 112 total,   1 running, 111 sleeping,   0 stopped,   0 zombie

  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
    1 root      20   0  167860  11476   8388 S   0.0   0.0   0:01.20 systemd
"""


@for_each("tool, printed", [
        ("vmstat", VMSTAT), ("sysstat (iostat, sar, mpstat)", IOSTAT), ("df", DF), ("df", DF_GERMAN), ("df", DF_RUSSIAN), ("free", FREE),
        ("a test of sysbench other than fileio", MEMORY), ("/proc/meminfo", MEMINFO), ("/proc/net/dev", NET),
        ("du", DU), ("sysctl", SYSCTL), ("top", TOP),
    ])  # fmt: skip
def test_it_is_named_and_nobody_is_asked_to_map_it(tool: str, printed: str) -> None:
    for before in ("", "# during the run\n\n"):
        found = read_file(SourceText(before + printed))
        assert found.error is not None
        assert (found.runs, found.table) == ((), {})
        assert found.error.message.startswith(f"{tool} prints this")
        assert found.error.line == 1 + before.count("\n")
        assert found.error.found in printed


def test_results_beside_it_are_read() -> None:
    dd = "1000+0 records in\n1000+0 records out\n1048576000 bytes (1.0 GB) copied, 10 s, 105 MB/s\n"
    found = read_file(SourceText(DF + dd + VMSTAT))
    assert [one.format for one in found.runs] == ["dd"]


def test_a_table_of_means_that_has_such_words_is_a_table() -> None:
    table = "Device\tr/s\tw/s\nsata raid0\t120.5\t98.1\nscsi raid5\t180.2\t120.7\n"
    sizes = "File system   Size   Write MB/s   Read MB/s\next3          2 GB   81.5         92.1\nxfs           2 GB   90.1         99.7\n"
    used = "Filesystem   Used   Write MB/s   Read MB/s\next3         20 %   81.5         92.1\nxfs          60 %   90.1         99.7\n"
    places = "64\t/mnt/ext3\t120.5\n64\t/mnt/xfs\t130.5\n128\t/mnt/ext3\t125.5\n"
    for printed in (table, sizes, used, places):
        assert detect_unread_tool(SourceText(printed)) is None
        assert read_file(SourceText(printed)).table


def test_who_says_that_it_is_a_table_gets_the_dialog() -> None:
    assert read_file(SourceText(VMSTAT), "table").table["columns"]


def test_columns_without_headings_are_asked_about_by_number() -> None:
    found = read_file(SourceText("ext3;12.5;7.5\nxfs;13.5;6.5\njfs;1.5;8.5\n"))
    assert found.error
    assert found.error.message == "needs a mapping: what are the columns 2, 3?"
    assert found.table["questions"][0] == "what is column 1 ('ext3')?"


LVS = """\
  LV    VG     Attr       LSize  Pool Origin Data%  Meta%
  root  depot  -wi-ao---- 20.00g
  srv   depot  -wi-ao----  1.50t
"""
CLI_TABLE = """\
-- Controller information --
-- ID | H/W Model              | RAM    | Temp | BBU    | Firmware
c0    | PERC H700 Integrated   | 512MB  | N/A  | Good   | FW: 12.10.6-0001
"""


@for_each("tool, printed", [("lvs, vgs or pvs", LVS), ("megaclisas-status", CLI_TABLE), ("fdisk -l",
    "Disk /dev/sdq: 1.8 TiB, 2000398934016 bytes, 3907029168 sectors\nDisk model: MODEL OF MINE\n"), ("fdisk -l",
    "Festplatte /dev/sdq: 1,8 TiB, 2000398934016 Bytes, 3907029168 Sektoren\nFestplattenmodell: MODEL OF MINE\n"),
    ("lsscsi", "[3:0:0:0]    disk    ATA      MODEL OF MINE    0A1  /dev/sdq\n"), ("lshw", "  *-disk\n       description: ATA Disk\n")])  # fmt: skip
def test_an_inventory_tool_is_named_with_what_to_bring_in_its_place(tool: str, printed: str) -> None:
    indented = "".join(f"    {line}\n" for line in printed.splitlines())
    for text in (printed, f"root@box:~# a command\n{printed}", indented, f"<html><pre>\n{printed}</pre></html>"):
        found = read_file(SourceText(text))
        assert found.error is not None
        assert found.table == {}
        assert found.error.message == f"{tool} prints this, which Spindle does not read"
        assert "lsblk -J" in found.error.expected or "MegaCli -" in found.error.expected


MANY = [
    ("fdisk -l", "Disque /dev/sdq : 1,8 TiB, 2000398934016 octets, 3907029168 secteurs\n"),
    ("parted -l", "Model: OWN DISK (scsi)\nDisk /dev/sdq: 2000GB\nPartition Table: gpt\n"),
    ("multipath -ll", "mpathq (3600000000000000000000000000000009) dm-7 OWN,LUN\n[size=2.0T][features=1 queue_if_no_path][hwhandler=0]\n"),
    ("multipath -ll", "3600000000000000000000000000000009 dm-7 OWN,LUN\nsize=2.0T features='0' hwhandler='1 alua' wp=rw\n"),
    ("lvs, vgs or pvs", '{"report": [{"vg": [{"vg_name": "depot", "pv_count": "2"}]}]}\n'),
    ("lvdisplay, vgdisplay or pvdisplay", "  --- Logical volume ---\n  LV Path                /dev/depot/root\n"),
    ("sas2ircu or sas3ircu display", "Avago Technologies SAS3 IR Configuration Utility.\nVersion 9.00.00.00\n"),
    ("hdparm -I", "\n/dev/sdq:\n\nATA device, with non-removable media\n\tModel Number:       OWN DISK\n"),
    ("hdparm -i", "\n/dev/sdq:\n\n Model=OWN DISK, FwRev=OWN1, SerialNo=QQ1\n Config={ Fixed }\n"),
    ("diskutil list", "/dev/disk2\n   #:                 TYPE NAME           SIZE       IDENTIFIER\n   0:  GUID_partition_scheme  *2.0 TB  disk2\n"),
    ("geom disk list", "Geom name: da7\nProviders:\n1. Name: da7\n   Mediasize: 2000398934016 (1.8T)\n"),
    ("gpart list", "Geom name: da7\nmodified: false\nstate: OK\nscheme: GPT\n"),
    ("camcontrol devlist", "scbus0 on ahcich0 bus 0:\n<OWN DISK OWN1>    at scbus0 target 0 lun 0 (pass0,da7)\n"),
    ("lshw", "H/W path    Device    Class  Description\n=================\n/0/1/0.0.0  /dev/sdq  disk  2TB OWN DISK\n"),
    ("lshw -json", '[{"id": "disk", "class": "disk", "claimed": true, "logicalname": "/dev/sdq"}]\n'),
    ("inxi", "System:\n  Kernel: 6.1.0 arch: x86_64 bits: 64\nDrives:\n  Local Storage: total: 1.8 TiB\n"),
    ("inxi", "Drives:    HDD Total Size: 2000.4GB (9.5% used)\n           ID-1: /dev/sdq model: OWN size: 2000.4GB\n"),
    ("Get-PhysicalDisk or Get-Disk", "Number Friendly Name Serial Number HealthStatus OperationalStatus\n1 OWN QQ1 Healthy Online\n"),
    ("Get-PhysicalDisk or Get-Disk", "FriendlyName      : OWN DISK\nMediaType         : SSD\nHealthStatus      : Healthy\n"),
    ("btrfs filesystem show", "Label: none  uuid: 00000000-1111-2222-3333-444444444444\n\tTotal devices 1 FS bytes used 1.00GiB\n"),
    ("btrfs filesystem usage or df", "Data, RAID1: total=10.00GiB, used=9.00GiB\nSystem, RAID1: total=32.00MiB, used=16.00KiB\n"),
    ("blkid", "DEVNAME=/dev/sdq1\nUUID=00000000-1111-2222-3333-444444444444\nTYPE=ext4\n"),
    ("lscpu", "Architektur:            x86_64\nCPU(s):                 8\n"),
    ("lscpu", '{"lscpu": [{"field": "Architecture:", "data": "x86_64"}]}\n'),
    ("nvme list -v", "NVM Express Subsystems\n\nSubsystem        Subsystem-NQN     Controllers\n"),
    ("nvme smart-log", "Smart Log for NVME device:nvme3 namespace-id:ffffffff\ncritical_warning : 0\n"),
    ("zpool list", "NAME   SIZE  ALLOC  FREE  FRAG  CAP  DEDUP  HEALTH  ALTROOT\ndepot  1.8T  1T  0.8T  0%  55%  1.00x  ONLINE  -\n"),
    ("zpool iostat", "        capacity     operations     bandwidth\npool  alloc  free   read  write   read  write\ndepot  1T  1T  12  30  1M  3M\n"),
    ("mount", "/dev/sdq1 on /srv type xfs (rw,relatime)\nproc on /proc type proc (rw,nosuid)\n"),
    ("/etc/fstab", "UUID=00000000-1111-2222-3333-444444444444 /srv xfs defaults 0 2\n"),
    ("xfs_info", "meta-data=/dev/sdq1  isize=512    agcount=4, agsize=122094597 blks\n"),
    ("dmesg", "[    0.000000] Linux version 6.1.0 (own@box)\n[    2.123456] sd 0:0:0:0: [sdq] 3907029168 512-byte logical blocks\n"),
]  # fmt: skip


@for_each("tool, printed", MANY)
def test_tools_in_other_forms_and_versions_are_named(tool: str, printed: str) -> None:
    found = read_file(SourceText(printed))
    assert found.error is not None
    assert (found.error.message.partition(" prints this")[0], found.table) == (tool, {})


def test_every_entry_can_be_told_and_has_a_pattern() -> None:
    for tool in TOOLS:
        assert tool.name in tool.reason
        assert re.compile(tool.heading)
        assert re.compile(tool.beside)
        assert not tool.matches("", ""), tool  # a blank line shows nothing
        assert not tool.matches("Results of my benchmark, MB/s", "Results of my benchmark, MB/s"), tool
