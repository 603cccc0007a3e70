"""Outputs of benchmarks that are not read: told by the tool's name, whole or from the middle, and never asked about as a table."""

import pytest

from apps.parsers.core.source_text import SourceText
from apps.parsers.core.unread_tools import benchmarks, detect_unread_tool
from apps.uploads.file_reader import read_file
from tests.parsers.test_shared_cases_tools import CASES

SAMPLES = {
    "CrystalDiskMark": [
        (
            "---------\nCrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n---------\n[Read]\n"
            "  SEQ    1MiB (Q=  8, T= 1):  3012.437 MB/s [   2872.8 IOPS] <  2358.86 us>\n"
        ),
        (
            "[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3012.437 MB/s [   2872.8 IOPS] <  2358.86 us>\n"
            "  RND    4KiB (Q= 32, T= 1):   312.437 MB/s [  76278.8 IOPS] <   412.86 us>\n"
        ),
        "   Sequential Read (Q= 32,T= 1) :   501.231 MB/s\n  Sequential Write (Q= 32,T= 1) :   404.382 MB/s\n",
    ],
    "KDiskMark": [
        "KDiskMark (3.1.4): https://github.com/JonMagon/KDiskMark\n[Read]\nSequential   1 MiB (Q=  8, T= 1):  3512.437 MB/s\n",
    ],
    "DiskSpd": [
        (
            "\nCommand Line: C:\\tools\\diskspd.exe -b64K -d60 -o4 -t4 -w0 E:\\t.dat\n\nInput parameters:\n\n\ttimespan:   1\n"
            "\t-------------\n"
        ),
        (
            "Total IO\nthread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  file\n-----\n"
            "     0 |      1234567168 |        37677 |      39.24 |     627.95 | t\n"
        ),
        (
            '<?xml version="1.0"?>\n<Results>\n<System><ComputerName>W1</ComputerName></System>\n<Profile>\n</Profile>\n'
            "</Results>\n"
        ),
    ],
    "elbencho": [
        (
            "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n=========== ================    ==========   =========\n"
            "WRITE       Elapsed time     :     1.001s      1.204s\n"
        ),
        (
            "ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size\n"
            "2026-01-02T10:00:00+0100,a,file,1,1,4,,,1g,1m\n"
        ),
    ],
    "fs_mark": [
        (
            "FSUse%        Count         Size    Files/sec     App Overhead\n"
            "     4        10000        51200        812.4           123412\n"
        ),
    ],
    "IOR": [
        (
            "IOR-3.3.0: MPI Coordinated Test of Parallel I/O\nBegan               : Mon Jan  5 10:00:00 2026\n"
            "Command line        : ior -t 1m -b 16m\n"
        ),
        (
            "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)\n"
            "write        2510.10    2410.00    2460.05      50.05    2510.10\n"
        ),
    ],
    "mdtest": [
        "-- started at 01/05/2026 10:00:00 --\n\nmdtest-3.3.0 was launched with 8 total task(s) on 1 node(s)\n",
        (
            "SUMMARY: (of 3 iterations)\n   Operation                  Max        Min       Mean    Std Dev\n"
            "   File creation     :   3412.7   3311.9   3360.0     41.1\n"
        ),
    ],
    "tiobench": [
        (
            "Sequential Writes\n                              File  Blk   Num                   Avg      Maximum\n"
            "Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency\n"
            "6.1.0    1024  4096    1   88.60 12.34%     0.061      120.55\n"
        ),
        (
            "Tiotest results for 2 concurrent io threads:\n,----------------------------------.\n"
            "| Item   | Time     | Rate         |\n"
        ),
    ],
    "dbench or tbench": [
        "tbench version 3.04 - Copyright Andrew Tridgell 1999-2004\n\nRunning for 60 seconds\n",
        (
            "   4      1234   412.10 MB/sec  warmup   1 sec  latency 12.1 ms\n"
            "   4      2234   414.10 MB/sec  execute   2 sec  latency 12.2 ms\n"
        ),
        "Throughput 412.345 MB/sec 4 procs\n",
    ],
    "ddrescue": [
        (
            "# Mapfile. Created by GNU ddrescue version 1.25\n# Command line: ddrescue /dev/sdq a.img a.map\n"
            "# current_pos  current_status\n0x00000000     +\n"
        ),
    ],
    "Filebench": [
        "Filebench Version 1.4.9.1\n10201: 0.000: Allocated 170MB of shared memory\n",
        "60.112: IO Summary: 81234 ops, 1353.4 ops/s, (123/246 r/w), 32.1mb/s\n",
    ],
    "Blogbench": [
        (
            "Frequency = 10 secs\nScratch dir = [/mnt/b]\nSpawning 3 writers...\n"
            "Nb blogs   R articles    W articles    R pictures\n      12        12001           312          9012\n"
        ),
    ],
    "PostMark": [
        "PostMark v1.51 : 8/14/01\npm>set number 5000\npm>run\nCreating files...Done\n",
    ],
    "rados bench": [
        (
            "hints = 1\n"
            "Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds or 0 objects\n"
        ),
    ],
    "warp": [
        "Report: PUT. Concurrency: 16. Ran: 28s\n * Average: 312.01 MiB/s, 31.20 obj/s\n",
    ],
    "pg_test_fsync": [
        (
            "5 seconds per test\nO_DIRECT supported on this platform\n\nCompare file sync methods using one 8kB write:\n"
            "        open_datasync    812.123 ops/sec    1231 usecs/op\n"
        ),
    ],
    "yabs": [
        '{"version":"v2026-01-01","fio":[{"bs":"4k","speed_r":81234,"iops_r":20308}]}\n',
        "fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/sdq1):\n------\nBlock Size | 4k            (IOPS)\n",
    ],
    "Phoronix Test Suite": [
        '<?xml version="1.0"?>\n<PhoronixTestSuite>\n  <Generated><Title>t</Title></Generated>\n</PhoronixTestSuite>\n',
    ],
    "stress-ng": [
        "stress-ng: info:  [4711] dispatching hogs: 4 hdd\nstress-ng: metrc: [4711] hdd   81234  60.01  1.2  30.3  1353.6\n",
    ],
    "pgbench": [
        (
            "starting vacuum...end.\ntransaction type: TPC-B (sort of)\nscaling factor: 10\n"
            "number of transactions actually processed: 1234\ntps = 123.4 (including connections establishing)\n"
        ),
    ],
    "nuttcp": [
        " 1148.9375 MB /  10.00 sec =  963.6123 Mbps 14 %TX 18 %RX 0 retrans\n",
    ],
    "qperf": [
        "tcp_bw:\n    bw  =  1.17 GB/sec\ntcp_lat:\n    latency  =  21.3 us\n",
    ],
    "WinSAT": [
        (
            "Windows System Assessment Tool\n> Running: Feature Enumeration ''\n"
            "> Disk  Sequential 64.0 Read                   512.12 MB/s          8.1\n"
        ),
    ],
    "Iometer": [
        "'Test Type,Test Description\n0,\n'Version\n1.1.0 \n'Time Stamp\n2026-01-05 10:00:00:123\n",
    ],
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("before", ["", "Results of Monday\n\n", "user@box:~$ ./run.sh\n"])
def test_a_benchmark_that_is_not_read_is_told_by_its_name(name: str, before: str) -> None:
    for sample in SAMPLES[name]:
        result = read_file(SourceText(before + sample))
        assert (result.runs, result.table) == ((), {})
        assert result.error
        assert result.error.message.startswith(f"{name} prints this")
        assert not result.error.message.startswith("needs a mapping")


def test_every_sample_is_of_an_entry() -> None:
    assert SAMPLES.keys() <= {tool.name for tool in benchmarks.TOOLS}


@pytest.mark.parametrize(
    "table",
    [
        "Tool,Write MB/s,Read MB/s\nCrystalDiskMark,412,501\nATTO,423,499\n",
        "Benchmark    Throughput MB/s   IOPS\nfs_mark      12.3              401\nmdtest       22.3              812\n",
        "warp\tPUT MB/s\tGET MB/s\nnode1\t120.5\t220.1\nnode2\t121.5\t219.1\n",
    ],
)
def test_a_table_that_names_such_tools_is_a_table(table: str) -> None:
    assert detect_unread_tool(SourceText(table)) is None


NAMES = {
    "elbencho-livecsv.txt": "elbencho", "crystaldiskmark.txt": "CrystalDiskMark", "yabs.txt": "yabs", "fs_mark.txt": "fs_mark",
    "mdtest.txt": "mdtest", "tiobench.txt": "tiobench", "ddrescue.txt": "ddrescue", "diskspd.txt": "DiskSpd", "diskspd.xml": "DiskSpd",
    "warp.txt": "warp", "ior.txt": "IOR", "pgbench.txt": "pgbench", "dbench.txt": "dbench", "phoronix-composite.xml": "Phoronix",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_shared_cases_are_told_by_their_names(name: str) -> None:
    path = CASES / "named" / name
    if not path.is_file():
        pytest.skip(f"the cases are not here ({path})")
    result = read_file(SourceText(path.read_bytes(), name))
    assert (result.runs, result.table) == ((), {})
    assert result.error
    assert result.error.message.startswith(NAMES[name])
