"""bonnie++ in the forms of all its versions, and in the forms that mails, forums and hands gave it."""

import pytest

from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.bonniepp import samples as bonniepp_samples
from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from tests.parsers.legacy_texts import bonniepp_text

K, M, G = 1024, 1024**2, 1024**3

OLD_HEAD = """\
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
"""
OLD_ROW = "alpha            4G 40001  91 50002  22 20003  11 30004  71 60005   9 250.6   1\n"
OLD_FILES = """\
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16  1001  51 +++++ +++  3003  53  1004  54 +++++ +++  2006  56
"""
OLD_TEXT = OLD_HEAD + OLD_ROW + OLD_FILES
OLD_CSV = (
    "alpha,4G,40001,91,50002,22,20003,11,30004,71,60005,9,250.6,1,"
    "16,1001,51,+++++,+++,3003,53,1004,54,+++++,+++,2006,56\n"
)
NEW_CSV = (
    "1.97,1.97,beta,4,1400000000,8G,64k,501,98,70002,12,30003,7,1504,97,90005,8,1206,15,32,1000,10,,20,"
    "2101,41,+++++,+++,4103,43,2104,44,+++++,+++,4106,46,"
    "15000us,226ms,101s,11ms,160ms,2016ms,300ms,458us,6094ms,309ms,17us,6206ms\n"
)
SEEK_CSV = (
    "1.98,2.00,gamma,1,7,16G,,16384,3,,,300001,31,200002,22,,,400003,13,9004,44,,,,,,,,,,,,,,,,,,"
    ",27ms,56ms,,33ms,506ms,,,,,,\n"
)


def parsed(text: str) -> ParsedFile:
    return bonniepp_format.parse(SourceText(text))


def only(text: str) -> ParsedRun:
    (run,) = parsed(text).runs
    return run


def value(run: ParsedRun, operation: str, *, latency: bool = False) -> ParsedSample:
    found = [one for one in run.samples if one.operation == operation and (one.metric == "latency_max") is latency]
    assert len(found) == 1, operation
    return found[0]


def values(run: ParsedRun) -> list[float | None]:
    return [one.value for one in run.samples if one.metric != "latency_max"]


OLD_VALUES = [
    40001 * K, 50002 * K, 20003 * K, 30004 * K, 60005 * K, 250.6, 1001, None, 3003, 1004, None, 2006,
]  # fmt: skip


def test_text_of_1_03_alone() -> None:
    run = only(OLD_TEXT)
    assert (run.host, run.tool_version, run.line, run.last_line) == ("alpha", "1.03e", 1, 8)
    assert values(run) == OLD_VALUES
    assert (value(run, "write").line, value(run, "create_seq").line) == (4, 8)
    assert (value(run, "write").printed, value(run, "seek").cpu) == ("50002 K/s", 0.01)


def test_csv_of_1_03_alone() -> None:
    run = only(OLD_CSV)
    assert (run.host, run.tool_version, run.line, run.last_line) == ("alpha", "", 1, 1)
    assert values(run) == OLD_VALUES
    assert run.workload == {"file_size": 4 * G, "block_size": 8192, "num_files": 16384}


def test_a_table_and_its_csv_line_are_one_run() -> None:
    run = only("notes\n" + OLD_TEXT + "\n" + OLD_CSV)
    assert (run.tool_version, run.line, run.last_line, value(run, "read").line) == ("1.03e", 2, 11, 11)
    assert values(run) == OLD_VALUES


def test_csv_lines_collected_at_the_end_are_not_counted_again() -> None:
    second = OLD_TEXT.replace("50002", "51002"), OLD_CSV.replace("50002", "51002")
    runs = parsed(OLD_TEXT + second[0] + "summary\n\n\n\n\n" + OLD_CSV + second[1]).runs
    assert [value(run, "write").value for run in runs] == [50002 * K, 51002 * K]
    assert [(run.line, run.last_line) for run in runs] == [(22, 22), (23, 23)]


def test_a_csv_line_with_other_figures_is_another_run() -> None:
    runs = parsed(OLD_TEXT + OLD_CSV.replace("50002", "50003")).runs
    assert [value(run, "write").value for run in runs] == [50002 * K, 50003 * K]


def test_the_same_csv_line_twice_is_one_run() -> None:
    found = parsed(NEW_CSV + "again:\n" + NEW_CSV)
    assert len(found.runs) == 1
    assert found.warnings == ("line 3: the same CSV line once more, not counted again",)


def test_equal_names_and_sizes_are_two_runs_told_apart_by_their_captions() -> None:
    slow = (OLD_TEXT + OLD_CSV).replace("50002", "45002")
    first, second = parsed(f"== cfq ==\n{OLD_TEXT}{OLD_CSV}\ndeadline:\n{slow}").runs
    assert (first.caption, second.caption) == ("cfq", "deadline")


def test_the_command_before_the_progress_lines_is_kept() -> None:
    log = "root@a:~# bonnie++ -d /mnt -s 4096 > out\nWriting with putc()...done\nRewriting...done\n"
    run = only(f"tests of march\n{log}{OLD_TEXT}")
    assert (run.workload["command"], run.caption) == ("bonnie++ -d /mnt -s 4096", "tests of march")


@pytest.mark.parametrize(
    ("typed", "announced"),
    [
        ("4096", None),
        ("4g", None),
        ("4050", None),
        ("4000", 4000 * M),
        ("8g", 8 * G),
        ("2048m", 2 * G),
        ("1t", 1024 * G),
    ],
)
def test_a_size_of_the_command_that_is_not_the_rows_is_kept_beside_it(typed: str, announced: int | None) -> None:
    """Rows print rounded sizes, so a difference of up to 2 % is none."""
    run = only(f"$ bonnie++ -d /mnt -s {typed}\n{OLD_TEXT}")
    assert value(run, "write").file_size == 4 * G
    assert run.workload.get("header_file_size") == announced


def test_csv_of_1_97_has_sizes_threads_and_latencies() -> None:
    run = only(NEW_CSV)
    assert (run.host, run.tool_version, run.labels) == ("beta", "1.97", {"seed": "1400000000"})
    write = value(run, "write")
    assert (write.value, write.file_size, write.block_size, write.threads) == (70002 * K, 8 * G, 65536, 4)
    assert value(run, "char_write").block_size is None
    assert value(run, "seek").threads is None
    assert [value(run, one, latency=True).value for one in ("char_write", "write", "rewrite")] == [15e6, 226e6, 101e9]
    small = value(run, "stat_rand")
    assert (small.file_size, small.block_size, small.low) == (None, None, 32 * 1024 / 0.5)
    assert run.workload["num_directories"] == 20
    assert (run.workload["file_max_size"], run.workload["file_min_size"]) == (1000, 10)


def test_csv_of_2_00_has_seeks_and_says_nothing_of_the_chunk() -> None:
    run = only(SEEK_CSV)
    assert (run.tool_version, run.workload["seeks"], run.workload["seek_processes"]) == ("2.00", 16384, 3)
    assert (value(run, "seek").threads, value(run, "write").block_size) == (3, None)
    assert value(run, "char_read").missing_reason == "not run (-f)"
    assert [one.operation for one in run.samples if one.metric == "latency_max"] == ["write", "rewrite", "read", "seek"]


SCALED = """\
Version  2.00       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
    64G:4k::65536:16 1146k  99 31.7m  64  1.0g  84  200k  98  379m  51 533.8  62
Latency             27010us   56044us   12422ms   33647us     506ms     260ms
"""


def test_text_of_2_00_scales_and_says_that_it_is_rounded() -> None:
    run = only(SCALED)
    assert run.host == ""
    assert values(run) == [1146 * K, 31.7 * M, G, 200 * K, 379 * M, 533.8]
    assert [value(run, one).quality for one in ("char_write", "write", "rewrite", "seek")] == [
        "exact", "rounded", "rounded", "exact",
    ]  # fmt: skip
    assert (value(run, "write").block_size, value(run, "seek").threads, run.workload["seeks"]) == (4096, 16, 65536)


def test_small_files_of_2_00_have_no_rate_in_text() -> None:
    run = only(SCALED + OLD_FILES)
    one = value(run, "create_seq")
    assert (one.value, one.low, one.cpu) == (None, None, 0.51)
    assert "CSV" in one.missing_reason
    assert value(run, "stat_seq").low == 32768


def test_skipped_characters_are_missing_in_text_too_even_where_blanks_collapsed() -> None:
    row = "alpha            4G           50002  22 20003  11           60005   9 250.6   1\n"
    for text in (OLD_HEAD + row, OLD_HEAD + " ".join(row.split()) + "\n"):
        run = only(text)
        assert values(run) == [None, 50002 * K, 20003 * K, None, 60005 * K, 250.6]
        assert value(run, "char_read").missing_reason == "not run (-f)"


def test_values_wider_than_their_columns() -> None:
    run = only(OLD_HEAD + "alpha           4G 1000001 101 5000002 122 200003  11 30004  71 60005   9 12506 1101\n")
    assert values(run) == [1000001 * K, 5000002 * K, 200003 * K, 30004 * K, 60005 * K, 12506]
    assert value(run, "seek").cpu == 11.01
    assert value(run, "seek").quality == "rounded"


def test_a_run_without_a_large_file_and_one_without_small_files() -> None:
    small = "Version 1.03e" + OLD_FILES[13:].replace("                    -Create", "alpha               -Create")
    run = only(small)
    assert (run.host, run.tool_version, values(run)) == ("alpha", "1.03e", [1001, None, 3003, 1004, None, 2006])
    csv = only("alpha,,,,,,,,,,,,,,16,1001,51,+++++,+++,3003,53,1004,54,+++++,+++,2006,56")
    assert values(csv) == values(run)
    assert len(only("alpha,4G,40001,91,50002,22,20003,11,30004,71,60005,9,250.6,1,,,,,,,,,,,,,").samples) == 6


def test_a_line_of_1_96_without_a_large_file_has_too_few_fields() -> None:
    line = "1.96,1.96,beta,1,7,,,,,,,,,,,,,16,,,,,1001,51,+++++,+++,3003,53,1004,54,+++++,+++,2006,56,,,,,,,1us,2us,3us,4us,5us,6us"
    assert values(only(line)) == [1001, None, 3003, 1004, None, 2006]


def test_sizes_in_plain_megabytes_are_of_1_00_and_its_bound_is_of_one_second() -> None:
    head = OLD_HEAD.replace("1.03e", "1.00b").replace("       Size ", "         MB ")
    run = only(head + "alpha          1024 40001  91 +++++  22 20003  11 30004  71 60005   9 +++++   1\n")
    assert value(run, "write").file_size == 1024 * M
    assert (value(run, "write").low, value(run, "seek").low) == (1024 * M, 8000)


def test_bounds_of_each_test() -> None:
    run = only(OLD_CSV.replace("40001,91,50002,22", "+++++,+++,+++++,+++").replace("250.6,1,", "+++++,+++,"))
    assert [value(run, one).low for one in ("char_write", "write", "seek", "stat_seq")] == [8 * G, 8 * G, 16384, 32768]
    part = value(only(NEW_CSV.replace(",501,98,", ",+++++,+++,")), "char_write")
    assert (part.value, part.low, part.quality, part.missing_reason != "") == (None, None, "exact", True)


def test_many_rows_under_one_header_with_their_small_files() -> None:
    second = OLD_ROW.replace("alpha", "omega").replace("50002", "51002")
    small = OLD_FILES + "omega            16  1101  51 +++++ +++  3003  53  1004  54 +++++ +++  2006  56\n"
    first, last = parsed(OLD_HEAD.replace("1.03e", "@version@") + OLD_ROW + second + small).runs
    assert (first.host, first.tool_version, value(first, "create_seq").value) == ("alpha", "", 1001)
    assert (last.host, value(last, "write").value, value(last, "create_seq").value) == ("omega", 51002 * K, 1101)


def test_rows_with_captions_between_them() -> None:
    second = OLD_ROW.replace("alpha", "omega")
    first, last = parsed(f"{OLD_HEAD}{OLD_ROW}\nwith noatime:\n{second}that was all\n").runs
    assert (first.host, first.line, first.last_line) == ("alpha", 1, 4)
    assert (last.host, last.line, last.last_line, values(last)) == ("omega", 7, 7, values(first))


WRAPPED = """\
> Version 1.02c       ------Sequential Output------ --Sequential Input-
> --Random-
>                     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block--
> --Seeks--
> Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP
> /sec %CP
> storage.example 1G 22364  96 42206  13 15897   6 22634  91 44019  10
> 252.1   0
>                     ------Sequential Create------ --------Random
> Create--------
>                     -Create-- --Read--- -Delete-- -Create-- --Read---
> -Delete--
>               files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
> /sec %CP
>                  16  3658  99 +++++ +++ +++++ +++  3757  99 +++++ +++
> 9681 100
> storage.example,1G,22364,96,42206,13,15897,6,22634,91,44019,10,252.1,0,16,
> 3658,99,+++++,+++,+++++,+++,3757,99,+++++,+++,9681,100
"""


def test_a_quoted_and_wrapped_mail() -> None:
    run = only(WRAPPED)
    assert (run.host, run.tool_version, run.line, run.last_line) == ("storage.example", "1.02c", 1, 18)
    assert values(run)[3:] == [22634 * K, 44019 * K, 252.1, 3658, None, None, 3757, None, 9681]
    text_only = only("\n".join(WRAPPED.splitlines()[:16]))
    assert values(text_only) == values(run)


def test_bold_marks_and_closing_tags_of_forums() -> None:
    row = OLD_ROW.replace("50002", "**50002**")
    csv = OLD_CSV.replace("\n", "[/COLOR]\n")
    assert values(only(OLD_HEAD + row + OLD_FILES)) == OLD_VALUES
    assert values(only("[code]\n" + OLD_TEXT + csv)) == OLD_VALUES
    assert value(only(NEW_CSV.strip() + "```"), "delete_rand", latency=True).value == 6206e6


def test_names_with_commas_and_blanks() -> None:
    assert only(NEW_CSV.replace(",beta,", ",rack 3, shelf 2,")).host == "rack 3, shelf 2"
    assert only(OLD_CSV.replace("alpha,", "rack 3,2,")).host == "rack 3,2"
    assert only(OLD_HEAD + OLD_ROW.replace("alpha  ", "rack 3 ")).host == "rack 3"


def test_hosts_before_each_line() -> None:
    lines = [f"node{n}: {line}" for line in (OLD_TEXT + OLD_CSV).splitlines() for n in (1, 2)]
    runs = parsed("\n".join(lines)).runs
    assert [(run.host, run.line, values(run)) for run in runs] == [("alpha", 1, OLD_VALUES), ("alpha", 2, OLD_VALUES)]


def test_a_csv_line_cut_off_gives_what_is_whole_of_it() -> None:
    found = parsed(NEW_CSV[: NEW_CSV.index("90005") + 3])
    assert values(found.runs[0]) == [501 * K, 70002 * K, 30003 * K, 1504 * K, None, None]
    assert value(found.runs[0], "read").missing_reason == "the line is cut off before it"
    assert found.warnings
    old = parsed(OLD_CSV[: OLD_CSV.index("3003") + 2]).runs[0]
    assert values(old) == [*OLD_VALUES[:8], None, None, None, None]
    with pytest.raises(ParseError):
        parsed(OLD_CSV[: OLD_CSV.index("30004")])


def test_a_csv_line_cut_off_behind_its_table_adds_nothing() -> None:
    found = parsed(OLD_TEXT + OLD_CSV[:70])
    assert (len(found.runs), values(found.runs[0])) == (1, OLD_VALUES)
    assert found.warnings == ("line 9: this CSV line is cut off; the table above has it all",)


def test_a_broken_row_leaves_the_others() -> None:
    bad = "alpha            4G 40001  91 50002  22 20003  1x 30004  71 60005   9 250.6   1\n"
    found = parsed(OLD_HEAD + bad + "\n" + OLD_TEXT)
    assert len(found.runs) == 1
    (broken,) = found.broken
    assert (broken.line, broken.expected) == (4, "six pairs of rate and CPU")
    assert "20003  1x" in broken.found


def test_a_row_that_the_next_header_was_joined_to_is_told_and_the_small_files_are_read() -> None:
    found = parsed(OLD_HEAD + OLD_ROW.rstrip("\n") + OLD_FILES)
    (broken,) = found.broken
    assert (broken.line, broken.expected) == (4, "six pairs of rate and CPU")
    assert broken.found.startswith("alpha            4G 40001  91")
    assert values(only(OLD_HEAD + OLD_ROW.rstrip("\n") + OLD_FILES)) == OLD_VALUES[6:]


def test_eight_figures_of_a_table_that_is_cut_off_at_its_side_are_no_tests_without_characters() -> None:
    side = "\n".join(
        line[:60] for line in (OLD_HEAD + "alpha            4G 40001  91 50002  22 20003  11 30004  71").split("\n")
    )
    with pytest.raises(ParseError, match="cannot be read"):
        parsed(side)


def test_eight_figures_in_a_last_line_are_a_row_where_they_have_room_for_the_others() -> None:
    with pytest.raises(ParseError, match="cannot be read"):
        parsed(OLD_HEAD + "alpha            4G 40001  91 50002  22 20003  11 30004  71")
    (run,) = parsed(OLD_HEAD + "alpha            4G           50002  22 20003  11           60005   9 250.6   1").runs
    assert value(run, "write").value == 50002 * K


def test_a_row_that_does_not_repeat_machine_and_size_is_told() -> None:
    more = "               40001  91 50002  22 20003  11 30004  71 60005   9 250.6   1\n"
    found = parsed(OLD_HEAD + "alpha            4G" + more + more)
    assert len(found.runs) == 1
    assert [(one.line, one.message) for one in found.broken] == [(5, "a row without machine and size")]


@pytest.mark.parametrize("bad", ["nan", "inf", "1e999", "9" * 5000, "1_000", "٣٤", "0x1f", "--5"])
def test_what_is_no_number_is_never_one(bad: str) -> None:
    for text in (OLD_CSV, NEW_CSV):
        with pytest.raises(ParseError) as error:
            parsed(text.replace("50002", bad).replace("70002", bad))
        assert error.value.line == 1
        assert bad[:80] in error.value.found
    with pytest.raises(ParseError):
        parsed(OLD_HEAD + OLD_ROW.replace("50002", bad))


def test_a_letter_or_a_blank_alone_is_no_number() -> None:
    with pytest.raises(ParseError):
        parsed(NEW_CSV.replace(",,20,", ",,k,"))
    blank = only(NEW_CSV.replace(",4103,", ", ++++,"))
    assert (value(blank, "delete_seq").value, value(blank, "delete_seq").low) == (None, 65536)


def test_units_where_none_are_printed_are_no_numbers() -> None:
    for text in (SCALED.replace("533.8", "5.3k"), OLD_TEXT.replace("3003", "3.0k")):
        assert [one.expected for one in parsed(text + NEW_CSV).broken] == ["six pairs of rate and CPU"]


def test_the_tools_own_overflow_is_missing() -> None:
    one = value(only(OLD_CSV.replace("50002", "-2147483")), "write")
    assert (one.value, one.low) == (None, None)
    assert "overflow" in one.missing_reason


@pytest.mark.parametrize(
    "text",
    ["", "nothing", "a,b,c,d,e,f,g,h,i,j,k,l,m,n", ",".join("123456789" * 3), OLD_HEAD, "1.97,1.97,", "\x00\ud800"],
)
def test_texts_without_a_result_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parsed(text)


def test_how_sure_it_is() -> None:
    sure = [
        bonniepp_format.looks_like(SourceText(text))
        for text in (OLD_TEXT, NEW_CSV, OLD_CSV, "a,1,2\n", "-Per Char- %CPU")
    ]
    assert sure == [1.0, 1.0, 0.9, 0.0, 0.0]


def test_points_are_unique_within_a_run() -> None:
    for text in (OLD_TEXT, OLD_CSV, NEW_CSV, SEEK_CSV, SCALED + OLD_FILES):
        run = only(text)
        points = {(one.operation, one.metric, one.file_size, one.block_size, one.threads) for one in run.samples}
        assert len(points) == len(run.samples)


def test_a_table_that_says_its_unit_has_it_in_any_version() -> None:
    head = (
        "Version  1.98   ------Sequential Output------ --Sequential Input- --Random-\n"
        "              -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
        "Machine    Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n"
        "lab-7        4G   600  98 240000  40 180000  30   800  97 300000  41 340.5   7\n"
        "              ------Sequential Create------ --------Random Create--------\n"
        "              -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n"
        "          files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
        "            100 18000  81 55000  94 32000  77 19000  84 58000  96 29000  80\n"
    )
    run = only(head)
    assert (value(run, "write").value, value(run, "write").printed) == (240000 * 1024, "240000 K/s")
    assert value(run, "create_seq").value == 18000


@pytest.mark.parametrize("bad", ["56044xs", "-5us", "5.5us", "1e5ms"])
@pytest.mark.parametrize("blank", [False, True])
def test_one_bad_latency_leaves_the_others(bad: str, blank: bool) -> None:
    shown = ["" if blank else "27010us", bad, "12422ms", "33647us", "506ms", "260ms"]
    latencies = "Latency          " + "".join(f"{one:>10}" for one in shown) + "\n"
    found = parsed(OLD_HEAD.replace("1.03e", "1.97 ") + OLD_ROW + latencies)
    (run,) = found.runs
    told = [one for one in run.samples if one.metric == "latency_max"]
    assert [one.value for one in told] == [None if blank else 27010e3, None, 12422e6, 33647e3, 506e6, 260e6]
    assert (told[1].printed, told[1].missing_reason) == (bad, "no latency as bonnie++ prints it")
    assert found.warnings == (f"line 5: '{bad}' is no latency as bonnie++ prints it",)


REST = ",,,39873,8,34114,8,,,+++++,+++,+++++,+++,16" + ",+++++,+++" * 6


def test_a_spreadsheets_csv_has_no_quotes_in_the_name_and_the_command_says_the_target() -> None:
    (run,) = bonniepp_format.parse(SourceText(f'$ bonnie++ -d /mnt/old -q\n"db7",300M{REST}\n')).runs
    assert (run.host, run.target) == ("db7", "/mnt/old")


def test_a_csv_line_with_semicolons_is_told_and_not_read() -> None:
    found = bonniepp_format.parse(SourceText(f"db7,300M{REST}\n\n" + f"db8,300M{REST}\n".replace(",", ";")))
    assert [run.host for run in found.runs] == ["db7"]
    assert [(one.line, one.message) for one in found.broken] == [(3, "a CSV line with semicolons")]


@pytest.mark.parametrize("size", ["64G", "2000M"])
def test_a_line_that_lacks_nothing_gives_the_same_in_the_short_way(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SourceText(bonniepp_text(40, with_tables=False).decode().replace(",64G,", f",{size},"))
    short = bonniepp_format.parse(text)
    monkeypatch.setattr(bonniepp_samples, "_is_usual", lambda record, values: False)
    assert bonniepp_format.parse(text) == short
    assert len(short.runs) == 40
    assert {one.quality for run in short.runs for one in run.samples} == {"exact", "lower_bound"}


def test_a_csv_line_that_somebody_gives_to_a_program_is_no_other_run() -> None:
    line = OLD_CSV.strip()
    assert len(parsed(f"{OLD_TEXT}{line}\n\n$ echo {line} | bon_csv2html > a.html\n").runs) == 1
    assert only(f"root@lab:~# echo {line} | bon_csv2txt\n").host == "alpha"


def test_bon_csv2txts_seeks_are_no_threads_and_its_0k_is_too_fast_to_time() -> None:
    text = SCALED.replace("    64G:4k::65536:16", "lab7  800M::8192:5").replace("379m  51", "0k +++")
    run = only(text)
    assert "numjobs" not in run.workload
    assert (run.workload["seeks"], run.workload["seek_processes"]) == (8192, 5)
    read = value(run, "read")
    assert (read.value, read.printed) == (None, "+++++")
