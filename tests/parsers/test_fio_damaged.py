"""Letters and gaps in fio's reports: what cannot be read is told where it stands, and makes no other value."""

import json

import pytest

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json import format as json_format
from apps.parsers.fio.logs import format as logs_format
from apps.parsers.fio.terse import format as terse_format
from apps.parsers.fio.text import format as text_format
from apps.parsers.fio.text.definitions import describe_doubt, read_definition

TEXT = """\
one: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
two: (g=1): rw=randread, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=4
fio-3.33
one: (groupid=0, jobs=1): err= 0: pid=11: Sat Nov 21 16:35:11 2026
  write: IOPS=1500, BW=6000KiB/s (6144kB/s)(5860KiB/1000msec)
    clat (nsec): min=2514, max=54942, avg=3547.89, stdev=2207.55
    clat percentiles (nsec):
     | 50.00th=[ 3024], 99.00th=[ 4512]
   bw (  KiB/s): min= 5000, max= 7000, per=100.00%, avg=6000.00, stdev=10.00, samples=2
  cpu          : usr=1.00%, sys=2.00%, ctx=1, majf=0, minf=1
two: (groupid=1, jobs=2): err= 0: pid=12: Sat Nov 21 16:35:12 2026
  read: IOPS=200, BW=1600KiB/s (1638kB/s)(1600KiB/1000msec)
    clat (usec): min=100, max=900, avg=260.00, stdev=1.00
  cpu          : usr=1.00%, sys=2.00%, ctx=1, majf=0, minf=1
"""
SHARES = ";".join(["1.000000%=1", "50.000000%=2", "99.000000%=3", *["0%=0"] * 17])
NOTHING = ";".join(
    ["0"] * 4
    + ["0", "0", "0.000000", "0.000000"] * 2
    + ["0%=0"] * 20
    + ["0", "0", "0.000000", "0.000000"]
    + ["0", "0", "0.000000%", "0.000000", "0.000000"]
)
FIGURES = (
    f"400;800;200;500;0;0;0.000000;0.000000;71;4000;178.5;2.5;{SHARES};72;4001;179.5;3.5;700;900;100.000000%;800.5;4.5"
)
TERSE = f"3;fio-3.33;job;0;0;{FIGURES};{NOTHING};1.5%;2.5%;10;0;35{';0.1%' * 7}{';0.00%' * 22}\n"


def told(parsed: ParsedFile) -> list[str]:
    return [*map(str, parsed.broken), *parsed.warnings]


def values(parsed: ParsedFile) -> dict[tuple[int, str, str], float | None]:
    return {(one.section, one.operation, one.metric): one.value for run in parsed.runs for one in run.samples}


def text(body: str) -> ParsedFile:
    return text_format.parse(SourceText(body))


@pytest.mark.parametrize(
    ("sound", "damaged", "metric"),
    [
        ("max=54942", "max=549x42", "clat_max"), ("avg=3547.89", "avg=35l7.89", "clat_mean"), ("min=2514", "min=Z514", "clat_min"),
        ("[ 3024]", "[ 30x24]", "clat_p50"), ("(5860KiB", "(5x60KiB", "io_bytes"), ("(5860KiB/1000", "(5860KiB/1x00", "io_bytes"),
        ("min= 5000", "min= 5o00", "bandwidth_min"), ("usr=1.00%", "usr=1.o0%", "cpu"),
    ],
)  # fmt: skip
def test_a_letter_in_a_figure_of_the_text_is_no_shorter_figure(sound: str, damaged: str, metric: str) -> None:
    before, after = values(text(TEXT)), text(TEXT.replace(sound, damaged, 1))
    assert values(after) == {**before, (0, "write", metric): None}
    assert damaged.strip("([] ").replace("= ", "=") in "".join(told(after)), told(after)


def test_a_percentile_with_a_letter_in_its_share_is_not_that_of_another_share() -> None:
    after = text(TEXT.replace("99.00th", "99.x50th").replace(" 50.00th=[ 3024],", ""))
    assert not any("clat_p" in metric for _, _, metric in values(after))
    assert after.broken[0].found == "99.x50th=[ 4512]"


@pytest.mark.parametrize(
    "damaged",
    [
        "(groupid=l, jobs=2): err= 0: pid=12",
        "(groupid=1, jobs=2x): err= 0: pid=12",
        "(groupid=1, jobs=2): err= O: pid=12",
    ],
)
def test_a_job_whose_header_is_damaged_does_not_become_the_one_above(damaged: str) -> None:
    after = text(TEXT.replace("(groupid=1, jobs=2): err= 0: pid=12", damaged))
    assert [one.name for one in after.runs[0].sections] == ["one", "two"]
    assert values(after)[1, "read" if "groupid=l" in damaged else "randread", "iops"] == 200
    assert damaged[1:8] in after.broken[0].found
    if "2x" in damaged:
        assert values(after)[1, "randread", "cpu"] is None


def test_what_cannot_be_read_of_a_definition_is_told_and_not_taken_from_beside_it() -> None:
    after = text(TEXT.replace("(R) 8192B", "(R) 8l92B").replace("iodepth=4", "iodepth=4x"))
    (one,) = [each for each in after.runs[0].samples if (each.section, each.metric) == (1, "iops")]
    assert (one.block_size, one.iodepth) == (None, None)
    assert "of the definition of 'two' cannot be read: 8l92B-8192B, iodepth=4x" in after.warnings[0]
    short = [
        "p: (g=0): rw=read, bs=(R) 4096B-l096B, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB, ioengine=sync, iodepth=1"
    ]
    assert "bs" not in (read_definition(short, 0, 1) or pytest.fail("none")).options  # nor fio's default
    assert text(f"{short[0]}\n{TEXT.split('fio-3.33')[1].replace('one:', 'p:')}").runs[0].samples[0].block_size is None
    assert "bs" in describe_doubt(short, 0)
    assert describe_doubt(["p: (g=0): rw=read, bs=4K-4K/8K-8K, ioengine=sync, iodepth=1"], 0) == ""


@pytest.mark.parametrize(
    ("sound", "damaged", "metric"),
    [
        (";71;", ";7x1;", "clat_min"),
        ("50.000000%=2", "50.000000%=2x", "clat_p50"),
        (";900;", ";9o0;", "bandwidth_max"),
        ("1.5%", "1.l5%", "cpu"),
    ],
)
def test_a_letter_in_a_terse_figure_leaves_a_reason(sound: str, damaged: str, metric: str) -> None:
    before = values(terse_format.parse(SourceText(TERSE)))
    (run,) = terse_format.parse(SourceText(TERSE.replace(sound, damaged, 1))).runs
    assert before[0, "read", metric] is not None
    assert {one.metric: bool(one.missing_reason) for one in run.samples if one.value is None} == {metric: True}


def test_zeros_beside_a_damaged_zero_stay_not_measured() -> None:
    (run,) = terse_format.parse(SourceText(TERSE.replace(";500;0;0;", ";500;0x;0;", 1))).runs
    assert [(one.metric, one.value) for one in run.samples if "slat" in one.metric] == [("slat_min", None)]


@pytest.mark.parametrize("damaged", ["3x;fio-3.33;", "3;fio-3.33x;", "3;fio-x3.33;"])
def test_a_terse_record_with_a_damaged_beginning_is_told(damaged: str) -> None:
    whole = TERSE.replace("job", "sound") + TERSE.replace("3;fio-3.33;", damaged)
    parsed = terse_format.parse(SourceText(whole))
    assert bool(parsed.broken) == ("33x" not in damaged)  # fio's own builds have letters behind
    assert parsed.runs


def document(**more: object) -> str:
    read = {
        "io_bytes": 4096,
        "bw_bytes": 10,
        "iops": 1.0,
        "runtime": 5,
        "clat_ns": {"min": 1, "max": 2, "mean": 1.5, "stddev": 0.1, "N": 2, **more},
    }
    job = {"jobname": "a", "job options": {"rw": "read", "bs": "4k"}, "read": read}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]}, indent=1)


def test_percentiles_and_bins_under_names_that_are_none_are_told() -> None:
    (warning,) = json_format.parse(document(percentile={"50.0x0000": 20, "99.000000": 30})).warnings
    assert "'50.0x0000'" in warning
    parsed = json_format.parse(document(bins={"6l232": 1, "63744": 1}))
    assert "'6l232'" in parsed.warnings[0]
    assert not parsed.runs[0].histograms


def test_options_that_are_no_sizes_are_told() -> None:
    body = document().replace('"4k"', '"4xk", "direct": "1x", "size": "20%", "iodepth": "$d"')
    parsed = json_format.parse(body)
    assert ["bs" in one or "direct" in one for one in parsed.warnings] == [True, True]
    assert {"block_size", "direct"} & set(parsed.runs[0].workload) == set()


def test_the_sum_of_all_clients_is_read_where_nothing_else_was_kept() -> None:
    body = document().replace('"jobs"', '"client_stats"').replace('"a"', '"All clients"')
    assert values(json_format.parse(body))[0, "read", "iops"] == 1
    alone = "All clients: (groupid=0, jobs=2): err= 0: pid=0: Sat Nov 21 16:35:21 2026\n  read: IOPS=200, BW=1600KiB/s (1638kB/s)(1600KiB/1000msec)\n"
    assert values(text(alone))[0, "read", "iops"] == 200


def test_io_bytes_of_an_unreadable_version_are_in_the_unit_of_its_latencies() -> None:
    old = document().replace("clat_ns", "clat").replace("fio-3.33", "fio-l.1.11").replace('"bw_bytes": 10', '"bw": 10')
    assert values(json_format.parse(old))[0, "read", "io_bytes"] == 4096 * 1024


def test_a_log_has_no_number_with_an_x_in_it() -> None:
    rows = "0, 800, 0, 0, 0x0004\n50x0, 810, 0, 0, 0x0004\n1000, 8x20, 0, 0, 0x0004\n1500, 830, 0, 0, 0x4001\n"
    parsed = logs_format.parse(SourceText(rows.encode(), "a_clat.1.log"))
    assert [one.line for one in parsed.broken] == [2, 3]
    assert [*parsed.runs[0].series[0].values] == [800, 830]
