"""Bonnie 1.x in its variants, and as mails and hands left it."""

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText

K, M = 1024, 1024**2

HEAD = """\
              -------Sequential Output-------- ---Sequential Input-- --Random--
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
"""
ROW = "alpha     512  9001 91.5 10002 12.5  4003  6.5  8004 81.5 20005 15.5 120.5  1.5\n"
VALUES = [9001 * K, 10002 * K, 4003 * K, 8004 * K, 20005 * K, 120.5]
GARLOFF = """\
# bonnie -s 1024 -v 3
Bonnie 1.4: File '/mnt/a/Bonnie.77', size: 1073741824, volumes: 3
Writing with putc()...         done:  9001 kB/s  91.5 %CPU
Rewriting...                   done:  4003 kB/s   6.5 %CPU
              ---Sequential Output (nosync)--- ---Sequential Input-- --Rnd Seek-
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --04k (03)-
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU   /sec %CPU
alpha- 3*1024  9001 91.5 10002 12.5  4003  6.5  8004 81.5 20005 15.5  120.5  1.5
"""


def parsed(text: str) -> ParsedFile:
    return bonnie_format.parse(SourceText(text))


def only(text: str) -> ParsedRun:
    (run,) = parsed(text).runs
    return run


def value(run: ParsedRun, operation: str) -> ParsedSample:
    (found,) = [one for one in run.samples if one.operation == operation]
    return found


def values(run: ParsedRun) -> list[float | None]:
    return [one.value for one in run.samples]


def test_a_table() -> None:
    run = only(HEAD + ROW)
    assert (run.tool, run.host, run.line, run.last_line, run.workload) == (
        "bonnie",
        "alpha",
        1,
        4,
        {"file_size": 512 * M},
    )
    assert values(run) == VALUES
    write = value(run, "write")
    assert (write.cpu, write.printed, write.line, write.quality) == (0.125, "10002 K/s", 4, "exact")
    assert [one.operation for one in run.samples] == [
        "char_write", "write", "rewrite", "char_read", "read", "seek",
    ]  # fmt: skip


def test_garloffs_volumes_seekers_and_progress() -> None:
    run = only(GARLOFF)
    assert (run.tool_version, run.host, run.target, run.line) == ("1.4", "alpha-", "/mnt/a", 2)
    assert run.workload == {"file_size": 3 * 1024 * M, "volumes": 3, "command": "bonnie -s 1024 -v 3"}
    assert run.labels == {"sync": "nosync"}
    assert (value(run, "seek").block_size, value(run, "seek").threads) == (4096, 3)
    assert values(run) == VALUES


@pytest.mark.parametrize(
    ("label", "told"),
    [("     3* 512 ", ("", 3 * 512)), ("one    1*2000 ", ("one", 2000)), ("lab 1*512", ("lab", 512)),
     ("2.4.21    512", ("2.4.21", 512)), ("my disk 2 512", ("my disk 2", 512)), ("512", ("", 512)),
     ("ZC>       512", ("", 512)), ("generic_file_write   512", ("generic_file_write", 512)), ("lab1*512", ("lab", 512))],
)  # fmt: skip
def test_labels_and_sizes(label: str, told: tuple[str, int]) -> None:
    run = only(HEAD + label + " " + ROW[14:])
    assert (run.host, run.workload["file_size"]) == (told[0], told[1] * M)
    assert values(run) == VALUES


def test_rows_below_each_other_with_other_lines_between() -> None:
    text = f"{HEAD}\n{ROW}       ^^^^^\n\nwith the patch:\n{ROW.replace('alpha', 'omega')}\nthat was all of it\n"
    first, last = parsed(text).runs
    assert (first.line, first.last_line, last.line, last.last_line) == (1, 5, 9, 9)
    assert (first.host, last.host) == ("alpha", "omega")


def test_two_tables_with_captions() -> None:
    first, second = parsed(f"2.4.1:\n\n{HEAD}{ROW}\nWith Rik's patch\n{HEAD}{ROW}").runs
    assert (first.caption, second.caption) == ("2.4.1", "With Rik's patch")


def test_a_wrapped_row_and_header() -> None:
    head = HEAD.replace(" --Seeks---", "=\n --Seeks---").replace("  /sec %CPU\n", "\n/sec %CPU\n")
    row = ROW.replace(" 120.5  1.5", "  =\n120.5  1.5")
    assert values(only(head + row)) == VALUES


def test_lost_and_glued_values() -> None:
    run = only(HEAD + ROW.replace(" 20005 15.5 120.5  1.5", " *****100.3 ***** 196.6"))
    assert values(run) == [*VALUES[:4], None, None]
    assert (value(run, "read").cpu, value(run, "seek").cpu) == (1.003, 1.966)


def test_cpu_that_is_hardly_any_or_less_than_none() -> None:
    assert value(only(HEAD + ROW.replace(" 1.5\n", "-0.0\n").replace("120.5 ", "120.5 ")), "seek").cpu == 0.0
    assert value(only(HEAD + ROW.replace(" 1.5\n", "-3.0\n")), "seek").cpu is None


def test_bonnie_64_has_mebibytes_and_a_size_of_its_own() -> None:
    head = HEAD.replace(" MB ", " GB ").replace("K/sec", "M/sec")
    row = "EBS         4  50.0 77.0 454.5 75.9 155.8 19.6  58.0 77.0 1282.1 64.1 66666 66.7\n"
    run = only(head + row)
    assert (value(run, "write").value, value(run, "write").quality) == (454.5 * M, "rounded")
    assert (run.workload, run.labels, value(run, "seek").value) == ({}, {"size": "4 GB"}, 66666)
    told = only("File './Bonnie.9', size: 4294967296\n" + head + row)
    assert told.workload["file_size"] == 4 * 1024 * M


def test_a_header_without_characters_has_four_pairs() -> None:
    head = HEAD.replace("-Per Char- ", "").replace("K/sec %CPU K/sec %CPU K/sec", "K/sec")
    run = only(head + "alpha     512 10002 12.5  4003  6.5 20005 15.5 120.5  1.5\n")
    assert {one.operation: one.value for one in run.samples} == {
        "write": 10002 * K, "rewrite": 4003 * K, "read": 20005 * K, "seek": 120.5,
    }  # fmt: skip


@pytest.mark.parametrize("bad", ["nan", "inf", "1e999", "9" * 5000, "1_000", "٣٤", "10,002"])
def test_a_broken_row_leaves_the_others(bad: str) -> None:
    found = parsed(HEAD + ROW.replace("10002", bad) + HEAD + ROW)
    assert [values(run) for run in found.runs] == [VALUES]
    if len(bad) < 100:
        assert [(one.line, bad in one.found) for one in found.broken] == [(4, True)]


@pytest.mark.parametrize("text", ["", HEAD, "-Per Char- and %CPU", HEAD + ROW[:40], HEAD + ROW.replace("512", "")])
def test_texts_without_a_whole_row_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parsed(text)


def test_how_sure_it_is() -> None:
    assert [bonnie_format.looks_like(SourceText(text)) for text in (HEAD, GARLOFF, ROW, "-Per Chr- %CP")] == [
        1.0,
        1.0,
        0.0,
        0.0,
    ]


def test_header_that_was_broken_behind_tabs_is_one_header() -> None:
    first, second, third = HEAD.splitlines()
    wrapped = "\n".join([
        first.replace(" --Random--", "\n\t      --Random--"), second.replace(" --Seeks---", "\n\t      --Seeks---"),
        third.replace("  /sec", "\n/sec"), ROW.replace(" 120.5", "\n\t 120.5"),
    ])  # fmt: skip
    (run,) = parsed(wrapped).runs
    assert ([one.value for one in run.samples], run.caption, run.line) == (VALUES, "", 1)


def test_rows_have_the_caption_that_stands_before_them() -> None:
    text = f"{HEAD}\n*** plain:\n\n{ROW}{ROW}\n*** with the patch:\n\n{ROW}\n"
    assert [run.caption for run in parsed(text).runs] == ["plain", "plain", "with the patch"]


def test_a_table_goes_on_behind_any_number_of_captions() -> None:
    captions = [f"machine {number} (its defaults)" for number in range(1, 7)]
    text = HEAD + "".join(f"{caption}\n{ROW}" for caption in captions)
    assert [(run.caption, values(run)) for run in parsed(text).runs] == [(caption, VALUES) for caption in captions]


def test_a_row_without_a_label_that_was_broken_before_its_last_figure() -> None:
    row = ROW.split(maxsplit=1)[1] if not ROW.split()[0].isdigit() else ROW
    begun, last = row.rstrip().rsplit(maxsplit=1)
    found = parsed(f"{HEAD}machine 2\n      {begun} \n{last}      \n      {row}")
    assert [(run.host, values(run)) for run in found.runs] == [("", VALUES)] * 2


def test_long_words_behind_a_row_are_none_of_it() -> None:
    remark = "bonnie -d /tmp -s 512 -m a-longer-name / File '/tmp/Bonnie.97', size: 536870912"
    run, other = parsed(f"{HEAD}{ROW.rstrip()}   {remark}\n{ROW}").runs
    assert (values(run), run.host, run.workload["file_size"]) == (VALUES, "alpha", 512 * M)
    assert values(other) == VALUES


def test_what_dd_printed_above_is_no_caption() -> None:
    above = "Two disks:\n100+0 records out\n104857600 bytes (105 MB) copied, 0.5 s, 210 MB/s\n"
    assert only(above + HEAD + ROW).caption == "Two disks"
