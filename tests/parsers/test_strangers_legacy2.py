"""Outputs of the older tools in shapes that other people published: more of them."""

import pytest

from apps.parsers.copy import format as copy_format
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from apps.parsers.ioping import format as ioping_format
from apps.parsers.iozone import format as iozone_format
from apps.parsers.sysbench import format as sysbench_format
from apps.parsers.vdbench import format as vdbench_format

ASKED = "sysbench --test=fileio --num-threads=6 --file-total-size=3G --file-block-size=8k --file-test-mode=rndrd run"
FIGURES = """\
[...]
Operations performed:  2000 reads, 0 writes, 0 Other = 2000 Total
Read 15.625Mb  Written 0b  Total transferred 15.625Mb  (20.000Mb/sec)
 2560.00 Requests/sec executed

Threads fairness:
    execution time (avg/stddev):   0.7812/0.00
"""


def asked(command: str, text: str = FIGURES) -> list[tuple[int | None, int | None, int | None]]:
    runs = sysbench_format.parse(SourceText(f"{command}\n{text}")).runs
    return [(one.threads, one.file_size, one.block_size) for run in runs for one in run.samples[:1]]


def test_what_sysbenchs_banner_would_say_is_taken_from_the_command() -> None:
    assert asked("$ " + ASKED) == [(6, 3 << 30, 8192)]
    assert asked("$ " + ASKED.replace("--num-threads=6", "--threads=$n").replace("3G", "$s")) == [(None, None, 8192)]


def test_a_report_behind_another_may_have_been_asked_for_other_sizes() -> None:
    assert asked("$ " + ASKED, FIGURES + "with more threads:\n" + FIGURES) == [(6, 3 << 30, 8192), (None, None, None)]


@pytest.mark.parametrize("prompt", ["[root@7]/srv/sysbench#     ", "$ /usr/bin/", "$ sudo ./"])
def test_sysbenchs_command_is_seen_behind_any_prompt(prompt: str) -> None:
    text = "sysbench 1.0.20\n\nRunning the test with following options:\nDoing random read test\n\n"
    (run,) = sysbench_format.parse(SourceText(f"{prompt}{ASKED}\n{text}{FIGURES}")).runs
    assert str(run.workload["command"]).endswith("--file-test-mode=rndrd run")


def test_where_a_report_of_sysbenchs_ends_is_told_there() -> None:
    text = "Throughput:\n    read, MiB/s:   6.50\n    written, MiB/s:   4.25\n\n$ cd ..\nand so on\n"
    assert [(one.line, one.found) for one in sysbench_format.parse(SourceText(text)).broken] == [(5, "$ cd ..")]


def test_reads_that_sysbench_counts_in_a_test_of_writes_are_told() -> None:
    text = "sysbench 1.1.0 (using LuaJIT 2.1)\n\nRunning the test with following options:\nExtra file open flags: (none)\nDoing random {} test\n\n"
    text += "[ 5s ] reads: 12.50 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 0.520\n"
    beside = "line 1: reads are counted in a test that does none: they are not taken"
    found = [sysbench_format.parse(SourceText(text.format(mode))).warnings for mode in ("write", "read")]
    assert found == [(beside,), ()]


THROUGHPUT = """\
        Children see throughput for  2 rewriters        =   41000.50 kB/sec
        Parent sees throughput for  2 rewriters         =   40500.25 kB/sec
        Min throughput per process                      =   20000.25 kB/sec
        Max throughput per process                      =   21000.25 kB/sec
        Avg throughput per process                      =   20500.25 kB/sec
        Min xfer                                        =  500000.00 kB
"""


def test_a_throughput_of_iozones_that_the_kernel_wrote_into_is_told_line_by_line() -> None:
    assert not iozone_format.parse(SourceText(THROUGHPUT)).broken
    lines = THROUGHPUT.splitlines(keepends=True)
    noise = "[ 2486.6] Buffer I/O error on dev sdq1\n"
    for at, kept in ((0, 5), (1, 5)):
        bent = [*lines[:at], lines[at][:56] + noise, "= 40500.25 kB/sec\n", noise, *lines[at + 1 :]]
        parsed = iozone_format.parse(SourceText("".join(bent) + THROUGHPUT))
        lost = {one.line for one in parsed.broken}
        read = {sample.line for run in parsed.runs for sample in run.samples}
        assert at + 1 in lost
        assert set(range(1, 15)) - lost - read <= {at + 2, at + 3}
        assert len(read) >= kept


def test_a_figure_of_iozones_that_stands_twice_is_told() -> None:
    parsed = iozone_format.parse(SourceText(THROUGHPUT + "        Min throughput per process    =   10000.25 kB/sec\n"))
    assert [(one.line, one.found[:14]) for one in parsed.broken] == [(7, "Min throughput")]


DD = "$ dd if=/dev/zero of=one.img bs=1M count=64\n"


def test_a_rate_of_dd_per_hungarian_second_is_read_behind_its_records() -> None:
    lines = "64+0 beolvasott rekord\n64+0 kiírt rekord\n67108864 bájt (67 MB) másolva, 0,5 mp, 134 MB/mp\n"
    parsed = dd_format.parse(SourceText(DD + lines))
    assert [(run.target, run.samples[0].value, run.samples[0].printed) for run in parsed.runs] == [
        ("one.img", 134217728, "134 MB/mp")
    ]
    assert (parsed.broken, parsed.warnings) == ((), ())


def test_a_result_of_dd_that_begins_on_the_line_of_its_records_is_read() -> None:
    filled = "64+0 records in\n64+0 records out 67108864 bytes\n(67 MB) copied, 0.5 s, 134 MB/s\n"
    parsed = dd_format.parse(SourceText(DD + filled))
    assert [[(one.value, one.line) for one in run.samples] for run in parsed.runs] == [[(134217728, 3), (5e8, 3)]]
    assert parsed.warnings == ()


RESULT = "64+0 records in\n64+0 records out\n67108864 bytes (67 MB) copied, 0.5 s, 134 MB/s\n"


@pytest.mark.parametrize(
    ("between", "output"),
    [
        ("```\n\n```text\n", RESULT),
        ("```\n\nOutput:\n\n```\n", RESULT),
        ("```\n```\n...\n", RESULT.splitlines()[-1]),
        ("```\n\nand on the other machine\n\n```\n", RESULT),
    ],
)
def test_dds_output_may_stand_in_another_fence_than_its_command(between: str, output: str) -> None:
    (run,) = dd_format.parse(SourceText(f"```sh\n{DD}{between}{output}\n```\n")).runs
    assert run.target == ("" if "other" in between else "one.img")


@pytest.mark.parametrize(
    ("said", "elapsed", "target"),
    [
        ("time cp -R a /b   # over the network\nreal 0m3.5s  # a second time\n", 3.5e9, "/b"),
        ("time cp -av a /b\n[...]\n0.81user 8.95system 3:37.76elapsed 4%CPU (0avgtext+0avgdata)k\n", 217.76e9, "/b"),
    ],
)
def test_remarks_behind_and_between_the_lines_of_a_timed_copy_are_none_of_its(
    said: str, elapsed: float, target: str
) -> None:
    (run,) = copy_format.parse(SourceText(f"$ {said}")).runs
    assert (run.samples[0].value, run.target) == (elapsed, target)
    assert "#" not in run.samples[0].printed


def test_a_wall_time_with_something_behind_it_is_told() -> None:
    parsed = copy_format.parse(SourceText("$ time cp a /b\nreal 0m3.5s (cold)\n"))
    assert [(one.line, one.found) for one in parsed.broken] == [(2, "real 0m3.5s (cold)")]


TABLE = """\
                                                      random  random
       kB  reclen   write rewrite    read    reread    read   write
   102400       4    2738    2762   12852    12789   10197    2776
"""


@pytest.mark.parametrize(
    "said",
    [
        "measured with `iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2`:\n\n",
        "   ```bash\n   iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2\n   ```\n   That gives\n   ```\n",
    ],
)
def test_iozones_command_in_the_words_above_its_table_is_its(said: str) -> None:
    (run,) = iozone_format.parse(SourceText(said + TABLE)).runs
    assert run.workload["command"] == "iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2"
    assert (run.workload["sync"], run.workload["direct"], run.samples[0].note) == ("fsync", 1, "")


def test_what_stands_above_iozones_tables_tells_them_apart() -> None:
    text = f"before the change:\n{TABLE}\n## After it\n\n```\n{TABLE}```\nand so on\n{TABLE}\n[sudo] password for lab:\n{TABLE}"
    assert [run.caption for run in iozone_format.parse(SourceText(text)).runs] == [
        "before the change",
        "After it",
        "",
        "",
    ]


def test_throughputs_of_several_hosts_are_never_one_run() -> None:
    seen = "Children see throughput for  1 initial writers  =  {}.50 kB/sec\n"
    parent = "Parent sees throughput for  1 initial writers   =  {}.25 kB/sec\n"
    lines = ["lab1:   " + seen.format(301), "lab2:   " + seen.format(302), "lab1:   " + parent.format(300)]
    runs = iozone_format.parse(SourceText("".join(lines))).runs
    assert [(run.host, [(one.metric, one.value) for one in run.samples]) for run in runs] == [
        ("lab1", [("bandwidth", 301.5 * 1024)]),
        ("lab2", [("bandwidth", 302.5 * 1024)]),
        ("lab1", [("bandwidth_parent", 300.25 * 1024)]),
    ]
    (run,) = iozone_format.parse(SourceText("with cache: " + seen.format(301) + parent.format(300))).runs
    assert (run.host, run.caption, len(run.samples)) == ("", "", 2)
    (run,) = iozone_format.parse(SourceText("cached:  " + seen.format(301) + parent.format(300))).runs
    assert (run.host, run.caption, len(run.samples)) == ("", "cached", 2)


@pytest.mark.parametrize("before", ["taskset -c 0 ", "$ sudo ", "ionice -c 2 -n 0 ", "    ", "measured by `"])
def test_iopings_command_is_seen_behind_what_runs_it(before: str) -> None:
    text = f"""{before}ioping -R /dev/sdq

--- /dev/sdq (block device 1.75 TiB) ioping statistics ---
70.7 k requests completed in 2.97 s, 276.3 MiB read, 23.8 k iops, 93.1 MiB/s
min/avg/max/mdev = 33.1 us / 41.9 us / 87.9 ms / 452.6 us
"""
    (run,) = ioping_format.parse(SourceText(text)).runs
    assert (run.workload["command"], run.samples[0].value) == ("ioping -R /dev/sdq", 23800)


def test_figures_of_sysbenchs_without_its_titles_are_read() -> None:
    figures = "reads/s: 4045.57\nwrites/s: 0.00\nfsyncs/s: 0.00\nread-MiB/s: 15.75\nwritten-MiB/s: 0.00\n"
    figures += "min: 0.08\navg: 0.25\nmax: 48.10\n95th: 0.49\n"
    parsed = sysbench_format.parse(SourceText(f"sysbench 1.0.11 (using LuaJIT)\nDoing sequential read test\n{figures}"))
    assert parsed.broken == ()
    assert [(one.metric, one.value, one.line) for run in parsed.runs for one in run.samples] == [
        ("iops", 4045.57, 3), ("bandwidth", 15.75 * 1024**2, 6), ("latency_min", 8e4, 8), ("latency_mean", 2.5e5, 9),
        ("latency_max", 4.81e7, 10), ("latency_p95", 4.9e5, 11),
    ]  # fmt: skip


def test_a_test_of_sysbenchs_that_begins_below_another_reports_figures_is_its_own() -> None:
    figures = "Throughput:\n    read, MiB/s:   {}\n    written, MiB/s:   {}\n\n"
    text = f"$ {ASKED}\n{figures.format(6.5, '0.00')}and the other one:\n\nBlock size 16Kb\nDoing sequential write (creation) test\n"
    runs = sysbench_format.parse(SourceText(text + figures.format("0.00", 7.5))).runs
    assert [(run.workload["rw"], run.workload.get("command"), run.samples[1].value) for run in runs] == [
        ("randread", ASKED, 6.5 * 1024**2),
        ("write", None, 7.5 * 1024**2),
    ]
    assert runs[1].workload["block_size"] == 16384


def test_a_run_whose_begin_vdbench_prints_twice_is_one() -> None:
    began = "13:49:00.010 Starting RD=rd1; I/O rate: 50; elapsed=60; For loops: threads=2"
    text = f"""<a name="_28274380"></a><i><b>{began}</b></i>

{began}

Apr 08, 2016  interval        i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue  cpu%  cpu%
                             rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth sys+u   sys
13:49:01.205         1      30.00     0.12    4096  80.00    3.641    4.420    0.522   22.083    5.974   0.1  24.1   2.0
13:50:00.110  avg_2-60      50.25     0.20    4096  75.50    6.504    8.492    0.391  116.563   11.532   0.3   5.1   0.3
"""
    parsed = vdbench_format.parse(SourceText(text))
    assert [(run.caption, run.samples[0].value) for run in parsed.runs] == [("rd1", 50.25)]
    assert parsed.broken == ()


IOPING = """\
4 KiB <<< . (ext4 /dev/sdq1 20 GiB): request=1 time=200.5 us (warmup)
4 KiB <<< . (ext4 /dev/sdq1 20 GiB): request=2 time=300.5 us
4 KiB <<< . (ext4 /dev/sdq1 20 GiB): request=3 time=310.5 us
4 KiB <<< . (ext4 /dev/sdq1 20 GiB): request=4 time=320.5 us

--- . (ext4 /dev/sdq1 20 GiB) ioping statistics ---
3 requests completed in 931.5 us, 12 KiB read, 3.22 k iops, 12.6 MiB/s
min/avg/max/mdev = 300.5 us / 310.5 us / 320.5 us / 8.2 us
"""


@pytest.mark.parametrize(
    ("was", "shown", "kept"),
    [("", "", 3), (IOPING.splitlines(keepends=True)[2], "...\n", 0), ("time=310.5 us", "time=3x0.5 us", 2)],
)
def test_ioping_requests_of_which_some_are_left_out_are_no_histogram(was: str, shown: str, kept: int) -> None:
    parsed = ioping_format.parse(SourceText(IOPING.replace(was, shown)))
    (run,) = parsed.runs
    assert [sum(count for _, count in one.bins) for one in run.histograms] == [kept] * bool(kept)
    assert len(parsed.warnings) == (kept == 0)
