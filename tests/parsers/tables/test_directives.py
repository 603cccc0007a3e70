"""reStructuredText's list-table and csv-table."""

import pytest

from apps.parsers import tables
from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import SourceText

LIST = """\
.. list-table:: Means
   :widths: 20 30 30
   :header-rows: 1

   * - file size
     - write (MiB/s)
     - read
       (MiB/s)
   * - 1 GiB
     - 120
     - 130
   * - 2 GiB
     - 118
     - 129

Text behind.
"""
CSV = """\
.. csv-table:: Means
   :header: "file size",
            "write (MiB/s)"
   :delim: ;

   "1 GiB"; 120
   "2 GiB"; 118
"""


def figures(text: str) -> list[tuple[int | None, str, float | None, int | None]]:
    (run,) = tables.parse(SourceText(text)).runs
    return [(one.file_size, one.operation, one.value, one.line) for one in run.samples]


def test_a_list_table_is_a_table() -> None:
    assert figures(LIST) == [
        (1 << 30, "write", 120 << 20, 9), (1 << 30, "read", 130 << 20, 9),
        (2 << 30, "write", 118 << 20, 12), (2 << 30, "read", 129 << 20, 12),
    ]  # fmt: skip
    assert tables.parse(SourceText(LIST)).runs[0].caption == "Means"


def test_a_csv_table_is_a_table() -> None:
    assert figures(CSV) == [(1 << 30, "write", 120 << 20, 6), (2 << 30, "write", 118 << 20, 7)]
    assert figures(CSV.replace("   :delim: ;\n", "").replace(";", ",")) == [
        (1 << 30, "write", 120 << 20, 5), (2 << 30, "write", 118 << 20, 6)]  # fmt: skip


def test_a_table_inside_a_list_is_read_too() -> None:
    assert figures("".join(f"  {line}\n" for line in LIST.splitlines())) == figures(LIST)


@pytest.mark.parametrize(
    "text", [".. csv-table:: Means\n   :file: means.csv\n", ".. list-table:: Means\n", ".. csv-table::"]
)
def test_a_directive_without_rows_is_no_table(text: str) -> None:
    with pytest.raises(ParseError):
        tables.parse(SourceText(text))
