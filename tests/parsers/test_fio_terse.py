"""fio's terse report: every version's fields, and what is said about lines that are none."""

import time
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.terse import format as terse_format
from tests.pace import within
from tests.sampling import for_each

NOTHING = ["0", "0", "0.000000", "0.000000"]
PERCENTILES = ["1.000000%=8", "50.000000%=11", "90.000000%=12", "99.900000%=20", "99.990000%=33", *["0%=0"] * 15]
TAIL = [*["0.0%"] * 7, *["0.00%"] * 22]
CPU = ["10.000000%", "15.000000%", "7", "0", "9"]


def block(kib: int, bandwidth: int, iops: int, runtime: int, version: str = "3") -> list[str]:
    """One direction as `show_ddir_status_terse` prints it."""
    measured = ["3", "9", "4.500000", "0.250000"] if kib else NOTHING
    head = [str(kib), str(bandwidth), *([] if version in ("1", "2 old") else [str(iops)]), str(runtime)]
    latencies = [*NOTHING, *measured]
    if version == "1":
        return [*head, *latencies, "0", "0", "0.000000%", "0.000000", "0.000000"]
    percentiles = [] if version == "2 old" else PERCENTILES if kib else ["0%=0"] * 20
    spread = ["90", "110", "100.000000%", "100.500000", "2.500000"] if kib else ["0", "0", "0.0%", "0.0", "0.0"]
    more = (["4", "20", "30", "25.500000", "1.500000", "4"] if kib else ["0"] * 6) if version == "5" else []
    return [*head, *latencies, *percentiles, *measured, *spread, *more]


def record(*blocks: list[str], start: str = "3;fio-3.33", name: str = "a job", group: int = 0, rest: str = "") -> str:
    fields = [*([start] if start else []), name, str(group), "0", *chain.from_iterable(blocks), *CPU, *TAIL]
    return ";".join(fields) + rest


READ, IDLE = block(1000, 500, 125, 2000), block(0, 0, 0, 0)


def parse(text: str) -> ParsedFile:
    return terse_format.parse(SourceText(text))


def only(text: str) -> ParsedRun:
    (run,) = parse(text).runs
    return run


def value(run: ParsedRun, operation: str, metric: str, section: int = 0) -> float | None:
    (found,) = [s for s in run.samples if (s.operation, s.metric, s.section) == (operation, metric, section)]
    return found.value


def test_a_version_3_record_gives_bytes_rates_and_latencies_in_base_units() -> None:
    run = only(record(READ, IDLE))
    assert (run.tool_version, run.sections[0].name) == ("3.33", "a job")
    told = {s.metric: s.value for s in run.samples}
    assert {s.operation for s in run.samples} == {"read"}
    assert told == {
        "bandwidth": 500 * 1024, "iops": 125, "io_bytes": 1000 * 1024, "clat_min": 3000, "clat_max": 9000,
        "clat_mean": 4500, "clat_stdev": 250, "clat_p1": 8000, "clat_p50": 11000, "clat_p90": 12000,
        "clat_p99_9": 20000, "clat_p99_99": 33000, "latency_min": 3000, "latency_max": 9000, "latency_mean": 4500,
        "latency_stdev": 250, "bandwidth_min": 90 * 1024, "bandwidth_max": 110 * 1024, "bandwidth_mean": 100.5 * 1024,
        "bandwidth_stdev": 2.5 * 1024, "cpu": 0.25,
    }  # fmt: skip


@pytest.mark.parametrize("version", ["2", "4"])
def test_versions_2_and_4_have_trims_too(version: str) -> None:
    start = "2" if version == "2" else "4;fio-3.33"
    run = only(record(READ, IDLE, block(2000, 800, 200, 2500), start=start))
    assert (value(run, "read", "iops"), value(run, "trim", "iops")) == (125, 200)
    assert run.tool_version == ("" if version == "2" else "3.33")


def test_version_5_has_the_spread_of_iops() -> None:
    run = only(record(*[block(1000, 500, 125, 2000, "5") for _ in range(3)], start="5;fio-3.33"))
    found = [value(run, "write", f"iops_{word}") for word in ("min", "max", "mean", "stdev")]
    assert found == [20, 30, 25.5, 1.5]
    assert value(run, "write", "bandwidth_mean") == 100.5 * 1024


def test_a_single_block_is_the_sum_and_a_fourth_stands_beside_its_parts() -> None:
    assert value(only(record(READ)), "mixed", "iops") == 125
    run = only(record(READ, READ, IDLE, block(2000, 1000, 250, 2000), start="4;fio-3.33"))
    assert [value(run, name, "iops") for name in ("read", "write", "mixed")] == [125, 125, 250]


def test_the_first_terse_reports_have_no_number_in_front_and_no_iops() -> None:
    run = only(record(block(1000, 512, 0, 2000, "1"), block(0, 0, 0, 0, "1"), start=""))
    assert value(run, "read", "bandwidth") == 512_000  # fio 1.20: bytes per ms
    assert "iops" not in {s.metric for s in run.samples}


@pytest.mark.parametrize(("printed", "expected"), [(50000, 51_200_000), (51200, 51_200_000)])
def test_without_a_version_bytes_and_time_tell_what_k_is(printed: int, expected: int) -> None:
    run = only(record(block(100_000, printed, 1, 2000), IDLE, start="2"))
    assert value(run, "read", "bandwidth") == expected


def test_a_bandwidth_that_fits_neither_k_is_left_open_with_a_reason() -> None:
    run = only(record(block(100_000, 70_000, 1, 2000), IDLE, start="2"))
    (found,) = [s for s in run.samples if s.metric == "bandwidth"]
    assert (found.value, found.printed) == (None, "70000 K/s")
    assert "1000 or 1024" in found.missing_reason


@pytest.mark.parametrize(("line", "version", "k"), [("fio 1.59", "1.59", 1000), ("fio-2.17", "2.17", 1024)])
def test_a_version_above_records_of_version_2_is_theirs(line: str, version: str, k: int) -> None:
    run = only(f"{line}\n{record(block(1000, 512, 125, 1953), IDLE, IDLE, start='2')}\n")
    assert (run.tool_version, value(run, "read", "bandwidth")) == (version, 512 * k)
    assert only(f"{line}\n{record(READ, IDLE)}").tool_version == "3.33"


def test_before_2_0_8_k_is_1000() -> None:
    assert value(only(record(READ, IDLE, start="3;2.0.7")), "read", "bandwidth") == 500_000
    assert value(only(record(READ, IDLE, start="3;fio-2.0.8")), "read", "bandwidth") == 512_000


def test_figures_that_look_like_a_beginning_are_none() -> None:
    spread = block(1000, 500, 125, 2000)
    spread[4:8] = ["0", "3", "1.250000", "2.500000"]
    assert value(only(record(spread, IDLE, IDLE, start="2")), "read", "slat_mean") == 1250


def test_zeros_of_a_job_that_has_not_begun_are_no_values() -> None:
    parsed = parse(record(IDLE, IDLE))
    assert parsed.runs[0].samples == ()
    assert "had moved nothing" in parsed.warnings[0]


def test_a_failed_job_says_so() -> None:
    line = record(IDLE, IDLE).replace("a job;0;0;", "a job;0;28;")
    text = "a job: (g=0): rw=write, bs=4K-4K/4K-4K/4K-4K, ioengine=psync, iodepth=1\n" + line
    run = only(text)
    assert run.problem == "fio's a job ended with error 28 (No space left on device)"
    assert [(s.operation, s.value, s.missing_reason) for s in run.samples] == [
        ("write", None, "failed: error 28 (No space left on device)")
    ]


def test_records_of_one_report_are_sections_and_status_reports_are_one_run() -> None:
    first = [record(READ, IDLE, name="a"), record(IDLE, IDLE, name="b", group=1)]
    second = [record(block(3000, 600, 150, 5000), IDLE, name="a"), record(IDLE, READ, name="b", group=1)]
    run = only("\n".join([*first, *second]))
    assert [section.name for section in run.sections] == ["a", "b"]
    assert value(run, "read", "iops") == 150
    series = next(s for s in run.series if s.section == 0)
    assert list(series.times_s) == [2, 5]
    assert series.values[1] == pytest.approx(2000 * 1024 / 3)


def test_copies_of_a_job_stay_apart_also_where_they_end_a_little_later() -> None:
    copies = [record(block(1000 + n, 500, 125, 2000 + n), IDLE) for n in range(3)]
    run = only("\n".join(copies))
    assert [section.number for section in run.sections] == [0, 1, 2]
    later = [record(block(2000 + n, 500, 125, 4000 + n), IDLE) for n in range(3)]
    assert [value(only("\n".join(copies + later)), "read", "io_bytes", n) for n in range(3)] == [
        (2000 + n) * 1024 for n in range(3)
    ]


def test_a_last_report_soon_after_a_status_report_is_the_result() -> None:
    totals = [(500, 1000), (1000, 2000), (1010, 2020)]
    run = only("\n".join(record(block(moved, 500, 125, runtime), IDLE) for moved, runtime in totals))
    assert value(run, "read", "io_bytes") == 1010 * 1024
    assert len(run.sections) == 1


def test_status_reports_whose_times_are_no_milliseconds_are_of_one_run_and_no_series() -> None:
    reports = [block(1000, 1, 0, 911_915), block(2000, 1, 0, 1_935_096), block(2100, 700, 175, 3001)]
    run = only("\n".join(record(one, IDLE, start="3;fio-2.1.10") for one in reports))
    assert len(run.sections) == 1
    assert value(run, "read", "iops") == 175
    assert not run.series


def test_the_jobs_of_several_clients_are_one_run_where_their_sum_says_so() -> None:
    jobs = [record(READ, IDLE, name="one"), record(READ, IDLE, name="two", group=1)]
    before = record(block(500, 250, 62, 2000), IDLE, name="a", group=2)
    total = record(block(4001, 2000, 500, 2000), IDLE, name="All clients", group=1)
    text = "\n".join([before, *jobs, *jobs, total, record(READ, IDLE, name="b", group=2)])
    found = [[one.name for one in run.sections] for run in parse(text).runs]
    assert found == [["a"], ["one", "two", "one", "two"], ["b"]]
    other = text.replace(";4001;", ";4100;")
    assert [len(run.sections) for run in parse(other).runs] == [1, 2, 2, 1]


def test_runs_one_after_another_stay_several() -> None:
    text = "\n".join([record(READ, IDLE, name="b", group=1), record(READ, IDLE, name="a", group=0)])
    assert len(parse(text).runs) == 2
    assert len(parse(record(READ, IDLE) + "\n" + record(READ, IDLE, start="3;fio-3.34")).runs) == 2


def test_different_disks_figures_tell_equal_names_apart() -> None:
    disks = [f";sda;{n};0;0;0;0;0;0;1.00%" for n in (1, 2)]
    assert len(parse("\n".join(record(READ, IDLE, rest=rest) for rest in disks)).runs) == 2


@pytest.mark.parametrize(
    "rest",
    [
        ";sda;1;2;3;4;5;6;7;8.00%;sdb;1;2;3;4;5;6;7;8.00%",
        ";md0;1;2;3;4;5;6;7;8.00%;slaves;1;2;3;4;5;6;7;8.00%",
        ";3;5",
        ";a description; with semicolons",
    ],
)
def test_what_follows_the_shares_does_not_matter(rest: str) -> None:
    assert value(only(record(READ, IDLE, rest=rest)), "read", "iops") == 125


def test_a_record_behind_other_words_of_its_line_is_found() -> None:
    run = only("Jobs: 1 (f=1): [R(1)][eta 1988Jobs:" + record(READ, IDLE))
    assert value(run, "read", "iops") == 125


@pytest.mark.parametrize("told", ["$ fio --name=a --lat_percentiles=1 --minimal", "     lat percentiles (usec):"])
def test_percentiles_are_of_lat_where_the_run_was_asked_for_those(told: str) -> None:
    run = only(f"{told}\n{record(READ, IDLE)}\n")
    assert {s.metric: s.value for s in run.samples if "_p" in s.metric} == {
        "latency_p50": 11_000, "latency_p90": 12_000, "latency_p99_9": 20_000, "latency_p99_99": 33_000,
    }  # fmt: skip
    assert value(only(f"{told}\n{record(READ, IDLE, start='3;fio-2.9')}"), "read", "clat_p50") == 11_000


def test_of_several_runs_nobody_knows_whose_percentiles_are_of_lat() -> None:
    text = f"$ fio --name=a --lat_percentiles=1\n{record(READ, IDLE, name='a')}\n{record(READ, IDLE)}\n"
    runs = parse(f"{text}{record(READ, IDLE, start='4;fio-3.9', name='b')}\n").runs
    assert len(runs) == 2
    assert {s.value for run in runs for s in run.samples if "_p" in s.metric} == {None}


@pytest.mark.parametrize(
    "told",
    ["$ fio --name=a --rw=randrw --unified_rw_reporting=1 --minimal", "  mixed: IOPS=1, BW=1MiB/s (1MB/s)(1MiB/1msec)"],
)
def test_reads_beside_no_writes_are_the_sum_where_the_run_was_asked_for_that(told: str) -> None:
    text = f"{told}\n{record(READ, IDLE)}\n"
    assert {(s.operation, s.value) for s in only(text).samples if s.metric == "iops"} == {("mixed", 125)}
    both = f"{told}\n{record(READ, block(500, 250, 62, 2000))}\n"
    assert {s.operation for s in only(both).samples} == {"read", "write"}
    (warning,) = parse(text + record(READ, IDLE, start="4;fio-3.9", name="b")).warnings
    assert "stands as reads" in warning


@pytest.mark.parametrize(("counts", "cpu", "threads"), [([3], 0.75, 3), ([3, 3], 0.75, 3), ([3, 4], 0.25, None)])
def test_the_normal_report_says_of_how_many_processes_the_cpu_is(
    counts: list[int], cpu: float, threads: int | None
) -> None:
    headers = "".join(
        f"a job: (groupid=0, jobs={count}): err= 0: pid=9: Sat Jun 25 02:08:42 2022\n" for count in counts
    )
    run = only(f"{record(READ, IDLE)}\n{headers}")
    (sample,) = [s for s in run.samples if s.metric == "cpu"]
    assert (sample.value, sample.threads, sample.note == "") == (cpu, threads, bool(threads))


@pytest.mark.parametrize("start", ["3;fio-3.42", "2"])
def test_a_job_without_a_name_is_found(start: str) -> None:
    text = SourceText(record(READ, IDLE, *([IDLE] if start == "2" else []), start=start, name=""))
    assert terse_format.looks_like(text) == 1.0
    assert value(terse_format.parse(text).runs[0], "read", "iops") == 125


def test_the_line_of_the_job_tells_random_and_depth() -> None:
    line = "a job: (g=0): rw=randread, bs=(R) 8192B-8192B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4"
    sample = only(f"{line}\n{record(READ, IDLE)}").samples[0]
    assert (sample.operation, sample.block_size, sample.iodepth) == ("randread", 8192, 4)


@pytest.mark.parametrize("fields", [10, 60, 100])
def test_a_record_that_is_cut_is_told_and_the_others_are_read(fields: int) -> None:
    whole = record(READ, IDLE)
    parsed = parse(whole + "\n" + ";".join(whole.split(";")[:fields]))
    assert len(parsed.runs) == 1
    (broken,) = parsed.broken
    assert (broken.line, broken.found) == (2, f"{fields} fields")


def test_a_text_without_a_record_is_refused() -> None:
    with pytest.raises(ParseError):
        parse("nothing; here; to; see\n")
    assert terse_format.looks_like(SourceText("a;b;c\n" * 100)) == 0


HOSTILE = {
    "separators": ";" * 1_000_000,
    "starts": "3;fio-3;" * 130_000,
    "short lines": ";;;;;\n" * 170_000,
    "shares": "3;fio-3.33;a;0;0" + ";0%" * 300_000,
    "huge numbers": record([field.replace("0", "9" * 5000) for field in block(0, 0, 0, 0)], IDLE),
    "endless": record(block(10**18, 10**18, 10**18, 1), IDLE).replace("4.500000", "inf"),
    "digits": "1" * 1_000_000 + ";0;0;1;1;1;",
    "names": ("x" * 250 + ";") * 4000,
}


@pytest.mark.parametrize(
    "text", ["3;" * 500, "1;2;" * 300, "2;" * 500 + "\n", ";".join(["3"] * 130) + "\n", "a;1;2" * 40]
)
def test_numbers_between_semicolons_without_a_percentage_are_another_tools(text: str) -> None:
    assert terse_format.looks_like(SourceText(text)) == 0
    with pytest.raises(ParseError) as refused:
        terse_format.parse(SourceText(text))
    assert "no terse record" in refused.value.message


@for_each("name", HOSTILE, number=4)
def test_a_hostile_mebibyte_is_read_or_refused_within_two_seconds(name: str) -> None:
    before = time.process_time()
    text = SourceText(HOSTILE[name])
    terse_format.looks_like(text)
    try:
        parsed = terse_format.parse(text)
        assert all(s.value is None or abs(s.value) < 1e300 for run in parsed.runs for s in run.samples)
    except ParseError:
        pass
    assert within(time.process_time() - before, 2)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*READ, "", "x", "nan", "-1", "9" * 25]), min_size=1, max_size=90), st.booleans())
def test_any_fields_are_read_or_refused(fields: list[str], has_version: bool) -> None:
    text = record(fields, start="3;fio-3.33" if has_version else "2")
    try:
        found: list[ParsedSample] = [s for run in parse(text).runs for s in run.samples]
    except ParseError:
        return
    assert all(s.value is None or 0 <= s.value < 1e300 for s in found)
