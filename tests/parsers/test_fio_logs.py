"""fio's logs: columns and units by name and version, and lines that are none."""

import json
import subprocess
import time
import tracemalloc
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.parsers.core import registry
from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSeries, ParseError
from apps.parsers.core.source_text import REPLACEMENT, SourceText
from apps.parsers.fio.bins import get_middle
from apps.parsers.fio.logs import format as logs_format
from apps.parsers.fio.logs.columns import read_table
from apps.parsers.fio.logs.format import ScaledColumn
from apps.runs.series.arrays import overview, pack
from tests.pace import within
from tests.sampling import for_each

AVERAGED = "1000, 100, 0, 0\n1000, 50, 1, 0\n2000, 300, 0, 0\n"


def parse(text: str | bytes, name: str = "fio-3.16/job_clat.1.log") -> ParsedFile:
    return logs_format.parse(SourceText(text, name))


def only(text: str, name: str = "fio-3.16/job_clat.1.log") -> ParsedRun:
    (run,) = parse(text, name).runs
    return run


def shown(series: ParsedSeries) -> tuple[str, str, list[float], list[float]]:
    return series.operation, series.metric, list(map(float, series.times_s)), list(map(float, series.values))


@pytest.mark.parametrize(
    ("name", "metric", "scale"),
    [
        ("job_bw.1.log", "bandwidth", 1024), ("x/y/job_iops.12.log", "iops", 1), ("fio-3.7/a_lat.log", "latency_mean", 1),
        ("JOB_CLAT_NS.1.LOG", "clat_mean", 1), ("fio-3.10_read_slat.3.log.txt", "slat_mean", 1), (r"C:\logs\bw_iops.1.log", "iops", 1),
    ],
)  # fmt: skip
def test_the_name_tells_what_the_values_are(name: str, metric: str, scale: int) -> None:
    read, write = only(AVERAGED, name).series
    assert shown(read) == ("read", metric, [1, 2], [100 * scale, 300 * scale])
    assert shown(write) == ("write", metric, [1], [50 * scale])
    assert logs_format.looks_like(SourceText(AVERAGED, name)) == 1


@pytest.mark.parametrize("name", ["", "results.log", "latency.log", "job_bwx.1.log", "flat.log"])
def test_a_log_whose_name_does_not_tell_is_not_read(name: str) -> None:
    parsed = parse(AVERAGED, name)
    assert parsed.runs == ()
    assert "_clat" in parsed.broken[0].expected
    assert parsed.broken[0].found == name
    assert logs_format.looks_like(SourceText(AVERAGED, name)) == 0.5


@pytest.mark.parametrize(
    ("line", "warns"),
    [
        ("5, 100, 0, 4096, 0x4001", False),
        ("5, 100, 0, 4096, 0", False),  # a priority: an offset of 0 would be all I/Os'
        ("5, 100, 0, 0, 0", True),
        ("5, 100, 0, 4096, 8192, 1", False),
        ("5, 100, 0, 4096, 8192, 0x2007", False),
        ("5, 100, 0, 4096, 8192, 0, 123456789", False),
    ],
)
def test_columns_that_came_with_or_after_ns_tell_the_unit(line: str, warns: bool) -> None:
    parsed = parse(f"{line}\n{line}\n", "job_clat.1.log")
    (series,) = parsed.runs[0].series
    assert shown(series) == ("read", "clat_mean", [0.005] * 2, [100] * 2)
    assert [warning for warning in parsed.warnings if "2.99" in warning] == ([*parsed.warnings] if warns else [])
    assert bool(parsed.warnings) is warns


@pytest.mark.parametrize(
    "text",
    [
        AVERAGED,
        "5, 100, 0, 4096, 8192\n6, 100, 0, 4096, 4096\n",
        "5, 9000, 0, 4096\n" * 512,  # may be one deep queue's when a ramp_time ended
        "1500000000000, 5000000, 0, 0\n1500000001000, 5000000, 0, 0\n",  # begun nobody knows when
    ],
    ids=["averages", "offsets", "a queue", "since 1970"],
)
@pytest.mark.parametrize("name", ["a_lat.1.log", "fio-2.1-and-fio-3.1/a_slat.1.log"])
def test_latencies_that_may_be_ns_or_us_are_told(text: str, name: str) -> None:
    parsed = parse("below what somebody wrote\n" + text, name)
    assert shown(parsed.runs[0].series[0])[3][0] == int(text.split(",")[1])
    (warning,) = [one for one in parsed.warnings if "2.99" in one]
    assert warning.startswith("line 2: the values are read as ns")
    assert "job_lat_us.1.log" in warning


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("fio-2.1.10/a_lat.1.log", 1000), ("fio-2.98/a_lat.1.log", 1000), ("fio-2.99/a_lat.1.log", 1),
        ("fio_v3.7-a_lat.1.log", 1), ("a_lat_us.1.log", 1000), ("a_slat_nsec.log", 1), ("x.zip/FIO 2.16/a_clat.log", 1000),
    ],
)  # fmt: skip
def test_a_name_or_folder_tells_the_unit(name: str, scale: int) -> None:
    parsed = parse(AVERAGED, name)
    assert (parsed.broken, parsed.warnings) == ((), ())
    assert shown(parsed.runs[0].series[0])[3] == [100 * scale, 300 * scale]


@pytest.mark.parametrize(
    ("version", "scale"), [("2.1.10", 1000), ("1.58", 1000), ("2.98", 1000), ("2.99", 1), ("3.16-3-gab12", 1)]
)
def test_a_report_beside_it_tells_the_unit(version: str, scale: int) -> None:
    parsed = logs_format.parse(SourceText(AVERAGED, "a_lat.1.log", (version, "out.json")))
    assert shown(parsed.runs[0].series[0])[3] == [100 * scale, 300 * scale]
    said = f"line 1: the values are read as µs, as fio before 2.99 wrote them: out.json beside it is of fio {version}"
    assert parsed.warnings == ((said,) if scale == 1000 else ())


@pytest.mark.parametrize("version", ["", "git", "3", "12345.1"])
def test_a_report_without_a_version_tells_nothing(version: str) -> None:
    (warning,) = logs_format.parse(SourceText(AVERAGED, "a_lat.1.log", (version, "out.json"))).warnings
    assert warning.startswith("line 1: the values are read as ns")


@pytest.mark.parametrize("text", ["1000, 9000000, 0, 0\n2000, 9, 0, 0\n", "5, 100, 0, 4096, 8192, 0\n"])
def test_what_the_log_itself_proves_is_surer_than_a_report_beside_it(text: str) -> None:
    parsed = logs_format.parse(SourceText(text, "a_lat.1.log", ("2.1.10", "out.json")))
    assert float(parsed.runs[0].series[0].values[0]) in (9_000_000, 100)


@pytest.mark.parametrize(("format_", "scale"), [("fio log us", 1000), ("fio log ns", 1)])
def test_who_knows_it_says_the_unit(format_: str, scale: int) -> None:
    one = registry.get_format(format_)
    text = SourceText(AVERAGED, "fio-2.1-or-3.1_lat.1.log", ("2.1.10", "out.json"))
    assert one.looks_like(text) == 0
    reading = registry.read_as(one, text)
    assert reading.parsed
    assert shown(reading.parsed.runs[0].series[0])[3] == [100 * scale, 300 * scale]
    assert reading.parsed.warnings == ()
    bandwidth = registry.read_as(one, SourceText(AVERAGED, "a_bw.1.log"))
    assert bandwidth.parsed
    assert shown(bandwidth.parsed.runs[0].series[0])[3] == [100 * 1024, 300 * 1024]


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("randread_clat.1.log", "randread: completion latency, job 1"), ("a/b\\x-16_bw.50.log", "x-16: bandwidth, job 50"),
        ("lat.log", "latency"), ("my_bw_job_iops.2.log", "my_bw_job: IOPS, job 2"), ("a_lat_us.1.log", "a: latency, job 1"),
    ],
)  # fmt: skip
def test_a_name_tells_a_log_from_the_others_of_its_job(name: str, caption: str) -> None:
    assert only(AVERAGED, name).caption == caption


def test_a_histogram_may_have_any_name() -> None:
    rows = "1000, 0, 4096, " + ", ".join(["3"] * 1856) + "\n"
    assert only(rows, "result.txt").caption == ""


def test_bandwidth_needs_no_unit_from_its_name() -> None:
    assert shown(only(AVERAGED, "fio-2.1/a_bw.1.log").series[0])[3] == [100 * 1024, 300 * 1024]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1000, 900000, 0, 0\n2000, 2001001, 0, 0\n3000, 900000, 0, 0\n", 2),
        ("5, 9000, 0, 4096\n" * 513, 1),
    ],
    ids=["a second and more", "more than a queue holds"],
)
def test_what_would_take_longer_than_the_run_so_far_is_ns(text: str, line: int) -> None:
    parsed = parse(text, "a_lat.1.log")
    assert float(parsed.runs[0].series[0].values[0]) in (900_000, 9000)
    (warning,) = parsed.warnings
    assert warning.startswith(f"line {line}: the values are ns: in µs")


def test_the_largest_value_beside_the_mean_is_a_series_of_its_own() -> None:
    run = only("1000, 100, 900, 1, 0, 0\n2000, 110, 950, 1, 0, 0\n")
    assert [shown(one) for one in run.series] == [
        ("write", "clat_mean", [1, 2], [100, 110]),
        ("write", "clat_max", [1, 2], [900, 950]),
    ]


@pytest.mark.parametrize("measure", ["bw", "iops"])
def test_a_mean_that_stands_twice_is_no_largest_value(measure: str) -> None:
    run = only("1000, 100, 100, 1, 0, 0\n2000, 110, 110, 1, 0, 0\n", f"a_{measure}.1.log")
    assert [len(one.values) for one in run.series] == [2]


def test_trims_are_told_from_reads_and_writes() -> None:
    assert [one.operation for one in only("1, 2, 2, 512\n2, 2, 1, 512\n").series] == ["write", "trim"]


def test_times_since_1970_begin_at_the_first_line() -> None:
    run = only("1795278931654, 100, 0, 0\n1795278932654, 200, 0, 0\n")
    assert run.started_at == 1795278931.654
    assert shown(run.series[0])[2] == [0, 1]


def test_single_ios_of_an_iops_log_are_counted_by_the_second() -> None:
    parsed = parse("0, 1, 0, 4096\n900, 1, 0, 4096\n2100, 1, 0, 4096\n2999, 1, 1, 4096\n", "a_iops.1.log")
    assert [shown(one) for one in parsed.runs[0].series] == [
        ("read", "iops", [1, 2, 3], [2, 0, 1]), ("write", "iops", [1, 2, 3], [0, 0, 1]),
    ]  # fmt: skip
    assert "by the second" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("times", "ends", "rates"),
    [
        ([0, 10, 99], [0.1], [30]),  # a run of a tenth of a second
        ([0, 10, 1499], [1, 1.5], [2, 2]),
        ([0, 10, 1249], [1.25], [2.4]),  # too little of a second for a rate of its own
        ([7_200_000, 7_200_500, 7_200_999], [7201], [3]),  # the clock of log_alternate_epoch=1
    ],
)
def test_a_second_that_is_not_whole_is_divided_by_its_own_length(
    times: list[int], ends: list[float], rates: list[float]
) -> None:
    run = only("".join(f"{ms}, 1, 0, 4096, 0\n" for ms in times), "a_iops.1.log")
    assert shown(run.series[0]) == ("read", "iops", ends, rates)


def test_single_ios_since_1970_are_counted_too() -> None:
    run = only("1795278931654, 1, 0, 4096\n1795278931700, 1, 0, 4096\n1795278932653, 1, 0, 4096\n", "a_iops.1.log")
    assert (run.started_at, shown(run.series[0])) == (1795278931.654, ("read", "iops", [1], [3]))


def test_jobs_one_behind_the_other_in_a_log_are_runs_of_their_own() -> None:
    text = "500, 10, 0, 0, 0\n1000, 20, 0, 0, 0\n1000, 5, 1, 0, 0\n"
    parsed = parse(text + text.replace("0, 0, 0\n", "1, 0, 0\n"), "x_bw.log")
    assert [[shown(one) for one in run.series] for run in parsed.runs] == [
        [("read", "bandwidth", [0.5, 1], [10_240, 20_480]), ("write", "bandwidth", [1], [5120])],
        [("write", "bandwidth", [0.5, 1, 1], [10_240, 20_480, 5120])],
    ]
    assert [(run.line, run.last_line, run.caption) for run in parsed.runs] == [
        (1, 3, "x: bandwidth, part 1"), (4, 6, "x: bandwidth, part 2"),
    ]  # fmt: skip
    assert parsed.warnings[0].startswith("line 4: the times begin again: 2 jobs in one log")


@pytest.mark.parametrize("times", [[0, 9, 1, 2], [5, 3000, 2995, 3001], [100, 100, 91], [1000, 3000, 2100]])
def test_ios_that_end_out_of_order_are_of_one_job(times: list[int]) -> None:
    assert only("".join(f"{ms}, 7, 0, 4096\n" for ms in times), "a_bw.1.log").series[0].times_s[0] == times[0] / 1000


def test_times_that_make_no_sense_are_no_jobs() -> None:
    assert len(parse("900, 7, 0, 0\n1, 7, 0, 0\n" * 5000, "a_bw.1.log").runs) == 1


def test_an_average_of_one_is_an_average() -> None:
    assert shown(only("1000, 1, 0, 0\n2000, 1, 0, 0\n", "a_iops.1.log").series[0])[3] == [1, 1]


@pytest.mark.parametrize("ending", ["\r\n", "\n\n", "  \n", "\r\r\n", "\r"])
def test_line_ends_and_blank_lines_do_not_matter(ending: str) -> None:
    assert [shown(one) for one in only(AVERAGED.replace("\n", ending)).series] == [
        shown(one) for one in only(AVERAGED).series
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings_are_read(encoding: str) -> None:
    parsed = parse(AVERAGED.encode(encoding))
    assert shown(parsed.runs[0].series[0])[3] == [100, 300]


@pytest.mark.parametrize(
    "line", ["3000, 7", "3000, 7, 0", "3000, x, 0, 0", "3000, , 0, 0", "3000, 1 2, 0, 0", "-5, 1, 0, 0", "1e3, 1, 0, 0"]
)
def test_a_line_that_is_none_is_told_and_the_others_are_read(line: str) -> None:
    parsed = parse(AVERAGED + line + "\n4000, 9, 0, 0\n")
    assert [(one.line, one.found) for one in parsed.broken] == [(4, line)]
    assert shown(parsed.runs[0].series[0])[3] == [100, 300, 9]
    assert (parsed.runs[0].line, parsed.runs[0].last_line) == (1, 5)


def test_what_is_shown_of_a_line_that_is_none_holds_no_nul() -> None:
    (broken,) = parse(f"{AVERAGED}\0\0x, 1, 0, 0\n{AVERAGED}").broken
    assert (broken.line, broken.found) == (4, f"{REPLACEMENT}{REPLACEMENT}x, 1, 0, 0")


def test_a_first_line_that_is_cut_does_not_decide() -> None:
    parsed = parse("999, 7\n" + AVERAGED)
    assert [one.line for one in parsed.broken] == [1]
    assert shown(parsed.runs[0].series[0])[3] == [100, 300]


def test_a_direction_that_fio_does_not_have_is_told() -> None:
    parsed = parse(AVERAGED + "4000, 9, 7, 0\n")
    assert (parsed.broken[0].line, parsed.broken[0].found) == (4, "7")
    assert [len(one.values) for one in parsed.runs[0].series] == [2, 1]


def histogram(counts: dict[int, int], bins: int = 1856, time_ms: int = 1000, direction: int = 0) -> str:
    return f"{time_ms}, {direction}, 4096, " + ", ".join(str(counts.get(n, 0)) for n in range(bins)) + "\n"


def test_histograms_are_added_up_over_time() -> None:
    text = histogram({5: 1, 700: 2}) + histogram({5: 3}, time_ms=2000) + histogram({9: 4}, direction=1)
    run = only(text, "a_clat_hist.1.log")
    assert [(one.operation, one.kind, one.bins) for one in run.histograms] == [
        ("read", "clat", ((5, 4), (get_middle(700), 2))),
        ("write", "clat", ((9, 4),)),
    ]


def test_histograms_are_read_over_time_with_their_counts() -> None:
    last = 1855
    text = histogram({5: 1, 700: 2}) + histogram({9: 4}, direction=1)
    text += histogram({5: 3}, time_ms=2000) + histogram({}, time_ms=3000) + histogram({last: 8, 5: 1}, time_ms=4000)
    run = only(text, "a_clat_hist.1.log")
    read, write = run.histories
    assert (read.operation, read.kind, read.section) == ("read", "clat", 0)
    assert (read.times_s, read.bins) == ((1.0, 2.0, 3.0, 4.0), (5, get_middle(700), get_middle(last)))
    assert read.counts.tolist() == [[1, 2, 0], [3, 0, 0], [0, 0, 0], [1, 0, 8]]
    assert (write.times_s, write.bins, write.counts.tolist()) == ((1.0,), (9,), [[4]])
    median, *_ = (shown(series) for series in run.series if series.operation == "read")
    assert median[:3] == ("read", "clat_p50", [1, 2, 3, 4])
    assert median[3][:2] == [get_middle(700), 5]
    assert np.isnan(median[3][2:]).all()  # nothing was counted; and the last bin has no end
    assert {series.metric for series in run.series} == {"clat_p50", "clat_p99", "clat_p99_9"}


@pytest.mark.parametrize("coarseness", range(7))
@pytest.mark.parametrize(("groups", "scale"), [(29, 1), (19, 1000)])
def test_a_coarse_bin_stands_for_the_middle_of_those_it_joins(coarseness: int, groups: int, scale: int) -> None:
    """fio adds up 2^coarseness neighbours, which are those of `plat_idx_to_val`."""
    step, at = 1 << coarseness, 640 >> coarseness
    run = only(histogram({at: 7}, (groups * 64) >> coarseness), "a_clat_hist.1.log")
    (history,) = run.histories
    joined = [get_middle(index) for index in range(at * step, (at + 1) * step)]
    assert history.bins == ((joined[0] + joined[-1]) // 2 * scale,)
    assert run.histograms[0].bins == ((history.bins[0], 7),)


def test_a_long_histogram_log_is_joined_and_loses_no_completion() -> None:
    rows = logs_format.MOST_INTERVALS * 2 + 5
    line = ", ".join("3" if n == 4 else "0" for n in range(29))
    text = "".join(f"{1000 * number}, 0, 4096, {line}\n" for number in range(1, rows + 1))
    (history,) = only(text, "a_clat_hist.1.log").histories
    assert len(history.times_s) <= logs_format.MOST_INTERVALS
    assert (int(history.counts.sum()), history.times_s[-1]) == (3 * rows, float(rows))
    assert sorted(set(history.times_s)) == list(history.times_s)


def test_jobs_one_behind_the_other_are_runs_of_their_own() -> None:
    job = "".join(histogram({5: 1}, time_ms=1000 * number) for number in range(1, 6))
    parsed = parse(job + job, "a_clat_hist.log")
    assert [sum(one.histories[0].counts.sum(axis=1)) for one in parsed.runs] == [5, 5]
    assert "2 jobs in one log" in parsed.warnings[0]


@pytest.mark.fio
@pytest.mark.parametrize("coarseness", [0, 4])
def test_what_fio_itself_writes_is_what_it_counts(tmp_path: Path, coarseness: int) -> None:
    """The log lacks the last interval, which fio does not write; the bins are those of its JSON."""
    command = [
        "fio", "--name=h", "--ioengine=psync", "--rw=randrw", "--bs=4k", "--size=4m", "--runtime=2", "--time_based",
        "--write_hist_log=h", "--log_hist_msec=250", f"--log_hist_coarseness={coarseness}", "--output-format=json+",
        "--output=h.json",
    ]  # fmt: skip
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    run = only((tmp_path / "h_clat_hist.1.log").read_text(), "h_clat_hist.1.log")
    job = json.loads((tmp_path / "h.json").read_text())["jobs"][0]
    assert {history.operation for history in run.histories} == {"read", "write"}
    for history in run.histories:
        counted = {int(ns): count for ns, count in job[history.operation]["clat_ns"]["bins"].items()}
        assert 0.5 * sum(counted.values()) < history.counts.sum() <= sum(counted.values())
        assert len(history.times_s) >= 5
        if not coarseness:
            assert set(history.bins) <= set(counted)


@pytest.mark.parametrize(
    ("bins", "at", "ns"), [(1216, 5, 5000), (1856 // 64, 1, 95), (1856 // 2, 3, 6), (1216 // 64, 0, 31_000)]
)
def test_fewer_bins_are_wider_or_older(bins: int, at: int, ns: int) -> None:
    run = only(histogram({at: 7}, bins), "a_clat_hist.1.log")
    assert run.histograms[0].bins == ((ns, 7),)


def test_a_number_of_bins_that_fio_does_not_write_is_refused() -> None:
    (broken,) = parse(histogram({1: 1}, 100), "a_clat_hist.1.log").broken
    assert broken.found == "100 counts"


def test_a_name_that_says_histogram_over_other_lines_is_refused() -> None:
    assert parse(AVERAGED, "a_clat_hist.1.log").broken[0].found == "a_clat_hist.1.log"


def test_counts_that_cannot_be_are_refused() -> None:
    parsed = parse(histogram({1: 1}) + histogram({3: 10**17}, time_ms=2000), "a_clat_hist.1.log")
    assert parsed.runs[0].histograms[0].bins == ((1, 1),)
    assert parsed.broken[0].line == 2
    assert parse(histogram({3: 6873726019606937632}), "a_clat_hist.1.log").runs == ()


def test_the_bin_of_an_index_is_the_middle_that_fio_prints() -> None:
    assert [get_middle(index) for index in (0, 127, 128, 129, 191, 192, 1855)] == [
        0, 127, 129, 131, 255, 258, (1 << 33) + int(63.5 * (1 << 27)),
    ]  # fmt: skip


ROWS = st.lists(st.lists(st.integers(0, 10**12), min_size=4, max_size=4), min_size=1, max_size=40)


@settings(deadline=None)
@given(ROWS)
def test_the_fast_way_reads_what_python_reads(rows: list[list[int]]) -> None:
    text = "".join(", ".join(map(str, row)) + "\n" for row in rows)
    read = read_table(text.encode())
    assert [list(row) for row in zip(*(column.tolist() for column in read.columns), strict=True)] == rows
    assert [read.least, read.largest] == [tuple(map(limit, zip(*rows, strict=True))) for limit in (min, max)]
    assert list(read.lines) == list(range(1, len(rows) + 1))
    spoilt = read_table(text.encode() + b"no row\n")
    assert all(map(np.array_equal, spoilt.columns, read.columns))
    assert len(spoilt.broken) == 1


def test_a_bad_line_far_inside_costs_no_other_line() -> None:
    rows = [f"{n}, {n * 7}, 0, 4096" for n in range(60_000)]
    rows[41_234] = "cut"
    rows[50_000] = ""
    read = read_table("\n".join([*rows, "59999, 1"]).encode())
    assert [one.line for one in read.broken] == [41_235, 60_001]
    assert len(read) == 59_998
    assert np.array_equal(read.columns[0] + 1, read.lines)
    assert [column.dtype.itemsize for column in read.columns] == [2, 4, 1, 2]


def test_a_log_takes_few_bytes_a_line_beside_its_text() -> None:
    lines = 300_000
    text = SourceText(
        "".join(f"{n // 3}, {n * 7919 % 9_000_011}, {n % 2}, 4096, {n % 9 * 4096}\n" for n in range(lines)), "a_lat.log"
    )
    tracemalloc.start()
    parsed = logs_format.parse(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(one.values) for one in parsed.runs[0].series] == [lines // 2] * 2
    assert peak < 6_000_000 + 25 * lines


def test_lines_keep_their_numbers_behind_blank_and_broken_ones() -> None:
    rows = ["", "1, 5, 0, 0", "2, 6, 0, 0", "cut", "3, 7, 0, 0", "", "4, 8, 0, 0"]
    read = read_table("\n".join(rows).encode())
    assert list(read.lines) == [2, 3, 5, 7]
    assert (read.lines[-1], read.lines[1:3], len(read.lines)) == (7, [3, 5], 4)
    assert read.largest == (4, 8, 0, 0)


def test_numbers_are_kept_as_wide_as_the_largest_of_them_wants() -> None:
    values = [3, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**60]
    for count in range(1, len(values) + 1):
        text = "".join(f"{n}, {value}, 0, 0\n" for n, value in enumerate(values[:count]))
        assert read_table(text.encode()).columns[1].tolist() == values[:count]
    wide = "".join(f"{n}, 5, 0, 0\n" for n in range(70_000)) + f"70000, {2**40}, 0, 0\n"
    column = read_table(wide.encode()).columns[1]
    assert (column[0], column[69_999], column[-1]) == (5, 5, 2**40)


def test_a_column_makes_its_numbers_when_they_are_asked_for() -> None:
    column = ScaledColumn(np.array([5, 250, 7], dtype=np.uint8), since=4, scale=1024.0, divisor=2.0)
    assert list(column) == [512, 246 * 512, 1536]
    assert np.asarray(column[1:]).tolist() == [246 * 512, 1536]
    assert (column[0], column[-1], len(column)) == (512, 1536, 3)
    assert pack(column, column) == pack(list(column), list(column))
    assert overview(column, column) == overview(list(column), list(column))


def test_a_long_log_that_is_cut_off_is_shown_to_no_other_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten millions of lines as text take more memory than there is."""
    monkeypatch.setattr(registry, "_LARGE", 1000)
    text = SourceText("1, 5, 0, 0\n" * 1000 + "2, 7", "fio-3.16/job_clat.1.log")
    (reading,) = registry.recognise(text)
    assert reading.format.name == logs_format.NAME
    assert reading.parsed is not None
    assert [one.line for one in reading.parsed.broken] == [1001]
    assert "lines" not in text.__dict__


@settings(deadline=None)
@given(st.text(alphabet="0123456789, \n-x", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parsed = parse("1, 2, 0, 0\n" + text)
    except ParseError:
        return
    lines = ("1, 2, 0, 0\n" + text).split("\n")
    for run in parsed.runs:
        assert sum(len(one.values) for one in run.series) <= len(lines)


def test_a_text_that_is_no_log_is_refused() -> None:
    assert logs_format.looks_like(SourceText("1,2,3\n" * 100, "a_bw.1.log")) == 0
    with pytest.raises(ParseError):
        parse("time, value\n")


HOSTILE = {
    "commas": "1, 2, 0, 0\n" + "," * 1_000_000,
    "one line": "1, 2, 0, 0" + ", 1" * 330_000,
    "digits": "1, 2, 0, 0\n" + "9" * 1_000_000,
    "bad lines": "1, 2, 0, 0\n" + "1, 2\n" * 200_000,
    "far times": "1, 1, 0, 512\n999999999999999999, 1, 0, 512\n" * 20_000,
    "blanks": "1, 2, 0, 0\n" + " " * 1_000_000,
    "hexadecimal": "1, 2, 0, 0, 0x0001\n" * 50_000,
}


@for_each("name, log", product(HOSTILE, ["a_clat.1.log", "a_iops.1.log"]), number=4)
def test_a_hostile_mebibyte_is_read_or_refused_within_two_seconds(name: str, log: str) -> None:
    before = time.process_time()
    text = SourceText(HOSTILE[name], log)
    logs_format.looks_like(text)
    try:
        assert isinstance(logs_format.parse(text), ParsedFile)
    except ParseError:
        pass
    assert within(time.process_time() - before, 2)


@pytest.mark.parametrize(
    ("before", "mark", "above"),
    [
        ("", "> ", 0), ("", ">> ", 0), ("Ann wrote:\n", "> ", 1), ("fio: log\n", "", 1),
        ("the bw of sda, 8 MB/s\n\n", "", 2),
    ],
)  # fmt: skip
def test_quotes_and_words_above_the_rows_do_not_matter(before: str, mark: str, above: int) -> None:
    text = before + "".join(f"{mark}{line}\n" for line in AVERAGED.splitlines())
    source = SourceText(text, "job_bw.1.log")
    assert logs_format.looks_like(source) == 1
    parsed = logs_format.parse(source)
    assert (parsed.broken, parsed.warnings) == ((), ())
    (run,) = parsed.runs
    assert [shown(one) for one in run.series] == [shown(one) for one in only(AVERAGED, "job_bw.1.log").series]
    assert (run.line, run.last_line) == (above + 1, above + 3)


def test_a_line_that_is_none_below_others_has_its_number() -> None:
    assert [one.line for one in parse(f"a log\n{AVERAGED}x\n", "job_bw.1.log").broken] == [5]


def test_rows_below_names_are_somebodys_table() -> None:
    text = SourceText(f"size, bw, run, depth\n{AVERAGED}", "job_bw.1.log")
    assert logs_format.looks_like(text) == 0
    assert [one.line for one in logs_format.parse(text).broken] == [1]  # chosen by hand


@pytest.mark.parametrize("end", ["\r", "\r\r\n"])
def test_every_line_end_counts_lines(end: str) -> None:
    run = only(AVERAGED.replace("\n", end), "job_bw.1.log")
    assert (run.line, run.last_line) == (1, 3)


def test_a_log_of_the_bandwidth_of_single_ios_says_that_it_is_none_of_the_job() -> None:
    single = "".join(f"{n * 10}, {26_000 + n}, {n % 2}, 4096\n" for n in range(20))
    (warning,) = parse(single, "job_bw.1.log").warnings
    assert warning == "line 1: a line for every I/O, with the rate of that one alone: no bandwidth of the job"
    assert not parse(single.replace(", 4096", ", 0"), "job_bw.1.log").warnings
    assert not parse("536, 1208, 0, 4096\n536, 1313, 1, 4096\n", "job_bw.1.log").warnings
    assert not parse("500, 1208, 0, 4096\n1000, 1300, 0, 4096\n1500, 1313, 0, 4096\n", "job_bw.1.log").warnings
