"""Tables of means as other people's wikis have them."""

from dataclasses import replace

import pytest

from apps.parsers import tables
from apps.parsers.core.models import ParsedSample
from apps.parsers.core.source_text import SourceText
from apps.parsers.tables import ColumnRole

SPANS = """\
{| class="wikitable"
! rowspan="2" | volume
! colspan='2' | MiB/s
|-
! read
! write
|-
| rowspan=2 | lv0
| 31.5
| 21.5
|-
| 32.5
| 22.5
|-
| lv1
| 33.5
| 23.5
|}
"""
ONE_LINE = """\
{| class="wikitable"
! volume !! read (MiB/s) !! write (MiB/s)
|-
| lv0 || 31.5 || 21.5
|-
| lv1 || align="right" | 33.5 || style="color:red" | 23.5
|}
"""


def test_mediawikis_cells_over_several_columns_and_rows_stand_in_each() -> None:
    (grid,) = tables.find(SourceText(SPANS))
    assert [column.heading for column in grid.columns] == ["volume volume", "MiB/s read", "MiB/s write"]
    assert [(row.line, row.cells, row.problem) for row in grid.rows] == [
        (8, ("lv0", "31.5", "21.5"), ""),
        (12, ("lv0", "32.5", "22.5"), ""),
        (15, ("lv1", "33.5", "23.5"), ""),
    ]


def test_mediawikis_rows_on_one_line_may_say_how_their_cells_are_shown() -> None:
    (grid,) = tables.find(SourceText(ONE_LINE))
    assert [column.unit for column in grid.columns] == ["", "MiB/s", "MiB/s"]
    assert [(row.line, row.cells) for row in grid.rows] == [
        (4, ("lv0", "31.5", "21.5")),
        (6, ("lv1", "33.5", "23.5")),
    ]


def rows(text: str) -> list[tuple[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]]:
    return [
        (tuple(column.heading for column in grid.columns), [(row.line, row.cells) for row in grid.rows])
        for grid in tables.find(SourceText(text))
    ]


def test_a_table_that_a_patch_adds_is_read_without_the_patchs_margin() -> None:
    text = "+| FS   | write (MiB/s) |\n+|------|--------------:|\n+| xfs  | 31.5 |\n+| ext4 | 21.5 |\n"
    assert rows(text) == [(("FS", "write (MiB/s)"), [(3, ("xfs", "31.5")), (4, ("ext4", "21.5"))])]


def test_dokuwikis_cells_that_go_on_below_stand_in_each_row() -> None:
    text = "^ volume ^ test ^ MiB/s ^\n| lv0 | write | 31.5 |\n| ::: | read | 45.5 |\n| ::: | seek | ::: |\n| lv1 | write | 33.5 |\n"
    assert rows(text)[0][1] == [
        (2, ("lv0", "write", "31.5")), (3, ("lv0", "read", "45.5")), (4, ("lv0", "seek", "45.5")), (5, ("lv1", "write", "33.5")),
    ]  # fmt: skip


FRAME = """\
  file_system write_mib read_mib
1         xfs     512.5   701.25
2        ext4     490.1   699.00
"""
TIBBLE = """\
# A tibble: 2 x 3
  file_system write_mib read_mib
  <chr>           <dbl>    <dbl>
1 xfs              512.5   701.25
2 ext4             490.1   699.00
"""


@pytest.mark.parametrize("margin", ["", "## "])
@pytest.mark.parametrize(("text", "first"), [(FRAME, 2), (TIBBLE, 4)])
def test_data_frames_of_r_have_their_headings_also_behind_knitrs_margin(text: str, first: int, margin: str) -> None:
    shown = "".join(margin + line for line in text.splitlines(keepends=True))
    found = [(first, ("xfs", "512.5", "701.25")), (first + 1, ("ext4", "490.1", "699.00"))]
    assert rows(f"prose\n\n{shown}")[-1] == (
        ("file_system", "write_mib", "read_mib"),
        [(line + 2, cells) for line, cells in found],
    )


def test_numbered_rows_of_other_widths_than_their_headings_are_no_data_frame() -> None:
    text = "n size  rate\n1  4k  10.5\n2  8k  11.5\n"
    assert all(len(cells) == 3 for _, found in rows(text) for _, cells in found)


def test_units_behind_numbers_in_cells_are_no_pairs() -> None:
    text = "| FS | write | read |\n|---|---|---|\n| xfs | 3.1 GB/s | 270 / 20 |\n| ext4 | 260 MB/s | 280 / 21 |\n"
    (grid,) = tables.find(SourceText(text))
    assert [column.kind for column in grid.columns] == ["name", "number", "pair"]
    mapping = replace(
        tables.guess(grid),
        columns={
            0: ColumnRole("target"),
            1: ColumnRole("value", fixed={"operation": "write"}),
            2: ColumnRole("ignore"),
        },
        units={"GB/s": "GB/s (1000)", "MB/s": "MB/s (1000)"},
        fixed={"metric": "bandwidth"},
    )
    parsed = tables.read(grid, mapping)
    assert not parsed.broken
    assert [sample.value for run in parsed.runs for sample in run.samples] == [3.1e9, 2.6e8]


def read_as(text: str, columns: dict[int, ColumnRole]) -> list[ParsedSample]:
    (grid,) = tables.find(SourceText(text))
    mapping = replace(tables.guess(grid), layout="wide", headings="", columns={0: ColumnRole("target")} | columns)
    parsed = tables.read(grid, mapping)
    assert not parsed.broken
    return [sample for run in parsed.runs for sample in run.samples]


def test_thousands_and_millions_of_operations_are_decimal() -> None:
    text = "| path | IOPS | BW |\n|---|---|---|\n| raw | 1.2M | 953MiB/s |\n| md0 | **27K** | 41 MiB/s |\n| md1 | 59K IOPS | 5 B/s |\n"
    (grid,) = tables.find(SourceText(text))
    assert tables.guess(grid).columns[1] == ColumnRole("value", "1/s", {"metric": "iops"})
    of = {"operation": "randread"}
    found = read_as(text, {1: ColumnRole("value", "1/s", of), 2: ColumnRole("value", fixed=of)})
    assert [(one.metric, one.value) for one in found if one.metric == "iops"] == [
        ("iops", 1.2e6), ("iops", 27e3), ("iops", 59e3)]  # fmt: skip
    assert next(one.value for one in found if one.metric == "bandwidth") == 953 * 1024**2


def test_a_dash_among_values_with_units_of_their_own_is_missing() -> None:
    text = "| path | p50 | p99 |\n|---|---|---|\n| raw | 36 ms | 128 ms |\n| md0 | 33us | — |\n"
    columns = {
        at: ColumnRole("value", fixed={"operation": "randread", "metric": f"clat_{rank}"})
        for at, rank in ((1, "p50"), (2, "p99"))
    }
    last = read_as(text, columns)[-1]
    assert (last.metric, last.value, last.missing_reason, last.printed) == ("clat_p99", None, "printed as a dash", "—")


def test_a_percentage_in_the_prose_above_is_no_unit_of_the_values() -> None:
    (grid,) = tables.find(
        SourceText("It is about 40% faster now.\n\n| path | BW |\n|---|---|\n| raw | 9.5 |\n| md0 | 41.1 |\n")
    )
    assert tables.guess(grid).fixed == {}
