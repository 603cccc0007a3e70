"""Sizes and counts that the database can hold, and those that it cannot."""

import pytest

from apps.parsers.tables.cells import CellError
from apps.parsers.tables.mapping import ColumnMapping
from apps.parsers.tables.reader import read_dimension


@pytest.mark.parametrize(
    ("word", "cell", "unit"),
    [
        ("file_size", str(2**63 - 1), "B"),
        ("file_size", "8589934591", "GB (1024)"),
        ("threads", str(2**31 - 1), ""),
    ],
)
def test_the_largest_that_fits_is_read(word: str, cell: str, unit: str) -> None:
    assert int(read_dimension(word, cell, unit, ColumnMapping())) > 0


@pytest.mark.parametrize(
    ("word", "cell", "unit", "expected"),
    [
        ("file_size", str(2**63), "B", str(2**63 - 1)),
        ("file_size", "8589934592", "GB (1024)", str(2**63 - 1)),
        ("file_size", "8589934592.5 GiB", "", str(2**63 - 1)),
        ("block_size", "9999999999", "GB (1024)", str(2**63 - 1)),
        ("threads", str(2**31), "", str(2**31 - 1)),
    ],
)
def test_what_is_too_large_is_refused_with_the_largest(word: str, cell: str, unit: str, expected: str) -> None:
    with pytest.raises(CellError, match=f"up to {expected}"):
        read_dimension(word, cell, unit, ColumnMapping())
