"""IOzone's outputs: real ones beside their expected halves, and what a damaged one reads as."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone import format as iozone_format
from apps.parsers.iozone.columns import FIRST, NEW, NEW_SHORT, OLD, ColumnGroup, find_readings
from tests.pace import within
from tests.parsers import fixture_pairs
from tests.sampling import for_each

KIB = 1024
ABOVE = " " * 62 + "random    random     bkwd    record    stride"
HEADER = (
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read"
    "   fwrite frewrite    fread  freread"
)
BANNER = "\tIozone: Performance Test of File I/O\n\tCommand line used: iozone -a\n\tOutput is in kBytes/sec\n"
TABLE = f"{BANNER}{ABOVE}\n{HEADER}\n"
ALL = "%16d%8d%9d%9d%9d%9d%9d%9d%9d %9d %9d%9d%9d%9d%9d"


def parse(text: str) -> ParsedFile:
    return iozone_format.parse(SourceText(text))


def figures(parsed: ParsedFile) -> dict[str, float | None]:
    return {one.operation: one.value and one.value / KIB for run in parsed.runs for one in run.samples}


def test_report_repeats_the_table_of_its_run_and_adds_nothing() -> None:
    (run,) = iozone_format.parse(fixture_pairs.source("iozone", "some_tests_and_report")).runs
    points = [(one.operation, one.file_size, one.block_size) for one in run.samples]
    assert len(points) == len(set(points)) == 11 * 5


def printed(layout: tuple[ColumnGroup, ...], row: list[tuple[int, ...] | None]) -> str:
    """A row as IOzone's printf writes it; None is a test that does not run."""
    text = ""
    for test, values in zip(layout, row, strict=False):
        if values is None:
            text += " " * test.blanks
            continue
        for (lead, width), value in zip(test.figures, values, strict=True):
            text += " " * lead + str(value).rjust(width - lead)
    return text


VALUES = st.one_of(st.integers(1, 99_999_999), st.integers(10**7, 10**10))


@st.composite
def rows(draw: st.DrawFn) -> tuple[tuple[ColumnGroup, ...], list[tuple[int, ...] | None]]:
    layout = draw(st.sampled_from([NEW, NEW_SHORT, OLD, FIRST]))
    tests = draw(st.integers(1, len(layout)))
    return layout, [
        draw(st.none() | st.tuples(*[VALUES] * len(test.figures))) if index else draw(st.tuples(VALUES, VALUES))
        for index, test in enumerate(layout[:tests])
    ]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(rows())
def test_row_is_cut_as_it_was_printed_or_not_at_all(
    case: tuple[tuple[ColumnGroup, ...], list[tuple[int, ...] | None]],
) -> None:
    layout, row = case
    text = printed(layout, row)
    numbers = [sum(len(test.figures) for test in layout[:index]) for index in range(len(layout))]
    truth = {numbers[at] + part: value for at, values in enumerate(row) if values for part, value in enumerate(values)}
    found = [{one.column: int(text[one.start : one.end]) for one in reading} for reading in find_readings(text, layout)]
    assert truth in found or len(found) == 2


def test_figures_that_fill_their_columns_are_told_apart() -> None:
    row = ALL % (64, 4, 123456789, 234567891, *range(100, 107), 5, 6, 7, 8)
    assert len(row.split()) == 13
    found = figures(parse(f"{TABLE}{row}\n"))
    assert (found["write"], found["rewrite"], found["read"], found["freread"]) == (123456789, 234567891, 100, 8)


def test_figures_that_can_be_cut_in_two_ways_are_refused_and_the_other_rows_kept() -> None:
    bad = ALL % (64, 4, 1, 2, 1234567891, 1234567891, 123456789, *range(100, 107), 5)
    good = ALL % (64, 8, *range(1, 14))
    parsed = parse(f"{TABLE}{bad}\n{good}\n")
    assert len(parsed.runs[0].samples) == 13
    assert [(one.line, one.message) for one in parsed.broken] == [
        (6, "figures that run together, and can be cut in more than one way")
    ]


def test_row_with_fewer_figures_in_a_repacked_table_is_refused() -> None:
    packed = " ".join(HEADER.split())
    parsed = parse(f"{BANNER}{packed}\n64 4 1 2 3 4 5 6\n64 8 1 2 3 4 5 6 7 8 9 10 11 12 13\n")
    assert len(parsed.runs[0].samples) == 13
    assert len(parsed.broken) == 1


def test_header_that_was_cut_down_is_read_by_the_words_above_it() -> None:
    above = "                          random    bkwd"
    head = "       kB  reclen    write  read    read"
    parsed = parse(f"{BANNER}{above}\n{head}\n       64       4      10    11      12\n")
    assert figures(parsed) == {"write": 10, "randread": 11, "backward_read": 12}


def test_table_that_a_mail_wrapped_is_put_together() -> None:
    head = HEADER.split()
    row = (ALL % (64, 4, *range(1001, 1014))).split()
    lines = [" ".join(head[:9]), " ".join(head[9:]), "  ".join(row[:9]), "  ".join(row[9:])]
    parsed = parse(BANNER + "\n".join(lines) + "\n")
    assert parsed.broken == ()
    assert figures(parsed)["freread"] == 1013
    assert len(parsed.runs[0].samples) == 13


def test_last_row_that_is_cut_inside_a_figure_is_broken_not_shortened() -> None:
    rows = "\n".join(ALL % (64, record, *[9876543] * 13) for record in (4, 8))
    parsed = parse((TABLE + rows)[:-20])
    assert len(parsed.runs[0].samples) == 13
    assert [one.line for one in parsed.broken] == [7]


def test_row_that_is_cut_between_figures_keeps_what_is_there() -> None:
    row = (ALL % (64, 4, *[9876543] * 13))[: 16 + 8 + 9 * 4]
    assert figures(parse(f"{TABLE}{row}\n")) == dict.fromkeys(("write", "rewrite", "read", "reread"), 9876543)


def test_damaged_line_among_the_rows_is_named_and_the_rows_behind_it_are_read() -> None:
    lines = [ALL % (64, 4, *range(1, 14)), "fsync: Input/output error 7", ALL % (64, 8, *range(1, 14))]
    parsed = parse(TABLE + "\n".join(lines) + "\n")
    assert len(parsed.runs[0].samples) == 26
    assert [one.line for one in parsed.broken] == [7]


def test_same_sizes_again_are_another_run() -> None:
    lines = [ALL % (64, record, *range(1, 14)) for record in (4, 8, 4, 8)]
    assert [len(run.samples) for run in parse(TABLE + "\n".join(lines) + "\n").runs] == [26, 26]


def test_zero_is_no_measurement() -> None:
    row = ALL % (64, 4, 1, 0, *range(3, 14))
    (zero,) = [one for one in parse(f"{TABLE}{row}\n").runs[0].samples if one.operation == "rewrite"]
    assert zero.value is None
    assert zero.missing_reason.startswith("printed as 0")


def test_zero_microseconds_is_less_than_one() -> None:
    row = ALL % (64, 4, 1, 0, *range(3, 14))
    text = TABLE.replace("Output is in kBytes/sec", "Microseconds/op Mode. Output is in microseconds per operation.")
    (zero,) = [one for one in parse(f"{text}{row}\n").runs[0].samples if one.operation == "rewrite"]
    assert (zero.metric, zero.value, zero.low, zero.high) == ("latency_mean", None, 0.0, 1000.0)


def test_unit_comes_from_the_command_line_where_the_banner_is_cut() -> None:
    row = ALL % (64, 4, *range(1, 14))
    parsed = parse(f"$ iozone -a -O -f /mnt/x\n{ABOVE}\n{HEADER}\n{row}\n")
    assert {one.metric for one in parsed.runs[0].samples} == {"iops"}
    assert parsed.runs[0].target == "/mnt/x"
    assert parsed.warnings == ()


def test_report_of_another_run_is_not_taken_for_a_repetition() -> None:
    row = ALL % (64, 4, *range(1, 14))
    parsed = parse(f'{TABLE}{row}\n\n"Writer report"\n        "4"\n"64"   777 \n')
    assert [len(run.samples) for run in parsed.runs] == [13, 1]


def test_throughput_report_of_unnamed_process_counts_is_refused() -> None:
    text = (
        '"Throughput report Y-axis is type of test X-axis is number of processes"\n"Record size = 4 kBytes "\n'
        '"Output is in kBytes/sec"\n\n"  Initial write "  10.00   20.00 \n'
    )
    parsed = parse(text)
    assert parsed.runs == ()
    assert "several numbers of processes" in parsed.broken[0].message


def test_figure_that_is_no_number_is_missing() -> None:
    text = "\tChildren see throughput for  1 readers \t\t=       -nan kB/sec\n\tMin xfer \t\t\t\t\t=     inf kB\n"
    assert [one.value for one in parse(text).runs[0].samples] == [None, None]


def test_test_that_is_unknown_is_named() -> None:
    parsed = parse("\tChildren see throughput for 4 frobnicators \t=  1.00 kB/sec\n")
    assert parsed.runs == ()
    assert parsed.broken[0].found == "frobnicators"


@pytest.mark.parametrize("text", ["", HEADER, "Iozone: Performance Test of File I/O\n", "12 34 56\n"])
def test_text_without_figures_is_an_error(text: str) -> None:
    with pytest.raises(ParseError, match="no figures of IOzone"):
        parse(text)


HOSTILE = {
    "digits": TABLE + "9" * 2**20,
    "row of nines": TABLE + "64 4 " + "9" * 390 + "\n",
    "many glued rows": TABLE + ("64".rjust(16) + "4".rjust(8) + "9" * 117 + "\n") * 4000,
    "huge sizes": TABLE + " ".join(["9" * 30] * 15) + "\n",
    "one line of headers": "kB  reclen " * 90000,
    "endless words in the header": "random " * 70_000 + "\n" + "kB  reclen " + "write " * 80_000 + "\n64 4 1\n",
    "headers": (HEADER + "\n") * 7000,
    "quotes": '"Writer report"\n' * 60000,
    "throughput": "Children see throughput for 1 readers = 1.00 kB/sec\n" * 20000,
    "spaces": "Children see throughput for 1 " + "a " * 500000,
    "iozone": "iozone -" * 130000,
    "prompts": "$ /" * 350000 + "iozone -a",
}


@for_each("name", HOSTILE, number=4)
def test_hostile_text_is_read_in_time_and_gives_no_absurd_value(name: str) -> None:
    text = SourceText(HOSTILE[name])
    began = time.process_time()
    iozone_format.looks_like(text)
    try:
        parsed = iozone_format.parse(text)
    except ParseError:
        parsed = ParsedFile()
    assert within(time.process_time() - began, 2)
    assert all(one.value is None or 0 <= one.value < 1e18 for run in parsed.runs for one in run.samples)


def test_any_damage_to_a_real_output_is_survived() -> None:
    source = fixture_pairs.source("iozone", "processes").text
    chance = random.Random(7)
    for _ in range(150):
        start, end = sorted(chance.sample(range(len(source)), 2))
        damaged = source[:start] + chance.choice(["", "9", " ", "\n", '"', "-"]) + source[end:]
        try:
            parsed = parse(damaged)
        except ParseError:
            continue
        for run in parsed.runs:
            points = [(one.operation, one.metric, one.file_size, one.block_size, one.threads) for one in run.samples]
            assert len(points) == len(set(points))


def test_report_of_a_table_without_rows_is_read_for_itself() -> None:
    report = '"Writer report"\n        "4"  "8"\n"64"   1087638  1562436\n'
    (run,) = parse(f"{TABLE}\n{report}").runs
    assert [(one.operation, one.block_size, one.value) for one in run.samples] == [
        ("write", 4 * KIB, 1087638.0 * KIB),
        ("write", 8 * KIB, 1562436.0 * KIB),
    ]


def test_a_comma_in_a_row_makes_no_two_figures_of_one() -> None:
    good = ALL % (64, 4, *range(100, 113))
    found = parse(
        f"{TABLE}{good}\n{good.replace('  64', ' 128').replace('104', '1,4')}\n{good.replace('  64', ' 256')}\n"
    )
    assert [one.file_size for one in found.runs[0].samples] == [64 * KIB] * 13 + [256 * KIB] * 13
    assert [one.line for one in found.broken] == [7]


def test_command_in_prose_ends_where_it_is_quoted() -> None:
    header = "\n".join(TABLE.splitlines()[-2:])
    text = f"Run with `sync ; iozone -e -a -s 64m -i 0` (twice, then I slept)\n{header}\n{ALL % (64, 4, *range(100, 113))}\n"
    (run,) = parse(text).runs
    assert run.workload["command"] == "iozone -e -a -s 64m -i 0"


def test_rows_that_somebody_put_names_before_are_runs_of_their_own() -> None:
    table = (
        "                                                            random  random\n"
        "              KB  reclen   write rewrite    read    reread    read   write\n"
        "raid 0   5242880       4  904000  880300  2736500  2669700 1976400  118400\n"
        "md5:     5242880       4  261700  272400  2548400  2496000 1867100   11800\n\n"
        "md6      5242880       4  261700  272400\n"
    )
    runs = iozone_format.parse(SourceText(table)).runs
    assert [(run.caption, run.line, run.samples[0].value, run.samples[5].operation) for run in runs] == [
        ("raid 0", 3, 904000 * 1024, "randwrite"), ("md5", 4, 261700 * 1024, "randwrite"),
    ]  # fmt: skip
    assert {sample.file_size for run in runs for sample in run.samples} == {5 << 30}


def test_a_row_whose_size_was_damaged_to_a_leading_zero_makes_no_point_twice() -> None:
    head = b"\tCommand line used: iozone -a -n 64k -g 64k -i 0 -f test\n\tOutput is in Kbytes/sec\n              KB  reclen   write rewrite\n"
    rows = b"             064       4  546928 1226821\n              64       8  811459 1879725\n              64       4  546928 1226821\n"
    for run in iozone_format.parse(SourceText(head + rows)).runs:
        points = [(s.operation, s.file_size, s.block_size) for s in run.samples]
        assert len(points) == len(set(points))


def test_a_run_begins_at_its_own_command_not_at_others_listed_above() -> None:
    prose = b"The tests were\n\n$ iozone -a -g 500M -i 0 | tee a.dat\n\nand then\n\n"
    block = b"# iozone -t 10 | tee b.dat\n\tChildren see throughput for 10 initial writers \t= 1418609.94 KB/sec\n"
    (run,) = iozone_format.parse(SourceText(prose + block)).runs
    assert run.line == 7
    assert run.workload["command"] == "iozone -t 10"


def test_rows_with_a_remark_behind_them_are_runs_of_their_own_and_rows_below_are_read() -> None:
    row = ALL % (64, 4, *range(1000, 1013))
    other = ALL % (64, 4, *range(2000, 2013))
    text = f"{TABLE}{row}\n{other} (cache off)\n{row} # cache on\n{other}\n\nsomebody's words\n{row}\n"
    parsed = parse(text)
    assert [(run.caption, run.samples[0].value, len(run.samples)) for run in parsed.runs] == [
        ("", 1000 * KIB, 13),
        ("cache off", 2000 * KIB, 13),
        ("cache on", 1000 * KIB, 13),
        ("", 2000 * KIB, 13),
        ("", 1000 * KIB, 13),
    ]
    assert [run.caption for run in parse(f"{TABLE}{row} (cache off)\n{other} (cache on)\n").runs] == [
        "cache off",
        "cache on",
    ]


@pytest.mark.parametrize("size", ["0", "000"])
def test_a_file_of_less_than_a_kilobyte_is_printed_as_zero(size: str) -> None:
    """IOzone divides by 1024 and prints what is whole."""
    header = "              kB  reclen    write  rewrite    read    reread\n"
    (run,) = iozone_format.parse(SourceText(f"{header}{size:>16}       4    12813    17315    64859    79928\n")).runs
    assert [sample.value for sample in run.samples] == [figure * 1024 for figure in (12813, 17315, 64859, 79928)]
    assert "file_size" not in run.workload
    assert run.workload["block_size"] == 4096


@pytest.mark.parametrize(
    ("asked", "rows", "unmet"),
    [
        ("-a -n 8g -g 16g", [(1 << 20, 4), (2 << 20, 4)], {"header_file_size": "from 8g to 16g"}),
        ("-a -n 8g -g 16g", [(1 << 20, 4), (8 << 20, 4)], {"header_file_size": "from 8g to 16g"}),
        ("-a -n 8g -g 16g", [(8 << 20, 4), (16 << 20, 4)], {}),
        ("-a -g 4m", [(1 << 20, 4)], {"header_file_size": "to 4m"}),
        ("-a -y 64k -q 1m", [(1 << 20, 4), (1 << 20, 64)], {"header_block_size": "from 64k to 1m"}),
        ("-a -s 1g -n 8g", [(1 << 20, 4)], {}),  # one size is asked for, and no range
        ("-a", [(1 << 20, 4)], {}),
    ],
)
def test_a_range_that_the_command_announces_and_the_rows_leave(
    asked: str, rows: list[tuple[int, int]], unmet: dict[str, str]
) -> None:
    table = "".join(ALL % (*sizes, *range(1000, 1013)) + "\n" for sizes in rows)
    (run,) = parse(TABLE.replace("iozone -a", f"iozone {asked}") + table).runs
    assert {name: value for name, value in run.workload.items() if name.startswith("header_")} == unmet
