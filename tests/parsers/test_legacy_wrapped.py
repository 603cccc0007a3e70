"""Results that a mail program broke at its last column: what is left of a line stands on the next one."""

import textwrap

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone import format as iozone_format
from tests.parsers.test_bonnie1 import GARLOFF, HEAD, ROW
from tests.sampling import for_each

BONNIEPP = """\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
alpha           16G  418k  31  160m  30  356m  16  647k  29  812m  70  1234  40
Latency               375ms     264ms     304ms     290ms   16049us     364ms
"""
TABLE = """\
                                                              random    random     bkwd    record    stride
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread
            4096       4   321797   786507  1499217  1283303
            8192       4   322797   787507  1489217  1284303
"""
RECORDS = [4 << power for power in range(13)]
SIZES = [64 << power for power in range(9)]
MATRIX = '"Writer report"\n        ' + "  ".join(f'"{record}"' for record in RECORDS) + " \n"
MATRIX += "".join(
    f'"{size}"   ' + " ".join(str(1000000 + size * 10 + record) for record in RECORDS if record <= size) + " \n"
    for size in SIZES
)
BLOCK = """\
\tChildren see throughput for  2 readers \t\t= 8020059.50 kB/sec
\tParent sees throughput for  2 readers \t\t= 1877960.26 kB/sec
\tMin throughput per process \t\t\t= 3937426.75 kB/sec
\tMax throughput per process \t\t\t= 4082632.75 kB/sec
\tAvg throughput per process \t\t\t= 4010029.75 kB/sec
\tMin xfer \t\t\t\t\t=     980.00 kB
\tCPU utilization: Wall time    0.700    CPU time    0.600    CPU utilization  85.71 %
"""
THROUGHPUT = """\
"Throughput report Y-axis is type of test X-axis is number of processes"
"Record size = 4 kBytes "
"Output is in kBytes/sec"

"  Initial write " 1326505.62

"        Rewrite " 4500727.50
"""


def wrapped(text: str, width: int) -> str:
    rows = (
        textwrap.wrap(
            row, width, break_long_words=False, break_on_hyphens=False, expand_tabs=False, replace_whitespace=False
        )
        for row in text.splitlines()
    )
    return "\n".join(line for row in rows for line in row or [""]) + "\n"


def figures(parsed: ParsedFile) -> list[object]:
    assert (parsed.broken, parsed.warnings) == ((), ())
    return [
        (one.operation, one.metric, one.value, one.file_size, one.block_size, one.cpu)
        for run in parsed.runs
        for one in run.samples
    ]


@for_each("width", range(56, 84))
def test_a_table_of_bonnies_is_read_at_whatever_width_it_was_broken(width: int) -> None:
    for text in (HEAD + ROW, HEAD + ROW + ROW, GARLOFF):
        whole, broken = (bonnie_format.parse(SourceText(one)) for one in (text, wrapped(text, width)))
        assert figures(broken) == figures(whole)
        assert [run.host for run in broken.runs] == [run.host for run in whole.runs]


@for_each("width", range(56, 82))
def test_a_row_of_bonniepps_may_be_broken_behind_a_unit(width: int) -> None:
    whole, broken = (bonniepp_format.parse(SourceText(one)) for one in (BONNIEPP, wrapped(BONNIEPP, width)))
    assert figures(broken) == figures(whole)


def test_figures_under_the_first_line_of_a_header_that_was_broken_are_read() -> None:
    command = "\tCommand line used: iozone -i 0 -i 1\n\tOutput is in kBytes/sec\n"
    whole = figures(iozone_format.parse(SourceText(command + TABLE)))
    for width in range(70, 130):
        assert figures(iozone_format.parse(SourceText(command + wrapped(TABLE, width)))) == whole


def test_rows_of_few_figures_below_a_broken_header_are_never_one_row() -> None:
    head, row = (
        wrapped(TABLE.split("            4096")[0], 76),
        "{:16d}{:8d}{:9d}{:9d}" + " " * 36 + "{:9d}\n",
    )
    rows = "".join(row.format(size, 4, size + 1, size + 2, size + 3) for size in (1024, 2048, 4096))
    command = "\tCommand line used: iozone -i 0 -i 3\n\tOutput is in kBytes/sec\n"
    found = figures(iozone_format.parse(SourceText(command + head + rows)))
    assert [one[0] for one in found] == ["write", "rewrite", "backward_read"] * 3  # type: ignore[index]
    mangled = "".join(" ".join(one.split()) + "\n" for one in rows.splitlines())  # no blanks that show it
    parsed = iozone_format.parse(SourceText(command + head + mangled))
    assert (parsed.runs, len(parsed.broken)) == ((), 3)


@for_each("width", range(40, 140))
def test_a_matrix_of_iozones_is_read_at_whatever_width_it_was_broken(width: int) -> None:
    command = "\tCommand line used: iozone -Ra\n\tOutput is in kBytes/sec\n"
    whole, broken = (iozone_format.parse(SourceText(command + one)) for one in (MATRIX, wrapped(MATRIX, width)))
    assert figures(broken) == figures(whole)
    assert len(figures(whole)) == sum(record <= size for size in SIZES for record in RECORDS)
    spread = MATRIX.replace(" \n", "\n\n").replace('\n\n"64"', '\n"64"')  # the last blank on a line of its own
    assert figures(iozone_format.parse(SourceText(command + spread))) == figures(whole)


@pytest.mark.parametrize("width", [68, 72, 76, 80])
def test_the_end_of_a_long_line_of_iozones_throughput_may_stand_below_it(width: int) -> None:
    assert figures(iozone_format.parse(SourceText(wrapped(BLOCK, width)))) == figures(
        iozone_format.parse(SourceText(BLOCK))
    )
    assert "0.8571" in str(figures(iozone_format.parse(SourceText(BLOCK))))
    whole, broken = (iozone_format.parse(SourceText(one)) for one in (THROUGHPUT, wrapped(THROUGHPUT, width)))
    assert [one.value for one in broken.runs[0].samples] == [one.value for one in whole.runs[0].samples]
