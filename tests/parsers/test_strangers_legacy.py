"""Outputs of the older tools in shapes that other people published."""

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.copy import format as copy_format
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from apps.parsers.hdparm import format as hdparm_format

FISH = """\
> time cp one.img /mnt/b

________________________________________________________
Executed in    8.00 secs      fish           external
   usr time  400.00 millis    1.00 millis  399.00 millis
   sys time    1.20 secs    500.00 micros    1.20 secs

> time cp two.img /mnt/b

________________________________________________________
Executed in    2.00 secs      fish           external
   usr time    0.50 secs      1.00 millis    0.50 secs
   sys time    0.50 secs    500.00 micros    0.50 secs
"""


def test_fishs_times_below_its_line_are_read_with_those_of_the_processor() -> None:
    runs = copy_format.parse(SourceText(FISH)).runs
    assert [(run.workload["command"], run.line, run.last_line) for run in runs] == [
        ("time cp one.img /mnt/b", 1, 6),
        ("time cp two.img /mnt/b", 8, 13),
    ]
    assert [(run.samples[0].value, run.samples[0].cpu, run.samples[0].line) for run in runs] == [
        (8e9, 0.2, 4),
        (2e9, 0.5, 11),
    ]


def test_a_time_of_fish_in_the_processor_that_cannot_be_read_is_told() -> None:
    parsed = copy_format.parse(SourceText(FISH.replace("400.00 millis ", "4x0.00 millis ")))
    assert [run.samples[0].cpu for run in parsed.runs] == [None, 0.5]
    assert [(broken.line, broken.found[:20]) for broken in parsed.broken] == [(5, "usr time  4x0.00 mil")]


@pytest.mark.parametrize(("words", "offset"), [(" (offset 37 GB)", 37 * 1024**3), ("", None)])
def test_where_hdparm_reads_from_is_kept_in_bytes(words: str, offset: int | None) -> None:
    text = f"/dev/sdq:\n Timing O_DIRECT disk reads{words}:  64 MB in  3.20 seconds =  20.00 MB/sec\n"
    (run,) = hdparm_format.parse(SourceText(text)).runs
    assert (run.target, run.workload.get("offset"), run.samples[0].value) == ("/dev/sdq", offset, 20 * 1024**2)


BONNIE = """\
File './Bonnie.77', size: 536870912, volumes: 1
Writing with putc()...  done:  11038 kB/s  99.8 %CPU
            ---Sequential Output (nosync)--- ---Sequential Input-- --Rnd Seek-
            -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --04k (03)-
Machine  MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU   /sec %CPU
     1* 512 11038 99.8 41931 43.8 11274 12.9 11038 95.0 61362 32.5  301.7  4.1
"""
CUT = "File './Bonnie.78', size: 1073741824, volumes: 1\nWriting with putc()...  done:  11023 kB/s 100.0 %CPU\n"


def test_a_bonnie_that_was_cut_off_before_its_table_is_told() -> None:
    for text, line in ((BONNIE + CUT, 7), (CUT + BONNIE, 1)):
        parsed = bonnie_format.parse(SourceText(text))
        assert len(parsed.runs) == 1
        assert [(one.line, one.found) for one in parsed.broken] == [(line, CUT.partition("\n")[0])]


def test_bonnies_that_ran_at_the_same_time_are_whole() -> None:
    first, table = BONNIE.splitlines(keepends=True)[:2], BONNIE.splitlines(keepends=True)[2:]
    parsed = bonnie_format.parse(SourceText("".join([CUT, *first, *table, *table])))
    assert (len(parsed.runs), parsed.broken) == (2, ())


@pytest.mark.parametrize("mark", ["**", "***"])
def test_a_rate_of_dd_that_a_page_has_in_bold_is_no_cut(mark: str) -> None:
    text = "$ dd if=/dev/zero of=a.img bs=1M count=64\n64+0 records in\n64+0 records out\n67108864 bytes (67 MB) copied, 0.5 s, "
    parsed = dd_format.parse(SourceText(f"{text}{mark}134 MB/s{mark}\n"))
    assert [(run.target, run.samples[0].value) for run in parsed.runs] == [("a.img", 134217728)]
    assert (parsed.broken, parsed.warnings) == ((), ())


BONNIEPP = """\
Version 1.03c       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
box              8G 31239  64 31955   8 11130   3 31040  60 31300   2 141.7   0
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                256 11195  26 +++++ +++  1048   9 51842  82 +++++ +++  1295   7
"""


def test_a_table_of_bonniepp_whose_first_lines_were_not_copied_is_told() -> None:
    assert not bonniepp_format.parse(SourceText(BONNIEPP)).broken
    parsed = bonniepp_format.parse(SourceText(BONNIEPP.split("\n", 2)[2]))
    assert [sample.operation for run in parsed.runs for sample in run.samples][:1] == ["create_seq"]
    assert [(one.line, one.found[:20]) for one in parsed.broken] == [(1, "Machine        Size ")]
