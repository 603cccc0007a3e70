"""bonnie++'s rows as forums, wikis and long names dress them."""

import pytest

from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.core.source_text import SourceText

HEAD = """\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
"""
ROW = "box              8G  3001  91  4002  12  5003  13  6004  94  7005  15  81.6   1"
RATES = [3001, 4002, 5003, 6004, 7005]


def read(row: str) -> list[tuple[str, int | None, list[float | None]]]:
    runs = bonniepp_format.parse(SourceText(HEAD + row + "\n")).runs
    return [(run.host, run.samples[0].file_size, [one.value for one in run.samples[:5]]) for run in runs]


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        ROW + "\\",
        ROW.replace("4002", '<b style="color: red;">4002</b>'),
        ROW.replace("4002", "**4002**"),
        ROW + "<br/>",
    ],
)
def test_marks_of_pages_and_forums_are_no_part_of_a_row(row: str) -> None:
    assert read(row) == [("box", 8 << 30, [1024 * rate for rate in RATES])]


@pytest.mark.parametrize(
    ("name", "size"), [("Raid0 (8 disk)", "15744M"), ("a-host-of-many", "24000M"), ("storage-ab(xy)", "15744M")]
)
def test_a_name_that_fills_its_column_touches_the_size(name: str, size: str) -> None:
    assert read(ROW.replace("box              8G", name + size)) == [
        (name, int(size[:-1]) << 20, [1024 * rate for rate in RATES])
    ]


def test_a_letter_in_a_size_is_no_name() -> None:
    found = bonniepp_format.parse(SourceText(HEAD + ROW + "\n" + ROW.replace(" 8G", "1x744M") + "\n"))
    assert len(found.runs) == 1
    assert [one.line for one in found.broken] == [5]


def test_a_table_of_which_a_row_cannot_be_read_is_not_a_run_beside_its_csv_line() -> None:
    csv = (
        "box,8G,3001,91,4002,12,5003,13,6004,94,7005,15,81.6,1,16,1001,51,+++++,+++,3003,53,1004,54,+++++,+++,2006,56\n"
    )
    files = """\
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16  1001  51 +++++ +++  3003  53  1004  54 +++++ +++  2006  56
"""
    found = bonniepp_format.parse(SourceText(HEAD + ROW.replace("4002", "4x02") + "\n" + files + csv))
    assert [run.samples[1].value for run in found.runs] == [4002 * 1024]
    assert [one.line for one in found.broken] == [4]


def test_without_its_version_a_table_of_small_files_may_hold_counts_and_no_rates() -> None:
    text = """\
Version x.00        ------Sequential Create------ --------Random Create--------
box                 -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                  4  4096  98 +++++ +++ +++++ +++  4096  99 +++++ +++ +++++ +++
"""
    found = bonniepp_format.parse(SourceText(text))
    assert not [one for run in found.runs for one in run.samples if one.value is not None]
    assert [one.line for one in found.broken] == [1]
