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


ZPOOL = """\
  pool: depot
 state: ONLINE
config:

\tNAME        STATE     READ WRITE CKSUM
\tdepot       ONLINE       0     0     0
\t  sdq       ONLINE       0     0     0

errors: No known data errors
"""
CLI_TABLE = """\
-- Controller information --
-- ID | H/W Model              | RAM    | Temp | BBU    | Firmware
c0    | PERC H700 Integrated   | 512MB  | N/A  | Good   | FW: 12.10.6-0001
"""
NVME = """\
Node             SN                   Model                   Namespace Usage                      Format           FW Rev
---------------- -------------------- ----------------------- --------- -------------------------- ---------------- --------
/dev/nvme3n1     QQ12345              MODEL OF MINE 2TB         1           1.02  TB /   2.00  TB    512   B +  0 B   7B1
"""


@for_each("tool, printed", [("zpool status", ZPOOL), ("megaclisas-status", CLI_TABLE), ("fdisk -l",
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


def test_every_entry_can_be_told_and_has_a_pattern() -> None:
    for tool in TOOLS:
        assert tool.name in tool.reason
        assert re.compile(tool.heading)
        assert re.compile(tool.beside)
        assert not tool.matches("", ""), tool  # a blank line shows nothing
        assert not tool.matches("Results of my benchmark, MB/s", "Results of my benchmark, MB/s"), tool
