"""A line that somebody's editor, mail or disk damaged: it is told, it says no other value, and what stands around it is read."""

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.registry import get_format, read
from apps.parsers.core.source_text import SourceText
from tests.sampling import for_each

IOZONE = """\
              kB  reclen    write  rewrite    read    reread
              64       4   812345   923456  1034567  1145678
              64       8   822345   933456  1044567  1155678
              64      16   832345   943456  1054567  1165678
"""
MATRIX = """\
"Writer report"
        "4"  "8"
"64"   507625  886494 
"128"   688467  978253 
"""  # noqa: W291 - IOzone prints a blank behind each figure
PROCESSES = """\
\tChildren see throughput for  2 initial writers \t=  482.50 kB/sec
\tParent sees throughput for  2 initial writers \t=  441.25 kB/sec
\tMin throughput per process \t\t\t=  231.00 kB/sec
\tMax throughput per process \t\t\t=  251.50 kB/sec
"""
BONNIE = """\
              -------Sequential Output-------- ---Sequential Input-- --Random--
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
one       500  4317 98.1 11822 33.0  2408 12.5  4980 87.2 10713  9.1  89.2  1.0
two       500  4318 98.2 11823 33.1  2409 12.6  4981 87.3 10714  9.2  89.3  1.1
"""
NEW_CSV = (
    "1.98,2.00,box,1,77,16G,,16384,3,,,300001,31,200002,22,,,400003,13,9004,44"
    + "," * 19
    + "27ms,56ms,,33ms,506ms,,,,,,\n"
)
IPERF2 = """\
Client connecting to 10.1.1.2, TCP port 5001
[  3] local 10.1.1.1 port 40000 connected with 10.1.1.2 port 5001
[  3]  0.0- 1.0 sec   112 MBytes   940 Mbits/sec
[  3]  0.0- 9.0 sec  1013 MBytes   944 Mbits/sec
"""
IPERF3 = """\
Connecting to host 10.1.1.2, port 5201
[  5] local 10.1.1.1 port 40000 connected to 10.1.1.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    341 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-9.00   sec  1013 MBytes   944 Mbits/sec    3             sender
[  5]   0.00-9.04   sec  1011 MBytes   938 Mbits/sec                  receiver
"""
IPERF2_CSV = "20240102030405,10.1.1.1,40000,10.1.1.2,5001,3,0.0-9.0,1062207488,944184433\n"
IOPING = """\
4 KiB <<< /t (ext4 /dev/sdq1): request=1 time=211.3 us
--- /t (ext4 /dev/sdq1) ioping statistics ---
1 requests completed in 211.3 us, 4 KiB read, 4.73 k iops, 18.5 MiB/s
min/avg/max/mdev = 211.3 us / 211.3 us / 211.3 us / 0 us
"""
SYSBENCH = """\
Extra file open flags: (none)
8 files, 2MiB each
16MiB total file size
Block size 16KiB
Doing random read test
File operations:
    reads/s:                      148.47
Throughput:
    read, MiB/s:                  2.32
Latency (ms):
         min:                                    0.01
         avg:                                    6.72
         max:                                   40.13
         95th percentile:                       21.50
"""
HDPARM = "/dev/sdq:\n Timing buffered disk reads (offset 5 GB): 300 MB in  3.00 seconds = 100.00 MB/sec\n"
TIME_CP = "$ time cp big /mnt/\n\nreal\t0m4.512s\nuser\t0m0.010s\nsys\t0m1.020s\n"
NETPERF = """\
MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to peer (10.1.1.2) port 0 AF_INET
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

124928   32768   4.00      105672      0    6927.62
135168           4.00      104844           6873.34
"""


def parsed(name: str, text: str) -> ParsedFile:
    found = read(get_format(name), SourceText(text))
    if found.parsed is None:
        assert found.error is not None
        return ParsedFile(broken=(found.error,))
    return found.parsed


def values(found: ParsedFile) -> dict[tuple[str, str], list[float]]:
    told: dict[tuple[str, str], list[float]] = {}
    for one in (one for run in found.runs for one in run.samples if one.value is not None):
        told.setdefault((one.operation, one.metric), []).append(one.value)
    return told


@for_each(
    "name, text, sound, damaged, line",
    [
        ("iozone", IOZONE, "832345", "83x345", 4),  # the last row
        ("iozone", IOZONE, "812345", "81x345", 2),  # the first one
        (
            "iozone",
            IOZONE.replace("1054567  1165678", ""),
            "822345",
            "82x345",
            3,
        ),  # one that is followed by a shorter one
        ("iozone", MATRIX, "688467", "68O467", 4),
        ("iozone", PROCESSES, "231.00", "2x1.00", 3),
        ("iozone", PROCESSES, "482.50", "48O.50", 1),
        ("bonnie", BONNIE, "2408", "24x8", 4),
        ("bonnie++", NEW_CSV + NEW_CSV.replace("box", "two"), "1.98,2.00,two", "1.9x,2.00,two", 2),
        ("iperf2", IPERF2, "1013 MBytes", "1O13 MBytes", 4),
        ("iperf3", IPERF3, "0.00-9.04", "0.00-9.x4", 8),
        ("iperf3", IPERF3, "sec    3  ", "sec    x  ", 7),
        ("iperf2 csv", IPERF2_CSV * 2, "20240102030405", "2024010203O405", 1),
        ("iperf2 csv", IPERF2_CSV * 2, "10.1.1.2", "10.1.x.2", 1),
        ("ioping", IOPING, "4.73 k", "4.x3 k", 3),
        ("ioping", IOPING, "request=1", "request=l", 1),
        ("sysbench fileio", SYSBENCH, "148.47", "148x.47", 7),
        ("sysbench fileio", SYSBENCH, "21.50", "21.x50", 14),
        ("sysbench fileio", SYSBENCH, "16MiB", "1xMiB", 3),
        ("hdparm", HDPARM + HDPARM, "offset 5", "offset x", 2),
        ("time cp", TIME_CP, "0m0.010s", "0mO.010s", 4),
        ("time cp", TIME_CP, "0m4.512s", "0m4.51", 3),  # cut off
        ("netperf", NETPERF, "Messages\n", "\n", 1),
    ],
)
def test_a_damaged_line_is_told_with_its_number_and_adds_no_value(
    name: str, text: str, sound: str, damaged: str, line: int
) -> None:
    assert sound in text
    whole, found = parsed(name, text), parsed(name, text.replace(sound, damaged, 1))
    before, after = values(whole), values(found)
    assert all(set(after[key]) <= set(before.get(key, ())) for key in after)
    assert not whole.broken
    assert line in [one.line for one in found.broken]


def test_rows_of_a_table_without_some_tests_go_on_behind_a_damaged_one() -> None:
    blanks = " " * 18
    rows = [
        f"{64:16}{record:8}{record + 812345:9}{record + 923456:9}{blanks}{record + 734567:9}{record + 645678:9}"
        for record in (4, 8, 16)
    ]
    table = "              kB  reclen    write  rewrite    read    reread    read   write\n" + "\n".join(rows).replace(
        "812353", "81x353"
    )
    found = parsed("iozone", table + "\n")
    assert values(found)["write", "bandwidth"] == [812349 * 1024, 812361 * 1024]
    assert [one.line for one in found.broken] == [3]


def test_a_table_that_ends_in_the_middle_of_a_figure_does_not_say_its_digits() -> None:
    found = parsed("iozone", IOZONE[:-4])
    assert len(values(found)["reread", "bandwidth"]) == 2
    assert [one.line for one in found.broken] == [4]
    found = parsed("iozone", MATRIX[:-4])
    assert values(found)["write", "bandwidth"][3:] == []
    assert [one.line for one in found.broken] == [4]


def test_an_interval_is_no_total_where_the_total_cannot_be_read() -> None:
    (run,) = parsed("iperf2", IPERF2.replace("0.0- 9.0", "0.0- 9.x")).runs
    assert [(one.value, one.missing_reason) for one in run.samples] == [
        (None, "the line over the whole time is missing")
    ]


def test_streams_of_a_text_that_ends_early_have_intervals_and_no_totals() -> None:
    text = IPERF2.replace("[  3]  0.0- 9.0", "[  3]  1.0- 2.0") + "[SUM]  0.0- 1.0 sec   112 MBytes   940 Mbits/sec\n"
    assert not values(parsed("iperf2", text))


def test_losses_behind_a_clients_lines_are_the_servers_report_without_its_title() -> None:
    text = (
        IPERF2.replace("TCP", "UDP") + "[  3]  0.0- 9.0 sec  1000 MBytes   932 Mbits/sec   0.005 ms    9/  900 (1%)\n"
    )
    assert values(parsed("iperf2", text))["net_receive", "lost"] == [0.01]


def test_two_lines_in_one_are_told_and_not_read_as_one() -> None:
    glued = IPERF3.replace("sender\n", "sender")
    found = parsed("iperf3", glued)
    assert not values(found)
    assert 7 in [one.line for one in found.broken]


def test_the_side_of_a_reversed_test_is_known_without_its_first_line() -> None:
    text = IPERF3.replace("Connecting to host 10.1.1.2, port 5201", "Reverse mode, remote host 10.1.1.2 is sending")
    (series,) = parsed("iperf3", text).runs[0].series
    assert series.operation == "net_receive"


def test_a_summary_line_that_is_cut_before_its_side_is_told() -> None:
    found = parsed("iperf3", IPERF3.removesuffix("receiver\n"))
    assert list(values(found)) == [("net_send", "bandwidth"), ("net_send", "io_bytes"), ("net_send", "retransmits")]
    assert [one.line for one in found.broken] == [8]


def test_statistics_that_say_no_direction_are_no_reads() -> None:
    text = "--- /t (ext4 /dev/sdq1) ioping statistics ---\nmin/avg/max/mdev = 1.0 us / 2.0 us / 3.0 us / 0.5 us\n"
    found = parsed("ioping", text + IOPING)
    assert [run.line for run in found.runs] == [3]
    assert 1 in [one.line for one in found.broken]
