"""sysbench fileio: versions that are not at hand, failed and cut runs."""

import pytest

from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.sysbench import format as sysbench_format

BANNER = """sysbench {version}

Running the test with following options:
Number of threads: 4

Extra file open flags: directio
128 files, 16MiB each
2GiB total file size
Block size 16KiB
Periodic FSYNC enabled, calling fsync() each 100 requests.
Using asynchronous I/O mode
Doing {mode} test
Threads started!

"""


def test_version_11_prints_a_line_per_direction() -> None:
    text = BANNER.format(version="1.1.0-df89d34 (using bundled LuaJIT 2.1.0-beta3)", mode="random r/w") + (
        "Throughput:\n         read:  IOPS=280.20 4.38 MiB/s (4.59 MB/s)\n         write: IOPS=140.05 2.19 MiB/s (2.29 MB/s)\n"
        "         fsync: IOPS=542.51\n\nLatency (ms):\n         min:                                  0.01\n"
        "         avg:                                  1.03\n         max:                                  5.93\n"
        "         95th percentile:                      3.02\n         sum:                               9999.00\n"
    )
    (run,) = sysbench_format.parse(SourceText(text)).runs
    found = {(s.operation, s.metric): s.value for s in run.samples}
    assert found[("randread", "iops")] == 280.20
    assert found[("randwrite", "bandwidth")] == pytest.approx(2.19 * 1024**2)
    assert found[("sync", "rate")] == 542.51
    assert found[("mixed", "latency_p95")] == 3.02e6
    assert {"direct": 1, "ioengine": "libaio", "fsync": 100}.items() <= run.workload.items()
    assert run.tool_version.startswith("1.1.0")


def test_intervals_of_version_05_divide_by_1024_squared() -> None:
    text = BANNER.format(version="0.5:  multi-threaded system evaluation benchmark", mode="sequential rewrite") + (
        "[  10s] reads: 0.00 MB/s writes: 20.00 MB/s fsyncs: 12.00/s response time: 0.345ms (95%)\n"
        "Operations performed:  0 reads, 1000 writes, 10 Other = 1010 Total\n"
        "Read 0b  Written 15.625Mb  Total transferred 15.625Mb  (20.5Mb/sec)\n 1312.00 Requests/sec executed\n"
    )
    (run,) = sysbench_format.parse(SourceText(text)).runs
    assert [(s.operation, s.metric, s.values) for s in run.series] == [
        ("rewrite", "bandwidth", (20 * 1024**2,)), ("sync", "rate", (12,)), ("rewrite", "latency_p95", (345_000,))]  # fmt: skip
    assert [s.value for s in run.samples][:2] == [1312, 20.5 * 1024**2]


def test_a_run_without_results_is_broken_and_the_others_stay() -> None:
    whole = (
        "Operations performed:  10 Read, 0 Write, 0 Other = 10 Total\n"
        "Read 40Kb  Written 0b  Total transferred 40Kb  (1Mb/sec)\n  256.00 Requests/sec executed\n"
    )
    text = BANNER.format(version="0.4.12: x", mode="random read")
    parsed = sysbench_format.parse(SourceText(text + "FATAL: Cannot open file\n" + text + whole))
    assert [run.samples[0].value for run in parsed.runs] == [256]
    assert [(one.line, one.found) for one in parsed.broken] == [
        (1, "FATAL: Cannot open file"),
        (32, "256.00 Requests/sec executed"),  # and no latencies
    ]


def test_prepare_and_other_tests_of_sysbench_are_not_read() -> None:
    prepare = "sysbench 1.0.20 (x)\n\n2 files, 8192Kb each, 16Mb total\nCreating files for the test...\nExtra file open flags: (none)\n"
    cpu = "sysbench 1.0.20 (x)\n\nRunning the test with following options:\nNumber of threads: 1\n\nPrime numbers limit: 10000\n"
    for text in (prepare, cpu):
        with pytest.raises(ParseError):
            sysbench_format.parse(SourceText(text))


def test_an_unknown_mode_is_not_guessed() -> None:
    text = (
        BANNER.format(version="1.0.20 (x)", mode="mixed").replace("Doing mixed test\n", "")
        + "File operations:\n    reads/s:   1.00\n"
    )
    assert "mode" in sysbench_format.parse(SourceText(text)).broken[0].message


def test_what_stands_behind_a_report_is_not_claimed() -> None:
    text = BANNER.format(version="1.0.20 (x)", mode="random read") + (
        "File operations:\n    reads/s:   7.00\n\nThreads fairness:\n    execution time (avg/stddev):   59.9820/0.00\n\n  min:  1.0\n"
    )
    (run,) = sysbench_format.parse(SourceText(text)).runs
    assert run.last_line == text[: text.index("execution time")].count("\n") + 1
    assert {s.missing_reason for s in run.samples if s.metric == "latency_min"} == {"not printed"}


def test_reports_cut_out_without_their_banners_are_read_where_they_read_and_write() -> None:
    report = (
        "{}Operations performed:  600 Read, 400 Write, 1280 Other = 2280 Total\n"
        "Read 9.375Mb  Written 6.25Mb  Total transferred 15.625Mb  ({}Mb/sec)\n  200.00 Requests/sec executed\n\n"
        "    execution time (avg/stddev):   1.2500/0.00\n\n"
    )
    runs = sysbench_format.parse(
        SourceText(report.format("", "1.5") + "and again\n" + report.format("   ", "2.5"))
    ).runs
    speeds = [s for run in runs for s in run.samples if s.metric == "bandwidth"]
    assert [(s.operation, s.value, s.line) for s in speeds] == [
        ("mixed", 1.5 * 1024**2, 2),
        ("mixed", 2.5 * 1024**2, 9),
    ]


def test_a_report_without_a_banner_that_only_reads_may_be_either_test() -> None:
    text = "Operations performed:  600 Read, 0 Write, 0 Other = 600 Total\n  200.00 Requests/sec executed\n"
    assert "mode" in sysbench_format.parse(SourceText(text)).broken[0].message


def test_reports_that_were_cut_before_their_end_are_apart() -> None:
    report = (
        "Operations performed:  30 Read, 20 Write, 64 Other = 114 Total\nRead 480Kb  Written 320Kb  Total transferred 800Kb  ({}Mb/sec)\n"
        " {} Requests/sec executed\n\n"
    )
    text = "on the small one:\n" + report.format("1.5", "96.00") + "on the large one:\n" + report.format("3", "192.00")
    runs = sysbench_format.parse(SourceText(text)).runs
    assert [[s.value for s in run.samples if s.metric == "iops"] for run in runs] == [[96], [192]]
    assert [(run.line, run.last_line) for run in runs] == [(2, 4), (7, 9)]


REPORT = """File operations:
    reads/s:                      812.25
    writes/s:                     0.00
    fsyncs/s:                     0.00

Throughput:
    read, MiB/s:                  12.69
    written, MiB/s:               0.00

Latency (ms):
         min:                                    0.01
         avg:                                   12.34
         max:                                   40.50
         95th percentile:                       20.75
         sum:                               100000.25

Threads fairness:
    events (avg/stddev):           812.0000/1.00
    execution time (avg/stddev):   1.0000/0.00
"""


def test_a_report_that_ends_early_says_so_and_what_is_there_stays() -> None:
    text = BANNER.format(version="1.0.20 (x)", mode="random read") + REPORT
    assert sysbench_format.parse(SourceText(text)).broken == ()
    parsed = sysbench_format.parse(SourceText(text[: text.index("         max:")] + "\n" + text))
    assert [[s.value for s in run.samples if s.metric == "latency_max"] for run in parsed.runs] == [[None], [40.5e6]]
    assert [(one.line, one.found) for one in parsed.broken] == [(26, "avg:                                   12.34")]


@pytest.mark.parametrize("cut", ["12.34", "12.3", "12.", "12", "1"])
def test_a_figure_that_the_end_of_the_file_cuts_is_none(cut: str) -> None:
    text = BANNER.format(version="1.0.20 (x)", mode="random read") + REPORT
    parsed = sysbench_format.parse(SourceText(text[: text.index("12.34") + len(cut)]))
    (mean,) = (s for s in parsed.runs[0].samples if s.metric == "latency_mean")
    assert mean.value == (12.34e6 if cut == "12.34" else None)
    assert len(parsed.broken) == 1


def test_a_run_of_one_cut_line_has_no_results() -> None:
    (broken,) = sysbench_format.parse(SourceText("Extra file open flags: 0")).broken
    assert broken.message == "the run has no results"


OLD = "Read 16Mb  Written 8Mb  Total transferred 24Mb  ({}Mb/sec)\n  {} Requests/sec executed\n"


def test_a_second_report_behind_prose_that_begins_with_its_bytes_is_a_run() -> None:
    text = (
        "On a:\nOperations performed:  4 Read, 2 Write, 0 Other = 6 Total\n"
        + OLD.format(3, 40)
        + "On b:\n"
        + OLD.format(5, 50)
    )
    parsed = sysbench_format.parse(SourceText(text))
    assert [(run.samples[0].value, run.samples[1].value, run.line, run.last_line) for run in parsed.runs] == [
        (40, 3 * 1024**2, 2, 4), (50, 5 * 1024**2, 6, 7),
    ]  # fmt: skip
    assert [one.line for one in parsed.broken] == [5, 7]  # each lacks its latencies


@pytest.mark.parametrize(
    "text",
    [
        "Throughput:\n         read:  IOPS=96.00 1.50 MiB/s (1.57 MB/s)\n         write: IOPS=64.00 1.00 MiB/s (1.05 MB/s)\n"
        "         fsync: IOPS=5.00\n",
        "Throughput:\n    read, MiB/s:                  1.50\n    written, MiB/s:               1.00\n",
    ],
    ids=["1.1", "1.0"],
)
def test_the_throughput_alone_is_a_run_of_random_reads_and_writes(text: str) -> None:
    assert sysbench_format.looks_like(SourceText(text)) > 0.5
    runs = sysbench_format.parse(
        SourceText(text + "and with the other scheduler\n" + text.replace("1.50", "2.50"))
    ).runs
    found = [{s.operation: s.value for s in run.samples if s.metric == "bandwidth"} for run in runs]
    assert found == [{"randread": rate * 1024**2, "randwrite": 1024**2} for rate in (1.5, 2.5)]


def test_the_mode_of_a_report_without_its_banner_is_the_commands() -> None:
    text = "Throughput:\n    read, MiB/s:                  1.50\n    written, MiB/s:               0.00\n"
    (run,) = sysbench_format.parse(SourceText("$ sysbench fileio --file-test-mode=seqrd run\n" + text)).runs
    assert [(s.operation, s.metric, s.value) for s in run.samples][:2] == [
        ("read", "iops", None), ("read", "bandwidth", 1.5 * 1024**2),
    ]  # fmt: skip
    parsed = sysbench_format.parse(SourceText(text))
    assert (parsed.runs, [one.message for one in parsed.broken]) == ((), ["the test mode is not printed"])


def test_rates_that_grep_left_of_several_runs_are_runs() -> None:
    rates = "    reads/s:                      {}\n    writes/s:                     40.00\n"
    rates += "    read, MiB/s:                  1.50\n    written, MiB/s:               1.00\n"
    text = "test threads 4\n" + rates.format("60.00") + "test threads 8\n" + rates.format("75.00")
    runs = sysbench_format.parse(SourceText(text)).runs
    assert [(run.samples[0].value, run.samples[2].value, run.line) for run in runs] == [(60, 40, 2), (75, 40, 7)]


def test_a_report_that_a_mail_indents_keeps_its_mode() -> None:
    told = """  $ sysbench fileio --threads=2 --file-test-mode=seqwr run
  sysbench 1.1.0-aa00bb1 (using bundled LuaJIT 2.1.0-beta3)

  Running the test with following options:
  Number of threads: 2

  Extra file open flags: (none)
  4 files, 64MiB each
  256MiB total file size
  Block size 16KiB
  Doing sequential write (creation) test

  Throughput:
           read:  IOPS=0.00 0.00 MiB/s (0.00 MB/s)
           write: IOPS=320.50 5.01 MiB/s (5.25 MB/s)
           fsync: IOPS=7.25
"""
    (run,) = sysbench_format.parse(SourceText(told)).runs
    assert run.workload["numjobs"] == 2
    assert {(s.operation, s.value) for s in run.samples if s.metric == "iops"} >= {("write", 320.5)}


RATES = (
    "Throughput:\n         read:  IOPS=280.20 4.38 MiB/s (4.59 MB/s)\n         write: IOPS=140.05 2.19 MiB/s (2.29 MB/s)\n"
    "         fsync: IOPS=542.51\n\nLatency (ms):\n         min:    0.01\n         avg:    1.03\n         max:    5.93\n"
)


def test_the_command_line_says_direct_and_for_how_long() -> None:
    banner = BANNER.format(version="0.4.12:  x", mode="random r/w").replace("directio", "16384")
    command = "root@n1:~# sysbench --test=fileio --file-extra-flags=direct --max-time=300 --file-test-mode=rndrw run\n"
    (run,) = sysbench_format.parse(SourceText(command + banner + RATES)).runs
    assert (run.workload["direct"], run.workload["runtime"], run.host) == (1, 300, "n1")
    assert "direct" not in sysbench_format.parse(SourceText(banner + RATES)).runs[0].workload


def test_the_command_that_cleans_up_is_not_that_of_the_run() -> None:
    asked = "sysbench fileio --file-total-size=8G"
    text = f"$ {asked} prepare\n$ {asked} --file-test-mode=rndrw --time=30 run\n$ {asked} cleanup\n\n{RATES}"
    (run,) = sysbench_format.parse(SourceText(text)).runs
    assert run.workload["command"] == f"{asked} --file-test-mode=rndrw --time=30 run"
    assert (run.samples[0].file_size, run.workload["runtime"]) == (8 * 1024**3, 30)


def test_a_report_of_its_speed_alone_is_read_and_told_to_be_cut() -> None:
    text = (
        "$ sysbench --test=fileio --file-test-mode=seqwr --file-block-size=2M run\nsysbench 0.4.12:  x\n...\n"
        "Read 0b  Written 2Gb  Total transferred 2Gb  (150.5Mb/sec)\n...\n"
    )
    assert sysbench_format.looks_like(SourceText(text)) == 0.9
    parsed = sysbench_format.parse(SourceText(text))
    speed = next(sample for sample in parsed.runs[0].samples if sample.metric == "bandwidth")
    assert (speed.operation, speed.value, speed.block_size) == ("write", 150.5 * 1024**2, 2 * 1024**2)
    assert len(parsed.broken) == 1


def test_the_memory_test_beside_it_is_none_of_files() -> None:
    memory = (
        "sysbench 0.4.12:  x\n\nRunning the test with following options:\nNumber of threads: 1\n\nDoing memory operations speed test\n"
        "Operations performed: 104857600 (596447.76 ops/sec)\n\n102400.00 MB transferred (582.47 MB/sec)\n"
        "    execution time (avg/stddev):   135.6235/0.00\n"
    )
    parsed = sysbench_format.parse(SourceText(memory + BANNER.format(version="1.1.0 x", mode="random r/w") + RATES))
    assert len(parsed.runs) == 1
    assert not [one for one in parsed.broken if one.line and one.line < 11]


def test_before_049_latencies_are_seconds_and_pages_have_single_blanks() -> None:
    text = BANNER.format(version="v0.4.8: x", mode="random r/w") + (
        "Operations performed: 60 Read, 40 Write, 12 Other = 112 Total\n"
        "Read 960Kb Written 640Kb Total transferred 1.5625Mb (3.5Mb/sec)\n224.00 Requests/sec executed\n"
        "min: 0.0000s\navg: 0.0038s\nmax: 0.5628s\napprox. 95 percentile: 0.0099s\n"
    )
    parsed = sysbench_format.parse(SourceText(text))
    assert not parsed.broken
    (run,) = parsed.runs
    found = {sample.metric: sample for sample in run.samples}
    assert run.tool_version == "0.4.8"
    assert (found["bandwidth"].value, found["latency_mean"].value) == (3.5 * 1024**2, 3.8e6)
    assert (found["latency_p95"].value, found["latency_max"].value) == (9.9e6, 562.8e6)
    assert found["latency_min"].quality == "rounded"
    damaged = sysbench_format.parse(SourceText(text.replace("0.0038s", "3.80s")))
    assert damaged.broken[0].found == "avg: 3.80s"


def test_figures_that_somebody_listed_are_of_one_run_each() -> None:
    """One that reads alone does not say which test it is, whatever the next one says."""
    text = (
        "Read 256Mb  Written 0b  Total transferred 256Mb  (44.5Mb/sec)\n2848.00 Requests/sec executed\n\n"
        "Operations performed:  412 Read, 274 Write, 0 Other = 686 Total\n"
        "Read 6.4375Mb  Written 4.2812Mb  Total transferred 10.719Mb  (17.5Mb/sec)\n1120.00 Requests/sec executed\n"
    )
    parsed = sysbench_format.parse(SourceText(text))
    assert [run.samples[0].value for run in parsed.runs] == [1120]
    assert (parsed.broken[0].message, parsed.broken[0].line) == ("the test mode is not printed", 1)


NEWEST = (
    "Throughput:\n         read:  IOPS={0}.00 4.38 MiB/s (4.59 MB/s)\n         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n"
    "         fsync: IOPS=0.00\n\nLatency (ms):\n         min:                                  0.01\n"
    "         avg:                                  1.03\n         max:                                  5.93\n"
    "         95th percentile:                      3.02\n         sum:                               9999.00\n\n"
)
OF_10 = (
    "File operations:\n    reads/s:                      {0}.00\n    writes/s:                     0.00\n"
    "    fsyncs/s:                     0.00\n\nThroughput:\n    read, MiB/s:                  4.38\n"
    "    written, MiB/s:               0.00\n\nGeneral statistics:\n    total time:                          1.0007s\n"
    "    total number of events:              7175\n\nLatency (ms):\n         min:                                    0.00\n"
    "         avg:                                    0.14\n         max:                                   18.63\n"
    "         95th percentile:                        0.01\n         sum:                                  997.84\n\n"
    "Threads fairness:\n    events (avg/stddev):           7276.0000/0.00\n"
    "    execution time (avg/stddev):   0.9978/0.00\n\n"
)


@pytest.mark.parametrize(("version", "report"), [("1.0.20", OF_10), ("1.1.0-3ceba0b", NEWEST)])
def test_the_reports_of_checkpoints_are_sections_of_one_run(version: str, report: str) -> None:
    banner = BANNER.format(version=version, mode="random read")
    checkpointed = (
        f"{banner}[ 1s ] Checkpoint report:\n\n{report.format(100)}"
        f"[ 2s ] reads: 3.00 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 0.013\n"
        f"[ 3s ] Checkpoint report:\n\n{report.format(200)}{report.format(300)}"
    )
    one, other = sysbench_format.parse(SourceText(checkpointed + banner + report.format(400))).runs
    rates = [(s.section, s.value, s.block_size, s.threads) for s in one.samples if s.metric == "iops"]
    assert rates == [(0, 100, 16384, 4), (1, 200, 16384, 4), (2, 300, 16384, 4)]
    assert [section.name for section in one.sections] == ["checkpoint at 1 s", "checkpoint at 3 s", "after 3 s"]
    assert [(s.metric, s.times_s, s.values) for s in one.series] == [
        ("bandwidth", (2,), (3 * 1024**2,)), ("latency_p95", (2,), (13000,))]  # fmt: skip
    assert [s.value for s in other.samples if s.metric == "iops"] == [400]
    assert not other.sections


def test_merged_requests_are_as_large_as_the_banner_says() -> None:
    merged = "Merging requests up to 64KiB for sequential IO.\nPeriodic"
    for mode, size in (("sequential read", 65536), ("random read", 16384)):
        text = BANNER.format(version="1.1.0", mode=mode).replace("Periodic", merged) + NEWEST.format(100)
        (run,) = sysbench_format.parse(SourceText(text)).runs
        assert {run.workload["block_size"], *(s.block_size for s in run.samples)} == {size}
        assert run.workload.get("merged_requests") == (4 if size == 65536 else None)


def test_what_limits_a_run_is_kept() -> None:
    text = BANNER.format(version="1.1.0", mode="random read").replace(
        "Number of threads: 4", "Number of threads: 4\nWarmup time: 5s\nTarget transaction rate: 50/sec"
    )
    (run,) = sysbench_format.parse(SourceText(text + NEWEST.format(50))).runs
    assert {"rate_iops": 50, "ramp_time": 5}.items() <= run.workload.items()


def test_the_latency_of_intervals_is_a_series_and_other_percentiles_are_labels() -> None:
    text = BANNER.format(version="1.1.0", mode="random r/w") + (
        "[ 1s ] reads: 1.00 MiB/s writes: 1.00 MiB/s fsyncs: 0.00/s latency (ms,99%): 1.697\n"
        "[ 2s ] reads: 0.00 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,99%): 0.000\n"
    )
    (run,) = sysbench_format.parse(SourceText(text + NEWEST.format(50).replace("95th", "98th"))).runs
    (series,) = [one for one in run.series if one.metric == "latency_p99"]
    assert series.operation == "mixed"
    assert series.values[0] == 1_697_000
    assert series.values[1] != series.values[1]  # nothing was done then
    assert run.labels == {"latency, 98 %": "3.02 ms"}


def test_a_run_that_was_broken_off_is_seen_in_a_quoted_mail_too() -> None:
    text = BANNER.format(version="1.1.0", mode="random read") + (
        "[ 1s ] reads: 1.00 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,99%): 1.697\n"
    )
    assert sysbench_format.looks_like(SourceText("".join(f"> {line}\n" for line in text.splitlines()))) == 1
