"""Vdbench's reports, flatfile and histogram: other columns, midnights, aborted runs, bent lines."""

import pytest

from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.vdbench import flatfile
from apps.parsers.vdbench import format as vdbench_format
from apps.parsers.vdbench import histogram as vdbench_histogram

HEAD = "Vdbench summary report, created 23:59:50 Oct 07 2019 CEST (21:59:50 Oct 07 2019 UTC)\n"
TITLE = """Oct 07, 2019  interval        i/o   MB/sec   bytes   read     resp     resp     resp    cpu%  cpu%
                             rate  1024**2     i/o    pct     time      max   stddev   sys+u   sys
"""


def report(
    *rows: str, start: str = "23:59:58.000 Starting RD=rd1; I/O rate: 100; elapsed=4; For loops: xfersize=4k threads=8"
) -> str:
    return HEAD + start + "\n\n" + TITLE + "".join(f"{row}\n" for row in rows)


def test_times_go_on_over_midnight() -> None:
    (run,) = vdbench_format.parse(
        SourceText(
            report(
                "23:59:59.000           1      100.0     0.39    4096 100.00    1.000    2.000    0.100     1.0   0.2",
                "00:00:01.000           2      300.0     1.17    4096 100.00    3.000    4.000    0.300     1.0   0.2",
                "00:00:01.100     avg_1-2      200.0     0.78    4096 100.00    2.000    4.000    0.200     1.0   0.2",
            )
        )
    ).runs
    assert {s.metric: (s.times_s, s.values) for s in run.series}["iops"] == ((1, 3), (100, 300))
    assert run.started_at == 1570485590 + 8
    assert {(s.operation, s.metric): s.value for s in run.samples} == {
        ("read", "iops"): 200, ("read", "bandwidth"): 0.78 * 1024**2, ("read", "latency_mean"): 2e6,
        ("read", "latency_max"): 4e6, ("read", "latency_stdev"): 0.2e6,
    }  # fmt: skip
    assert {(s.block_size, s.threads) for s in run.samples} == {(4096, 8)}


def test_a_run_without_its_average_keeps_the_intervals_and_is_broken() -> None:
    row = "23:59:59.000           1      100.0     0.39    4096 100.00    1.000    2.000    0.100     1.0   0.2"
    parsed = vdbench_format.parse(SourceText(report(row)))
    assert parsed.runs[0].series[0].values == (100,)
    assert [sample.value for sample in parsed.runs[0].samples] == [None]
    assert "averages" in parsed.broken[0].message


def test_megabytes_are_decimal_where_the_title_says_so() -> None:
    row = "00:00:01.100     avg_1-2      200.0     1.00    5000   0.00    2.000    4.000    0.200     1.0   0.2"
    (run,) = vdbench_format.parse(SourceText(report(row).replace("1024**2", "1000**2"))).runs
    assert [s.value for s in run.samples if (s.operation, s.metric) == ("write", "bandwidth")] == [1e6]


def test_a_title_that_names_the_largest_time_twice_gives_it_once() -> None:
    row = "00:00:01.100     avg_1-2      200.0     0.78    4096 100.00    2.000    4.000    5.000     1.0   0.2"
    twice = report(row).replace("    resp    cpu%", "    read    cpu%").replace("  stddev   sys", "     max   sys")
    (run,) = vdbench_format.parse(SourceText(twice)).runs
    assert [s.value for s in run.samples if s.metric == "latency_max"] == [4e6]


def test_lines_without_title_are_read_only_where_their_arithmetic_agrees() -> None:
    right = "11:23:54.347avg_2-1200    2048.00     8.00    4096 100.00    6.5    6.5    0.0   28.6    0.9  32.0   1.4   1.2\n"
    (run,) = vdbench_format.parse(SourceText(right)).runs
    assert run.samples[0].value == 2048
    wrong = vdbench_format.parse(SourceText(right.replace("   8.00", " 800.00")))
    assert (wrong.runs, wrong.broken[0].message) == ((), "the columns are not those of the title")


def test_file_system_runs_that_do_both_have_a_mixed_rate() -> None:
    text = HEAD + (
        "23:59:58.000 Starting RD=rd1; elapsed=4; fwdrate=max. For loops: None\n\n"
        "Oct 07, 2019 ..Interval.. .ReqstdOps... ...cpu%...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir....\n"
        "                            rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size  rate   resp\n"
        "23:59:59.500      avg_2-4  300.0  2.000   9.6 7.89  66.7  200.0  1.000  100.0  4.000  0.78  0.39   1.17    4096   0.0  0.000\n"
    )
    (run,) = vdbench_format.parse(SourceText(text)).runs
    found = {(s.operation, s.metric): s.value for s in run.samples}
    assert found[("mixed", "rate")] == 300
    assert (found[("read", "iops")], found[("write", "latency_mean")]) == (200, 4e6)
    assert found[("write", "bandwidth")] == pytest.approx(0.39 * 1024**2)


FLAT = """<pre>
* rate : Observed i/o rate
 tod Run Interval reqrate rate MB/sec read% resp seekpct xfersize threads
10:57:00.000 a 1 999988 10.0 0.5 100.0 n/a 0.0 4096 2
10:57:01.000 a 2 999988 20.0 1.0 100.0 2.0 0.0 4096 2
10:57:01.001 a avg_1-2 999988 15.0 0.75 100.0 n/a 0.0 4096 2
10:57:05.000 b 1 100 10.0 0.5 0.0 1.0
"""


def test_flatfile_values_that_are_not_available_are_missing() -> None:
    parsed = flatfile.parse(SourceText(FLAT))
    (run,) = parsed.runs
    assert {(s.operation, s.metric): (s.value, s.missing_reason) for s in run.samples} == {
        ("read", "iops"): (15, ""), ("read", "bandwidth"): (0.75 * 1024**2, ""), ("read", "latency_mean"): (None, "n/a"),
    }  # fmt: skip
    assert "rate_iops" not in run.workload
    assert [(one.line, one.expected) for one in parsed.broken] == [(7, "11 columns")]


@pytest.mark.parametrize("damage", [("10:57:01.001", "10:57.1"), ("avg_1-2", "std_1-2"), ("10:57:0", "x")])
def test_a_flatfile_without_its_averages_is_broken_and_keeps_its_intervals(damage: tuple[str, str]) -> None:
    try:
        parsed = flatfile.parse(SourceText(FLAT.replace(*damage)))
    except ParseError:
        assert damage == ("10:57:0", "x")
        return
    assert [one.problem for one in parsed.runs] == ["the line of averages is missing"]
    assert {one.metric: one.values for one in parsed.runs[0].series}["iops"] == (10, 20)


@pytest.mark.parametrize("word", ["std_1-2", "max_1-2", "n/a"])
def test_rows_of_a_flatfile_that_are_no_interval_make_no_run(word: str) -> None:
    title = FLAT.split("10:57", maxsplit=1)[0]
    with pytest.raises(ParseError):
        flatfile.parse(SourceText(f"{title}10:57:00.000 a {word} 999988 10.0 0.5 100.0 n/a 0.0 4096 2\n"))


def test_histogram_bins_are_kept_by_their_upper_bound() -> None:
    text = (
        "Reads since warmup:\n  min(ms) <     max(ms)         count       %%    cum%%\n\n"
        "    0.000 <       0.020             1   0.1   0.1  \n    0.020 <       0.040         1,017   9.9  10.0  +\n"
        " 2000.000 <         max             3   0.1  10.1  \n"
    )
    (run,) = vdbench_histogram.parse(SourceText(text)).runs
    (histogram,) = run.histograms
    assert (histogram.operation, histogram.bins) == ("read", ((20_000, 1), (40_000, 1017), (2_000_000_001, 3)))


@pytest.mark.parametrize("parser", [vdbench_format, flatfile, vdbench_histogram])
def test_other_texts_are_none_of_vdbenchs(parser: object) -> None:
    text = SourceText("12:00:00.000 something else 1 2 3\nMB/sec Interval\n")
    assert parser.looks_like(text) == 0  # type: ignore[attr-defined]
    with pytest.raises(ParseError):
        parser.parse(text)  # type: ignore[attr-defined]


SKEW = """<title>Vdbench out/skew.html</title><pre>
Workload skew report

<a name="_1"></a><i><b>09:15:10.001 Starting RD=rd1; I/O rate: 500; elapsed=10; For loops: threads=4</b></i>

09:15:20.020
09:15:20.020                 i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue
09:15:20.020 Slave:         rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth
09:15:20.020 a-0          300.00     1.17    4096 100.00    1.000    1.000    0.000    3.000    0.100   0.3
09:15:20.020 Total        300.00     1.17    4096 100.00    1.000    1.000    0.000    3.000    0.100   0.3
09:15:20.020
09:15:20.020                 i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue
09:15:20.020 Slave:         rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth
09:15:20.020 b-0          200.00     0.78    4096 100.00    2.000    2.000    0.000    4.000    0.200   0.4
09:15:20.020 Total        200.00     0.78    4096 100.00    2.000    2.000    0.000    4.000    0.200   0.4
09:15:20.020
09:15:20.021                 i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue       skew     skew    skew
09:15:20.021 WD:            rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth  requested observed   delta
09:15:20.021 wd1          500.00     1.95    4096 100.00    1.400    1.400    0.000    4.000    0.150   0.7    100.00%  100.00%
09:15:20.021 Total        500.00     1.95    4096 100.00    1.400    1.400    0.000    4.000    0.150   0.7    100.00%  100.00%
<a name="_2"></a><i><b>09:15:30.001 Starting RD=rd2; I/O rate: 500; elapsed=10; For loops: None</b></i>

"""


def test_a_page_of_skew_gives_each_row_and_the_total_of_the_run() -> None:
    (run,) = vdbench_format.parse(SourceText(SKEW)).runs
    assert [(one.number, one.name) for one in run.sections] == [
        (0, "Total"), (1, "Slave a-0"), (2, "Slave b-0"), (3, "WD wd1"),
    ]  # fmt: skip
    rates = {s.section: (s.operation, s.value, s.line, s.threads) for s in run.samples if s.metric == "iops"}
    assert rates == {
        0: ("read", 500, 20, 4), 1: ("read", 300, 9, 4), 2: ("read", 200, 14, 4), 3: ("read", 500, 19, 4),
    }  # fmt: skip
    assert [s.value for s in run.samples if (s.section, s.metric) == (1, "latency_mean")] == [1e6]
    assert (run.caption, run.workload) == ("rd1", {"runtime": 10, "rate": "500", "numjobs": 4})
    assert vdbench_format.looks_like(SourceText(SKEW)) == 1


def test_a_page_of_skew_without_tables_says_where_the_figures_are() -> None:
    empty = SKEW.split("09:15:20", maxsplit=1)[0]
    assert vdbench_format.looks_like(SourceText(empty)) == 1
    with pytest.raises(ParseError, match=r"summary\.html"):
        vdbench_format.parse(SourceText(empty))


def test_file_systems_on_a_page_of_skew_have_their_own_columns() -> None:
    text = (
        "Workload skew report\n\n15:17:29.022             .ReqstdOps...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir....\n"
        "15:17:29.022 FSD:          rate   resp   pct   rate   resp   rate   resp  read write  total    size  rate   resp\n"
        "15:17:29.023 fsd1         300.0  2.000  66.7  200.0  1.000  100.0  4.000  0.78  0.39   1.17    4096   0.0  0.000\n"
        "15:17:29.023 fsd2         300.0  2.000\n"
    )
    parsed = vdbench_format.parse(SourceText(text))
    found = {(s.operation, s.metric): s.value for s in parsed.runs[0].samples}
    assert (found[("mixed", "rate")], found[("read", "iops")], found[("write", "latency_mean")]) == (300, 200, 4e6)
    assert [(one.line, one.expected) for one in parsed.broken] == [(6, "a name and 13 columns")]


@pytest.mark.parametrize(
    "head", ["Anchor status report", "stdout/stderr for slave=localhost-0", "Total response time histogram."]
)
def test_pages_that_never_have_averages_are_not_told_to_lack_them(head: str) -> None:
    page = (
        f"<title>Vdbench out/page.html</title><pre>\n{head}\n\n"
        '<a name="_1"></a><i><b>09:15:10.001 Starting RD=rd1; elapsed=60; fwdrate=max. For loops: None</b></i>\n'
    )
    with pytest.raises(ParseError, match=r"without lines of figures.*summary\.html"):
        vdbench_format.parse(SourceText(page))
    assert vdbench_format.parse(
        SourceText(page.partition("<pre>")[2])
    ).broken  # of a screen, this is a run that was ended


def test_lines_whose_dates_and_times_somebody_cut_off_are_read_without_series() -> None:
    rows = (
        "           1      100.0     0.39    4096 100.00    1.000    2.000    0.100     1.0   0.2\n"
        "     avg_1-1      200.0     0.78    4096 100.00    2.000    4.000    0.200     1.0   0.2\n"
    )
    title = TITLE.replace("Oct 07, 2019  ", "").replace("              rate", "rate")
    start = "23:59:58.000 Starting RD={}; I/O rate: 100; elapsed=4; For loops: None\n\n"
    one, other = vdbench_format.parse(SourceText(start.format("rd1") + title + rows + start.format("rd2") + rows)).runs
    assert [(s.metric, s.value, s.line) for s in one.samples][:2] == [
        ("iops", 200, 6),
        ("bandwidth", 0.78 * 1024**2, 6),
    ]
    assert (one.caption, other.caption, len(other.samples)) == ("rd1", "rd2", 5)
    assert not one.series


def test_numbers_below_a_dated_title_need_their_time() -> None:
    row = "     avg_1-1      200.0     0.78    4096 100.00    2.000    4.000    0.200     1.0   0.2"
    assert not vdbench_format.parse(SourceText(report(row))).runs


def test_a_warm_up_is_told() -> None:
    row = "00:00:01.100     avg_1-2      200.0     0.78    4096 100.00    2.000    4.000    0.200     1.0   0.2"
    text = report(row).replace("elapsed=4;", "elapsed=120 warmup=30;")
    (run,) = vdbench_format.parse(SourceText(text)).runs
    assert {"runtime": 120, "ramp_time": 30}.items() <= run.workload.items()
