"""What was cut off stands in one file with the sound output of another tool: that is read, and what is missing is told."""

from itertools import product

import pytest

from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.core.models import Broken, ParsedRun, ParseError
from apps.parsers.core.registry import RECOGNISED, recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from apps.parsers.fio.text import format as text_format
from tests.sampling import for_each

DD = "3+0 records in\n3+0 records out\n3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.5 s, 6.3 MB/s\n"
HDPARM = "/dev/sdq:\n Timing buffered disk reads: 300 MB in  3.00 seconds = 100.00 MB/sec\n"
OLD = (
    "alpha,4G,40001,91,50002,22,20003,11,30004,71,60005,9,250.6,1,"
    "16,1001,51,+++++,+++,3003,53,1004,54,+++++,+++,2006,56"
)
NEW = (
    "1.98,2.00,gamma-7,1,7,16G,,16384,3,,,300001,31,200002,22,,,400003,13,9004,44" + "," * 19 + "27ms,56ms,,33ms,506ms"
)
JOB = "job: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022\n"
RATES = "  read: IOPS=28.9k, BW=113MiB/s (118MB/s)(3389MiB/30001msec)\n"
REPORT = [
    JOB,
    RATES,
    "    clat (usec): min=16, max=75652, avg=825.75, stdev=781.28\n",
    "    clat percentiles (usec):\n",
    "     |  1.00th=[   68],  5.00th=[   92], 50.00th=[  112],\n",
    "     | 90.00th=[  268], 99.00th=[  292], 99.99th=[  868]\n",
    "  lat (usec)   : 20=0.01%, 50=0.04%, 100=3.1%\n",
    "  cpu          : usr=3.28%, sys=7.99%, ctx=60641, majf=0, minf=200\n",
    "  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%\n",
    "     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n",
    "     issued rwts: total=867584,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n",
    "     latency   : target=0, window=0, percentile=100.00%, depth=1\n",
]


def read(text: str) -> tuple[list[ParsedRun], list[Broken], list[str]]:
    """All runs, what is broken, and the warnings of those formats that are sure."""
    runs, broken, warnings = list[ParsedRun](), list[Broken](), list[str]()
    for one in recognise(SourceText(text)):
        assert one.confidence >= RECOGNISED
        broken += [one.error] if one.error else []
        if one.parsed:
            runs, broken = [*runs, *one.parsed.runs], [*broken, *one.parsed.broken]
            warnings += one.parsed.warnings
    return runs, broken, warnings


def metrics(run: ParsedRun) -> set[str]:
    return {one.metric for one in run.samples if one.value is not None}


@for_each("other, cut", product([DD, HDPARM], [OLD[:20], OLD[:25], OLD[:41], OLD[:52], NEW[:15], NEW[:20], NEW[:27]]))
def test_a_csv_line_that_is_cut_off_is_told_beside_another_tool(cut: str, other: str) -> None:
    for text, line in ((f"results\n{cut}\n\n{other}", 2), (f"{other}{cut}", other.count("\n") + 1)):
        runs, broken, _ = read(text)
        assert [run.tool for run in runs] == ["dd" if other is DD else "hdparm"]
        (one,) = broken
        assert (one.line, one.found, one.message) == (line, cut, "a CSV line of bonnie++'s that is cut off")
        assert one.expected == ("27 fields" if cut[0] == "a" else "50 fields")


def test_a_csv_line_that_runs_into_another_tools_line_is_told() -> None:
    runs, broken, _ = read(OLD[:52] + DD)
    assert [run.tool for run in runs] == ["dd"]
    assert [(one.line, one.found) for one in broken] == [(1, OLD[:52] + "3+0 records in")]


@pytest.mark.parametrize("length", [9, 12, 20, 40])
def test_a_cut_csv_line_among_whole_ones_is_told_however_short(length: int) -> None:
    found = bonniepp_format.parse(SourceText(f"{OLD}\n{OLD[:length]}\n{OLD.replace('40001', '40011')}\n"))
    assert [run.line for run in found.runs] == [1, 3]
    assert [(one.line, one.found) for one in found.broken] == [(2, OLD[:length])]


@pytest.mark.parametrize(
    "text",
    [
        "host,size,write,cpu,read,cpu\nalpha,4G,40001,91,50002,22\n",
        "alpha,4G,40001,91,50002,22\nbeta,8G,40001,91,50002,22\n",
        "alpha,4G,40001,991121,50002,22\n",
        "+ report alpha,4G,40001,91,50002,22\n",
        "We tested alpha, 4G, 40001, and 91 more, with 50002, and so on.\n",
        "1.98,2.00,3.10,4,5\n",
        "1.98,2.00,\n",
        "alpha,fast,4,5,6\n",
    ],
)
def test_a_table_prose_or_a_trace_is_no_cut_csv_line(text: str) -> None:
    runs, broken, _ = read(f"{text}\n{DD}")
    assert ([run.tool for run in runs], broken) == (["dd"], [])


@for_each("other", [f"{OLD}\n", HDPARM])
@for_each(
    "cut, line",
    [
        ("3+0 records in\n", 1),
        ("3+0 records in\n3+0 records out\n3145728 by\n", 3),
        ("3+0 records in\n3+0 records out\n3145728 bytes (3.1 MB,\n", 3),
        ("3+0 records in\n3+0 records out\n3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.00\n", 3),
        ("3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.00\n", 1),
        ("3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.0018 s, 1.7 GB\n", 1),
        ("805306368 bytes transferred in 10.37\n", 1),
        ("805306368 bytes transferred in 10.373802 secs (776288\n", 1),
    ],
)
def test_a_dd_that_is_cut_off_is_told_beside_another_tool(cut: str, line: int, other: str) -> None:
    runs, broken, _ = read(f"{cut}\n{other}")
    assert [run.tool for run in runs] == ["hdparm" if other is HDPARM else "bonnie++"]
    (one,) = broken
    assert (one.line, one.found) == (line, cut.splitlines()[line - 1])
    assert one.expected


def test_records_lines_without_bytes_are_told_unless_dd_was_asked_for_no_more() -> None:
    records = "3+0 records in\n3+0 records out\n"
    runs, broken, warnings = read(f"{records}{HDPARM}")
    assert ([run.tool for run in runs], broken) == (["hdparm", "dd"], [])
    assert warnings == ["line 2: no bytes, seconds and rate stand behind dd's records lines"]
    for command in ("dd if=/dev/zero of=/tmp/x bs=1M count=3 status=noxfer", "busybox dd if=/dev/zero of=/tmp/x"):
        assert dd_format.parse(SourceText(f"$ {command}\n{records}")).warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        "3145728 bytes transferred in 5 seconds (4.1K/s)\n",
        "12345 bytes transferred\n",
        "It says that 3145728 bytes (3.1 MB) copied, in a second or so.\n",
        "of 3+0 records in all\n",
        f"\r1048576 bytes (1.0 MB, 1.0 MiB) copied, 1 s, 1.0 MB\r2097152 bytes (2.1 MB, 2.0 MiB) copied, 2 s, 1.0 MB/s\n{DD}",
    ],
)
def test_words_of_others_and_progress_are_no_dd_that_is_cut_off(text: str) -> None:
    assert read(f"{text}{HDPARM}")[1] == []


@for_each("other", ["", DD, f"{OLD}\n"])
@for_each(
    "whole, half, expected",
    [
        (2, "    clat (usec): min=16, max=756", "min=, max=, avg= and stdev="),
        (4, "", "the other percentiles"),
        (5, "", "the other percentiles"),
        (5, "     | 90.00th=[  26", "the other percentiles"),
        (5, "     | 90.00th=[  268], 99.0", "the other percentiles"),
        (6, "  lat (usec)   : 20=0.01%, 50=0.", "shares up to its last %"),
        (7, "  cpu          : usr=3.28%, sys=7.", "usr=0.0%, sys=0.0%"),
        (8, "  IO depths    : 1=100.0%, 2=0.0%, 4=0", "shares up to >=64=0.0%"),
        (9, "", "submit, complete and issued"),
        (9, "     submit    : 0=0.0%, 4=1", "shares up to >=64=0.0%"),
        (10, "     issued rwts: total=8675", "total=, short= and dropped="),
        (11, "     latency   : target=0, win", "target=, window=, percentile= and depth="),
    ],
)
def test_a_report_of_fio_that_breaks_off_says_so(whole: int, half: str, expected: str, other: str) -> None:
    text = "".join(REPORT[:whole]) + (f"{half}\n" if half else "")
    runs, broken, warnings = read(f"{text}{other}")
    assert broken == []
    told = [one for one in warnings if "breaks off" in one]
    assert told[0].startswith(f"line {whole + bool(half)}: fio's report breaks off here; found ")
    assert told[-1].endswith(f"expected {expected}") or told[0].endswith(f"expected {expected}")
    run = next(one for one in runs if one.tool == "fio")
    assert {"iops", "bandwidth", "io_bytes"} <= metrics(run)
    assert len(runs) == (2 if other else 1)


def test_half_a_figure_is_none() -> None:
    def values(text: str) -> dict[str, float | None]:
        (run,) = text_format.parse(SourceText(text)).runs
        return {one.metric: one.value for one in run.samples}

    latency = values(JOB + RATES + "    slat (nsec): min=1, max=23\n" + REPORT[2])
    assert latency["slat_min"] == 1
    assert "slat_max" not in latency
    assert "slat_mean" not in latency
    assert latency["clat_mean"] == 825_750
    shares = values("".join(REPORT[:5]) + "     | 90.00th=[  26\n")
    assert ("clat_p50" in shares, "clat_p90" in shares) == (True, False)


def test_a_whole_report_of_fio_has_nothing_to_tell() -> None:
    wrapped = REPORT[2].replace(" avg=", "\navg=") + REPORT[8].replace(" 32=", "\n32=")
    for text in ("".join(REPORT), "".join(REPORT[:2]) + wrapped + "".join(REPORT[9:])):
        found = text_format.parse(SourceText(text))
        assert (found.warnings, found.broken) == ((), ())


@pytest.mark.parametrize(
    ("by", "found", "missing"),
    [
        ("IOPS=x, BW=113MiB/s", "IOPS=x", "iops"),
        ("IOPS=nan, BW=113MiB/s", "IOPS=nan", "iops"),
        ("IOPS=28.9k, BW=x", "BW=x", "bandwidth"),
    ],
)
def test_a_rate_of_fio_that_is_no_number_is_missing_and_told(by: str, found: str, missing: str) -> None:
    text = "".join(REPORT).replace("IOPS=28.9k, BW=113MiB/s", by)
    parsed = text_format.parse(SourceText(text + HDPARM))
    (broken,) = parsed.broken
    assert (broken.line, broken.found, broken.expected) == (2, found, "a number")
    samples = {one.metric: one for one in parsed.runs[0].samples}
    assert (samples[missing].value, samples[missing].missing_reason) == (None, "not printed as a number")
    assert samples["iops" if missing == "bandwidth" else "bandwidth"].value
    assert samples["clat_p99"].value == 292_000


@pytest.mark.parametrize("rates", ["IOPS=28", "IOPS=, BW=113MiB/s (118MB/s)", "io=1752.1MB, bw=598"])
def test_rates_of_fio_that_cannot_be_read_are_told_and_what_stands_below_is_their_own(rates: str) -> None:
    text = "".join(REPORT[:3]) + f"  write: {rates}\n    clat (usec): min=1, max=9, avg=5.00, stdev=2.00\n"
    parsed = text_format.parse(SourceText(text))
    (broken,) = parsed.broken
    assert (broken.line, broken.found) == (4, rates)
    means = {one.operation: one.value for one in parsed.runs[0].samples if one.metric == "clat_mean"}
    assert means == {"read": 825_750, "write": 5_000}


def test_a_cut_line_alone_is_the_files_error() -> None:
    with pytest.raises(ParseError) as refused:
        bonniepp_format.parse(SourceText(OLD[:41]))
    assert (refused.value.line, refused.value.found) == (1, OLD[:41])
