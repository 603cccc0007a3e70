"""fio's normal report among what others put around it: several clients, lines that were cut out, marks and shells."""

import pytest

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.text import format as text_format

SIZES = "bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio"
SUMS = "   READ: bw={0}MiB/s (9MB/s), {0}MiB/s-{0}MiB/s (9MB/s-9MB/s), io=100MiB (105MB), run=1000-1000msec\n"
GROUP = "Run status group 0 (all jobs):\n"
REPORT = "{0}: (groupid=0, jobs=1): err= 0: pid={1}: Sat Jun 25 02:08:42 2022\n   read: IOPS={2}, BW={3}MiB/s (9MB/s)(100MiB/1000msec)\n"


def parse(text: str) -> ParsedFile:
    return text_format.parse(SourceText(text))


def test_clients_whose_host_stands_above_their_report_are_one_run_with_their_names() -> None:
    text = (
        f"<db1> j: (g=0): rw=randread, {SIZES}, iodepth=4\n<db2> j: (g=0): rw=randread, {SIZES}, iodepth=8\n"
        f"<db1>\n{REPORT.format('j', 7, 100, 10)}\n{GROUP}{SUMS.format(10)}\nDisk stats (read/write):\n  sda: ios=1/0, util=1.00%\n"
        f"<db2> \n{REPORT.format('j', 8, 200, 20)}\n{GROUP}{SUMS.format(20)}\n"
        f"{REPORT.format('All clients', 0, 300, 30)}"
    )
    (run,) = parse(text).runs
    assert [one.name for one in run.sections] == ["db1: j", "db2: j"]
    told = {(s.section, s.operation, s.iodepth, s.value) for s in run.samples if s.metric == "iops"}
    assert told == {(0, "randread", 4, 100.0), (1, "randread", 8, 200.0)}


@pytest.mark.parametrize(("jobs", "operation", "size"), [(3, "write", None), (1, "randwrite", 4096)])
def test_what_other_jobs_of_a_group_moved_has_no_sizes_of_the_first(
    jobs: int, operation: str, size: int | None
) -> None:
    report = REPORT.format("a", 7, 100, 10).replace("jobs=1", f"jobs={jobs}")
    text = f"a: (g=0): rw=randread, {SIZES}, iodepth=4\n{report}  write: IOPS=50, BW=5MiB/s (5MB/s)(50MiB/1000msec)\n"
    (run,) = parse(text).runs
    assert {(s.operation, s.block_size) for s in run.samples if s.metric == "iops"} == {
        ("randread", 4096),
        (operation, size),
    }


@pytest.mark.parametrize("calls", [("", "<db1> \n"), ("<db1> \n", "")])
def test_several_clients_of_one_host_are_one_run_and_their_sum_may_come_twice(calls: tuple[str, str]) -> None:
    sums = REPORT.format("All clients", 0, 300, 30)
    first, second = calls
    text = (
        f"<db1> j: (g=0): rw=randread, {SIZES}, iodepth=4\n<db1> j: (g=0): rw=randread, {SIZES}, iodepth=4\n"
        f"<db1>\n{first}{REPORT.format('j', 7, 100, 10)}\n{GROUP}{SUMS.format(10)}\n"
        f"{second}{REPORT.format('j', 8, 200, 20)}\n{GROUP}{SUMS.format(20)}\n{sums}\n{sums}"
    )
    (run,) = parse(text).runs
    told = {(s.section, s.operation, s.iodepth, s.value) for s in run.samples if s.metric == "iops"}
    assert told == {(0, "randread", 4, 100.0), (1, "randread", 4, 200.0)}


def test_sums_of_all_clients_that_somebody_cut_out_are_runs_of_their_own() -> None:
    sums = "All clients: (groupid=0, jobs={0}): err= 0: pid=0: Tue Aug 18 06:53:30 2020\n  read: IOPS={0}k, BW={0}Mi (9M)(1GiB/1000msec)\n"
    runs = parse(
        f"$ grep -A 1 All a.txt\n{sums.format(12)}$ grep -A 1 All b.txt\n{sums.format(24)}\n{sums.format(36)}"
    ).runs
    told = [(s.value, s.threads) for run in runs for s in run.samples if s.metric == "iops"]
    assert told == [(12_000, 12), (24_000, 24), (36_000, 36)]


def test_a_word_in_brackets_that_is_no_host_names_none() -> None:
    (run,) = parse(f"<pre>\n{REPORT.format('j', 7, 100, 10)}").runs
    assert (run.host, run.sections[0].name) == ("", "j")


def test_sums_cut_out_of_other_reports_below_a_whole_one_are_results() -> None:
    whole = f"{REPORT.format('j', 7, 100, 10)}\n{GROUP}{SUMS.format(10)}"
    runs = parse(f"{whole}\nAnd then:\n\n{GROUP}{SUMS.format(11)}{GROUP}{SUMS.format(12)}").runs
    rates = [next(s.value for s in run.samples if s.metric == "bandwidth") for run in runs]
    assert rates == [10 * 2**20, 11 * 2**20, 12 * 2**20]
    assert [run.line for run in runs] == [1, 9, 11]


def test_sums_that_are_only_said_again_are_no_other_result() -> None:
    whole = f"{REPORT.format('j', 7, 100, 10)}\n{GROUP}{SUMS.format(10)}"
    assert len(parse(f"{whole}\nLook at this:\n\n{GROUP}{SUMS.format(10)}").runs) == 1


@pytest.mark.parametrize(("word", "printed"), [("max", "12,345"), ("avg", "1,078.12")])
def test_a_comma_inside_a_number_is_told_and_gives_no_value(word: str, printed: str) -> None:
    parts = {"min": " 3", "max": "99", "avg": "7.5"} | {word: printed}
    spread = ", ".join(f"{name}={value}" for name, value in parts.items())
    found = parse(f"{REPORT.format('j', 7, 100, 10)}    clat (usec): {spread}, stdev=1.2\n")
    metric = {"max": "clat_max", "avg": "clat_mean"}[word]
    values = {s.metric: s.value for s in found.runs[0].samples}
    assert values[metric] is None
    assert values["clat_min"] == 3000
    assert [(one.line, one.found) for one in found.broken] == [(3, f"{word}={printed}")]


def test_lines_between_asterisks_are_read() -> None:
    line = "write: io=1000KB, bw={0}.0KB/s, iops={0}, runt= 1000msec"
    runs = parse(f"{line.format(10)}/*\n\n/*{line.format(20)}*/\n*{line.format(30)}*\n**{line.format(40)}**\n").runs
    assert [s.value for run in runs for s in run.samples if s.metric == "iops"] == [10, 20, 30, 40]


def test_a_table_in_fios_words_is_told_where_it_is_not_read() -> None:
    found = parse(
        "  overwrite     IOPS=88.2k, BW=344MiB/s\n  read:         IOPS=112k, BW=436MiB/s\n  randread:   IOPS=5, BW=1MiB/s\n"
    )
    assert [run.line for run in found.runs] == [2]
    assert [one.line for one in found.broken] == [1, 3]


def test_a_shells_variables_are_no_workload() -> None:
    (run,) = parse(f"fio -filename=$dev -rw=$rw -ioengine=$e -bs=4k -name=t\n{REPORT.format('t', 7, 100, 10)}").runs
    assert not {"rw", "ioengine"} & set(run.workload)
    assert (run.workload["block_size"], run.target) == (4096, "")


def test_a_command_that_a_mail_wrapped_behind_its_dashes_is_whole() -> None:
    text = f"# fio --name=t --rw=read --bs=8k --\nexitall --runtime=30\n{REPORT.format('t', 7, 100, 10)}"
    (run,) = parse(text).runs
    assert run.workload["runtime"] == 30
    assert "" not in run.sections[0].options
    assert "--exitall --runtime=30" in str(run.workload["command"])
