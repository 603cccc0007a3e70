"""Tables in HTML, MediaWiki's and LaTeX's markup, reStructuredText and drawn lines: cells, lines, headings."""

import pytest

from apps.parsers import tables
from apps.parsers.core.source_text import SourceText

HTML = """<p>Results</p>
<table border="1">
<tr><th>Filesystem</th><th>Write (KiB/s)</th>
    <th>Read (KiB/s)</th></tr>
<tr><td>ext4</td><td>177.5</td><td>&gt; 166.7</td></tr>
<tr>
  <td>xfs</td>
  <td align="right"><b>166.7</b></td><td>122&nbsp;000</td>
</tr>
</table>
"""
MEDIAWIKI = """{| class="wikitable" style="text-align:right"
|+ Throughput
! Filesystem
! Write (KiB/s)
! Read (KiB/s)
|-
| ext4
| 177.5
| &gt; 166.7
|-
! scope="row" | xfs
| align="right" | '''166.7'''
| style="background:#cfc" | 122.0
|}
"""
LATEX = r"""\begin{tabular}{lrr}
\toprule
Filesystem & Write (KiB/s) & Read (KiB/s) \\
\midrule
ext4 & 177.5 $\pm$ 2.1 & $166.7$ \\
xfs & \textbf{166.7} &
  122.0 \\ \hline
\end{tabular}
"""
SIMPLE = """\
========== ============= ============
Filesystem Write (KiB/s) Read (KiB/s)
========== ============= ============
ext4       177.5         166.7
xfs        166.7         122.0
========== ============= ============
"""
GRID = """\
+------------+---------------+--------------+
| Filesystem | Write (KiB/s) | Read (KiB/s) |
+============+===============+==============+
| ext4       | 177.5         | 166.7        |
+------------+---------------+--------------+
| xfs        | 166.7         | 122.0        |
+------------+---------------+--------------+
"""
DRAWN = """\
┌────────────┬───────────────┬──────────────┐
│ Filesystem │ Write (KiB/s) │ Read (KiB/s) │
├────────────┼───────────────┼──────────────┤
│ ext4       │ 177.5         │ 166.7        │
│ xfs        │ 166.7         │ 122.0        │
└────────────┴───────────────┴──────────────┘
"""


@pytest.mark.parametrize(
    ("text", "lines", "written"),
    [
        (HTML, [5, 6], ["177.5", "166.7"]), (MEDIAWIKI, [7, 11], ["177.5", "'''166.7'''"]), (LATEX, [5, 6], ["177.5 ± 2.1", "166.7"]),
        (SIMPLE, [4, 5], ["177.5", "166.7"]), (GRID, [4, 6], ["177.5", "166.7"]), (DRAWN, [4, 5], ["177.5", "166.7"]),
    ],
)  # fmt: skip
def test_a_table_in_markup_has_its_headings_cells_and_lines(text: str, lines: list[int], written: list[str]) -> None:
    (grid,) = tables.find(SourceText(text))
    assert [(column.heading, column.unit) for column in grid.columns] == [
        ("Filesystem", ""), ("Write (KiB/s)", "KiB/s"), ("Read (KiB/s)", "KiB/s"),
    ]  # fmt: skip
    assert [row.line for row in grid.rows] == lines
    assert [row.cells[:2] for row in grid.rows] == [("ext4", written[0]), ("xfs", written[1])]


def test_html_keeps_what_a_cell_says() -> None:
    (grid,) = tables.find(SourceText(HTML))
    assert [row.cells[2] for row in grid.rows] == ["> 166.7", "122 000"]


def test_cells_over_several_columns_and_rows_stand_in_each() -> None:
    text = (
        "<table><tr><th rowspan=2>fs</th><th colspan='2'>KiB/s</th></tr>\n<tr><th>write</th><th>read</th></tr>\n"
        "<tr><td>ext4</td><td>1.5</td><td rowspan=2>2.5</td></tr>\n<tr><td>xfs</td><td>3.5</td></tr></table>\n"
    )
    (grid,) = tables.find(SourceText(text))
    assert [column.heading for column in grid.columns] == ["fs fs", "KiB/s write", "KiB/s read"]
    assert [row.cells for row in grid.rows] == [("ext4", "1.5", "2.5"), ("xfs", "3.5", "2.5")]
    latex = "fs & \\multicolumn{2}{c}{KiB/s} \\\\\nx & write & read \\\\\next4 & 1{,}5 & 2\\,500{,}5 \\\\\nxfs & 3{,}5 & 4{,}5 \\\\\n"
    (grid,) = tables.find(SourceText(latex))
    assert [column.heading for column in grid.columns] == ["fs x", "KiB/s write", "KiB/s read"]
    assert (grid.decimal, grid.rows[0].cells) == ((",",), ("ext4", "1,5", "2\u2009500,5"))


def test_headings_over_underlines_with_single_blanks_stay() -> None:
    text = "file size   write\n--------- -----\n100         1.5\n200         2.5\n300         3.5\n"
    (grid,) = tables.find(SourceText(text))
    assert [column.heading for column in grid.columns] == ["file size", "write"]


def test_text_without_any_table_is_left_as_it_is() -> None:
    text = SourceText('<p>no table, but {| and \\\\ & "│" in it</p>\n')
    assert tables.looks_like(text) == 0
