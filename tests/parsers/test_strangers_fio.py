"""fio's normal report as people pass it on: grepped, put side by side, wrapped, cut and spoken about."""

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.text import format as text_format

HEADER = "job: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022\n"
RATES = "  write: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)\n"
SPREADS = """    slat (usec): min=8, max=778, avg=13.29, stdev= 5.70
    clat (usec): min=44, max=790, avg=246.21, stdev=167.10
  cpu          : usr=10.00%, sys=30.00%, ctx=5, majf=0, minf=1
"""
DEPTHS = """  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=99.9%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.1%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=0,5,0,0 short=0,0,0,0 dropped=0,0,0,0
"""
SUMS = "\nRun status group 0 (all jobs):\n  WRITE: bw=478MiB/s (501MB/s), 478MiB/s-478MiB/s, io=14.0GiB (15.0GB), run=30001-30001msec\n"


def parse(text: str) -> ParsedFile:
    return text_format.parse(SourceText(text))


def values(run: ParsedRun) -> dict[str, float | None]:
    return {one.metric: one.value for one in run.samples}


def lines_told(found: ParsedFile) -> list[int | None]:
    return [one.line for one in found.broken]


@pytest.mark.parametrize("place", [0, 1], ids=["above the rates", "below them"])
def test_spreads_behind_a_name_belong_to_the_rates_of_that_name(place: int) -> None:
    names = ("off.1.log", "on.1.log")
    spreads = "".join(
        f"{name}:    clat (usec): min=1, max=9, avg={place + 3}.25, stdev=1.00\n" for place, name in enumerate(names)
    )
    spreads += "".join(f"{name}: cpu : usr=1.00%, sys={place}.00%, ctx=1\n" for place, name in enumerate(names))
    rates = "".join(f"{name}: {RATES}" for name in names)
    found = parse(spreads + "\n" + rates if place == 0 else rates + "\n" + spreads)
    assert [run.sections[0].name for run in found.runs] == list(names)
    assert [(values(run)["clat_mean"], values(run)["cpu"]) for run in found.runs] == [(3250.0, 0.01), (4250.0, 0.02)]
    assert (found.warnings, found.broken) == ((), ())


def test_spreads_behind_a_name_without_rates_are_told() -> None:
    found = parse(f"one: {RATES}two: clat (usec): min=1, max=9, avg=3.25, stdev=1.00\n")
    assert "clat_mean" not in values(found.runs[0])
    assert lines_told(found) == [2]


def test_a_second_test_under_the_same_name_keeps_its_own_spread() -> None:
    lat = "a:  lat (nsec): min=547, max=29, avg={}.00, stdev=6.00\n"
    again = RATES.replace("122k", "99k")
    found = parse(f"a:{RATES}{lat.format(700)}\n{lat.format(900)}a:{again}")
    assert [values(run)["latency_mean"] for run in found.runs] == [700, 900]


def test_rates_without_a_direction_are_told_whatever_words_stand_before_them() -> None:
    others = ["before : IOPS=37.9k, BW=148MiB/s (155MB/s)(11.6GiB/80333msec)", "8-dev/64-proc: IOPS=829k, BW=3239MiB/s",
              "written file + commit:   IOPS=98.8k, BW=386MiB/s", "READ:  IOPS=2033k BW=8329MB/s",
              "bs=4k       IOPS=11.1k, BW=43.2MiB/s", "with it，IOPS=218k, BW=852MiB/s (894MB/s)(99.9GiB/120002msec)"]  # fmt: skip
    found = parse(HEADER + RATES + SPREADS + DEPTHS + SUMS + "\n".join(others) + "\n")
    assert lines_told(found) == [13, 14, 15, 16, 17, 18]
    assert len(found.runs) == 1


def test_rates_without_a_direction_alone_are_told_too() -> None:
    text = SourceText("   overwrite   IOPS=88.2k, BW=344MiB/s\n   sync write  IOPS=9.2k, BW=34MiB/s\n")
    assert 0 < text_format.looks_like(text) < 0.5
    found = text_format.parse(text)
    assert (found.runs, lines_told(found)) == ((), [1, 2])
    assert text_format.looks_like(SourceText("IOPS=2.62M, BW=1281MiB/s, IOS/call=32/31\n")) == 0  # another program's


def test_both_directions_on_a_line_are_read() -> None:
    (run,) = parse("Random R/W: read: IOPS=282, BW=1129KiB/s (1156kB/s)  write: IOPS=284, BW=1136KiB/s\n").runs
    assert [(one.operation, one.value) for one in run.samples if one.metric == "iops"] == [
        ("read", 282),
        ("write", 284),
    ]
    assert [one.value for one in run.samples if one.metric == "bandwidth"] == [1129 * 1024, 1136 * 1024]


def test_a_spread_below_rates_that_are_none_is_not_given_to_others_of_the_name() -> None:
    text = f"before: {RATES}before : IOPS=37.9k, BW=148MiB/s\nbefore : clat (usec): min=4, max=1056, avg=197.23, stdev=10.69\n"
    found = parse(text)
    assert "clat_mean" not in values(found.runs[0])
    assert lines_told(found) == [2, 3]


def test_latencies_below_no_direction_are_told() -> None:
    spread = "    clat (msec): min=2, max=15, avg=63.10, stdev=24.20\n"
    for text in (
        f"new:\n{spread}\n{HEADER}{RATES}",
        HEADER + RATES + DEPTHS + SUMS + "new:\n" + spread,
        HEADER + spread,
    ):
        found = parse(text)
        assert len(lines_told(found)) == 1, text
        assert "clat_mean" not in values(found.runs[0])


def test_lines_of_two_reports_side_by_side_are_nobodys() -> None:
    both = SPREADS.splitlines(keepends=True)
    text = RATES + RATES.replace("122k", "123k") + "".join(line + line.replace("5.70", "3.38") for line in both)
    found = parse(text)
    assert [values(run)["iops"] for run in found.runs] == [122_000, 123_000]
    assert [values(found.runs[1])[metric] for metric in ("slat_mean", "clat_max", "cpu")] == [None, None, None]
    assert [warning.split(":")[0] for warning in found.warnings] == ["line 4", "line 6", "line 8"]


def test_a_name_that_begins_with_fio_is_no_command_above_a_rule() -> None:
    text = "".join(f"fio loop {count}: {RATES}---\n" for count in range(3))
    found = parse(text)
    assert [(run.line, "command" in run.workload) for run in found.runs] == [(1, False), (3, False), (5, False)]


def test_an_error_with_a_sign_is_the_jobs_problem_also_in_a_wrapped_header() -> None:
    text = "fio: pid=9, err=-17024/file:io_u.c:1889, func=io_u error, error=Unknown error -17024\n\n"
    text += "job: (groupid=0, jobs=4): err=-17024 (file:io_u.c:1889, func=io_u\nerror, error=Unknown error -17024): pid=9: Fri\n"
    found = parse(text + RATES + DEPTHS + SUMS)
    (run,) = found.runs
    assert (run.sections[0].name, run.sections[0].error) == ("job", -17024)
    assert (run.problem, {one.threads for one in run.samples}) == ("fio's job ended with error -17024", {4})
    assert found.broken == ()


@pytest.mark.parametrize("wrapped", ["(W) 32\n.0KiB-32.0KiB,", "(W) 32.0KiB-\n32.0KiB,", "(W)\n32.0KiB-32.0KiB,"])
def test_a_size_that_is_wrapped_inside_is_whole(wrapped: str) -> None:
    text = f"job: (g=0): rw=randwrite, bs=(R) 32.0KiB-32.0KiB, {wrapped} (T) 32.0KiB-32.0KiB, ioengine=libaio, iodepth=64\n"
    found = parse(text + HEADER + RATES + DEPTHS + SUMS)
    assert (found.runs[0].workload["block_size"], found.warnings) == (32768, ())


def test_dots_below_a_definition_are_no_part_of_its_depth() -> None:
    text = (
        "job: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=2\n...\n"
    )
    found = parse(text + HEADER + RATES + DEPTHS + SUMS)
    assert (found.runs[0].workload["iodepth"], found.warnings) == (2, ())


def test_a_line_that_a_mail_put_behind_another_is_read() -> None:
    text = "   bw (  KiB/s): min=  159, max=44472, per=100.00%, avg=4657.40,\nstdev=4975.82, samples=450 iops        : min=   39, max=11118,\n"
    text += "avg=1164.35, stdev=1243.96, samples=450 lat (usec)   : 100=0.07%,\n250=99.93%\n"
    found = parse(HEADER + RATES + text + DEPTHS + SUMS)
    run = values(found.runs[0])
    assert (run["bandwidth_stdev"], run["bandwidth_max"]) == (pytest.approx(4975.82 * 1024), 44472 * 1024)
    assert (run["iops_min"], run["iops_mean"], run["iops_stdev"]) == (39, 1164.35, 1243.96)
    assert found.warnings == ()


def test_a_mean_with_both_of_its_decimals_is_whole_where_the_line_is_not() -> None:
    for mean, value in (("13.29", 13_290), ("13.2", None)):
        found = parse(f"{HEADER}{RATES}    slat (usec): min=8, max=778, avg={mean}\n")
        assert values(found.runs[0]).get("slat_mean") == value
        assert "breaks off" in found.warnings[0]


def test_the_report_of_fios_howto_has_its_name_and_is_whole() -> None:
    depths = DEPTHS.replace(">=64=0.0%", ">32=0.0%", 1)
    found = parse(
        f"Client7 (g=0): err= 0:\n  write: io=    32MB, bw=   666KB/s, iops=89 , runt= 50320msec\n{depths}{SUMS}"
    )
    assert [run.sections[0].name for run in found.runs] == ["Client7"]
    assert (found.warnings, found.broken) == ((), ())


def test_a_text_that_ends_between_the_lines_of_a_job_is_told() -> None:
    whole = HEADER + RATES + SPREADS + DEPTHS
    for count in range(1, 5):
        cut = "".join(whole.splitlines(keepends=True)[: 1 + count])
        assert any("breaks off" in warning for warning in parse(cut).warnings), cut
    assert parse(whole).warnings == ()
    assert parse(HEADER + RATES + "and so on, as before\n").warnings == ()


def test_a_text_that_ends_between_two_jobs_is_told() -> None:
    define = "{}: (g={}): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=2\n"
    both = define.format("job", 0) + define.format("other", 0)
    report = HEADER + RATES + DEPTHS
    assert parse(both + report).warnings == (
        "line 2: fio's report breaks off before that of 'other', which is defined here",
    )
    assert parse(both + report + SUMS).warnings == ()
    assert parse(both + report.replace("jobs=1", "jobs=2")).warnings == ()  # reported as a group


@pytest.mark.parametrize("prompt", ["❯ ", "➜  ~ ", "➜  bench "])
def test_a_command_behind_the_prompt_of_a_theme_is_read(prompt: str) -> None:
    (run,) = parse(f"{prompt}fio --name=job --rw=write --bs=8k --size=1g\n" + HEADER + RATES + DEPTHS + SUMS).runs
    assert (run.workload["block_size"], run.workload["file_size"]) == (8192, 1 << 30)


def test_the_sums_of_a_group_are_of_what_its_jobs_were_asked_to_do_where_that_is_one_thing() -> None:
    define = "{}: (g={}): rw={}, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=psync, iodepth=1\n"
    sums = "Run status group {}" + SUMS.partition("group 0")[2]
    text = (
        define.format("one", 0, "randwrite") + define.format("two", 1, "write") + define.format("three", 1, "randwrite")
    )
    (run,) = parse(text + "...\n" + sums.format(0) + sums.format(1)).runs
    rates = [one for one in run.samples if one.metric == "bandwidth"]
    assert [(one.section, one.operation, one.block_size) for one in rates] == [
        (0, "randwrite", 8192),
        (1, "write", None),
    ]


@pytest.mark.parametrize("indent", ["", "    ", "\t"])
@pytest.mark.parametrize(
    ("printed", "version"), [("fio-3.37-12-g3f2a", "3.37-12-g3f2a"), ("1.57", "1.57"), ("fio 2.1.10", "2.1.10")]
)
def test_a_report_in_an_indented_block_has_its_version_and_its_errors(indent: str, printed: str, version: str) -> None:
    text = "job: (g=0): rw=write, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\nlost: (g=1): rw=read, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\n"
    text += f"{printed}\nStarting 2 processes\nfio: pid=0, err=2/file:filesetup.c:174, func=open, error=No such file or directory\n"
    text = "Some words.\n\n" + "".join(
        f"{indent}{line}" for line in (text + HEADER + RATES + DEPTHS + SUMS).splitlines(keepends=True)
    )
    (run,) = parse(text).runs
    # the error is that of the job without a report
    assert (run.problem, run.line) == ("fio's lost ended with error 2 (No such file or directory)", 3)
    assert run.tool_version == version


WHOLE = "job: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8\nfio-3.33\n"
WHOLE += HEADER + RATES + SPREADS + DEPTHS + SUMS


def behind(words: str, text: str) -> str:
    return "".join(f"{words}{line}" for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(("first", "second"), [("old.txt:", "new.txt:"), ("- ", "+ "), ("[1] ", "[2] ")])
def test_whole_reports_behind_the_same_words_on_every_line_are_those_reports(first: str, second: str) -> None:
    plain = parse(WHOLE).runs[0]
    found = parse(behind(first, WHOLE) + behind(second, WHOLE) + WHOLE)
    assert [values(run) for run in found.runs] == [values(plain)] * 3
    assert [(run.tool_version, run.line) for run in found.runs] == [("3.33", 1), ("3.33", 15), ("3.33", 29)]
    assert [run.caption for run in found.runs] == [first.strip(" :+-"), second.strip(" :+-"), ""]
    assert {one.operation for run in found.runs for one in run.samples} == {"randwrite"}
    assert (found.warnings, found.broken) == ((), ())


def test_jobs_without_definitions_behind_other_words_are_other_runs() -> None:
    job = HEADER + RATES + SPREADS + DEPTHS
    found = parse(
        behind("a.txt:", job) + "--\n" + behind("a.txt:", job.replace("pid=9", "pid=10")) + behind("b.txt:", job)
    )
    assert [(run.caption, len(run.sections)) for run in found.runs] == [("a.txt", 2), ("b.txt", 1)]


@pytest.mark.parametrize("between", [" ", ":", ": ", " : ", "\t", "   "])
def test_a_name_ends_before_blanks_or_a_colon(between: str) -> None:
    found = parse(f"old one{between}{RATES.lstrip()}")
    assert [run.sections[0].name for run in found.runs] == ["old one"]
