"""Vdbench's reports with a letter in them, and averages that Vdbench itself prints without any figure."""

import pytest

from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.vdbench import flatfile, histogram
from apps.parsers.vdbench import format as vdbench_format

REPORT = """\
10:00:00.001 Starting RD=format; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: threads=2

Jan 24, 2019    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys
10:00:01.000           1      320.0    40.00  131072   0.00    0.739    0.000    0.739     0.00    32.50    2.466    0.2  36.5  25.0
10:00:01.010     avg_2-1        0.0     0.00       0   0.00    0.000    0.000    0.000     0.00     0.00    0.000    0.0   NaN   NaN
10:00:02.001 Starting RD=rd1; I/O rate: 100; elapsed=2; For loops: None
10:00:03.001           1       90.0     0.35    4096 100.00    0.013    0.013    0.000     0.03     0.00    0.006    0.0  19.2   1.5
10:00:04.001           2      110.0     0.43    4096 100.00    0.012    0.012    0.000     0.05     0.00    0.005    0.0   5.0   0.5
10:00:04.010     avg_2-2      110.0     0.43    4096 100.00    0.012    0.012    0.000     0.05     0.00    0.005    0.0   5.0   0.5
"""
FLAT = """\
 tod Run Interval reqrate rate MB/sec read% resp seekpct xfersize threads
10:57:00.000 a 1 999988 10.0 0.5 100.0 3.0 0.0 4096 2
10:57:01.000 a 2 999988 20.0 1.0 100.0 2.0 0.0 4096 2
10:57:01.001 a avg_1-2 999988 15.0 0.75 100.0 2.5 0.0 4096 2
"""
HISTOGRAM = """\
Reads since warmup:
  min(ms) <     max(ms)         count       %%    cum%%

    0.000 <       0.020             1   0.1   0.1
    0.020 <       0.040         1,017   9.9  10.0  +
    0.040 <       0.060         2,000   9.9  19.9  +
"""


def read(text: str) -> ParsedFile:
    return vdbench_format.parse(SourceText(text))


def test_averages_over_no_interval_are_missing_and_not_zero() -> None:
    parsed = read(REPORT)
    first, second = parsed.runs
    assert [(one.operation, one.value, one.line) for one in first.samples] == [("write", None, 6)]
    assert "no interval" in first.samples[0].missing_reason
    assert first.series[0].values == (320,)
    assert {one.metric: one.value for one in second.samples}["iops"] == 110
    assert not parsed.broken


def test_averages_with_one_number_in_their_label_are_averages() -> None:
    parsed = read(REPORT.replace("    avg_2-2", "  avg_600  "))
    assert {one.metric: one.value for one in parsed.runs[1].samples}["iops"] == 110


@pytest.mark.parametrize(
    ("sound", "damaged"),
    [
        ("avg_2-2      110.0     0.43", "avg_2-2      110.0     0.4x"), ("2      110.0", "2      1l0.0"), ("10:00:03.001 ", "1O:00:03.001 "),
        ("2      110.0     0.43    4096 100.00    0.012", "2      110.0     0.43    4096 1x0.00    0.012"),
    ],
)  # fmt: skip
def test_a_letter_in_a_line_of_figures_is_told_and_loses_only_what_it_hit(sound: str, damaged: str) -> None:
    before, parsed = read(REPORT), read(REPORT.replace(sound, damaged, 1))
    known = {(one.metric, one.value) for one in before.runs[1].samples}
    assert {(one.metric, one.value) for one in parsed.runs[1].samples if one.value is not None} <= known
    points = {point for one in before.runs[1].series for point in zip(one.times_s, one.values, strict=True)}
    found = {point for one in parsed.runs[1].series for point in zip(one.times_s, one.values, strict=True)}
    assert {point for point in found if point[1] == point[1]} <= points
    assert len(parsed.broken) == 1


def test_a_run_whose_start_has_no_time_is_not_the_one_before() -> None:
    parsed = read(REPORT.replace("10:00:02.001", "10:0o:02.001"))
    assert [(run.caption, len(run.series[0].values)) for run in parsed.runs] == [("format", 1), ("rd1", 2)]
    assert [(one.line, one.found) for one in parsed.broken] == [(7, "10:0o:02.001")]


@pytest.mark.parametrize(
    ("sound", "damaged", "lost"),
    [
        (" 20.0 1.0", " 2x.0 1.0", 1),
        ("10:57:01.000", "1O:57:01.000", 3),
        ("a 2 99", "a O 99", 3),
        ("1.0 100.0", "1.0 10o.0", 3),
    ],
)
def test_a_letter_in_a_flatfile_is_told(sound: str, damaged: str, lost: int) -> None:
    parsed = flatfile.parse(SourceText(FLAT.replace(sound, damaged)))
    assert [one.line for one in parsed.broken] == [3]
    assert {(one.operation, one.metric, one.value) for one in parsed.runs[0].samples} == {
        ("read", "iops", 15), ("read", "bandwidth", 0.75 * 1024**2), ("read", "latency_mean", 2.5e6),
    }  # fmt: skip
    points = sum(value == value for one in parsed.runs[0].series for value in one.values)
    assert points == 6 - lost


def test_an_average_whose_share_of_reads_is_damaged_is_of_no_operation() -> None:
    parsed = flatfile.parse(SourceText(FLAT.replace("0.75 100.0", "0.75 1x0.0")))
    assert "1x0.0" in [one.found for one in parsed.broken]
    assert [one.value for one in parsed.runs[0].samples if one.value is not None] == []


def test_a_bin_that_cannot_be_read_does_not_take_those_below_it() -> None:
    parsed = histogram.parse(SourceText(HISTOGRAM.replace("1,017", "1,0l7")))
    assert parsed.runs[0].histograms[0].bins == ((20_000, 1), (60_000, 2000))
    assert [one.line for one in parsed.broken] == [5]


def test_prose_with_times_is_no_damaged_report() -> None:
    with pytest.raises(ParseError):
        read("10:00:02.001 Vdbench distribution: vdbench50407\n10:00:03.001 one two three\n")


def test_a_row_of_skew_whose_share_of_reads_is_damaged_is_of_no_operation() -> None:
    text = (
        "Workload skew report\n\n"
        "09:15:20.020                 i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue\n"
        "09:15:20.020 SD:            rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth\n"
        "09:15:20.020 sd1          300.00     1.17    4096 1o0.00    1.000    1.000    0.000    3.000    0.100   0.3\n"
        "09:15:20.020 Total        300.00     1.17    4096 100.00    1.000    1.000    0.000    3.000    0.100   0.3\n"
    )
    parsed = read(text)
    assert {one.operation for one in parsed.runs[0].samples} == {"read"}
    assert [(one.line, one.found) for one in parsed.broken] == [(5, "1o0.00")]
