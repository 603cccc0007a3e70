"""Single cells: marks that are proven, marks that can be either, ranges, bounds, missing values."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.parsers.tables.cells import THOUSANDS, CellError, Marks, is_value, read
from tests.sampling import for_each


@for_each("cell, decimal, thousands, value", [
        ("177456,5", ",", "", "177456.5"), ("1.234,5", ",", ".", "1234.5"), ("1,234.5", ".", ",", "1234.5"),
        ("1 234 567", ".", " ", "1234567"), ("1\u202f234,5", ",", " ", "1234.5"), ("1’234.5", ".", "'", "1234.5"),
        ("1,234", ",", "", "1.234"), ("1,234", ".", ",", "1234"), ("1.234", ".", "", "1.234"), ("1.234", ",", ".", "1234"),
        ("1.5e6", ".", "", "1500000"), ("0", ",", ".", "0"), (".5", ".", "", "0.5"), ("**12.5**", ".", "", "12.5"),
        ("1.234.567", ",", ".", "1234567"), ("123,456,789.25", ".", ",", "123456789.25"), ("1585.", ".", "", "1585"),
    ])  # fmt: skip
def test_a_number_is_read_with_the_marks_that_were_said(cell: str, decimal: str, thousands: str, value: str) -> None:
    assert read(cell, decimal, thousands).value == Decimal(value)


@for_each("cell, decimal, thousands", [
        ("1.5", ",", ""), ("1,5", ".", ""), ("1,5", ".", ","), ("1.5", ",", "."), ("12,34", ".", ","), ("1,2345", ".", ","),
        ("1,234,5", ",", ""), ("1.234.5", ".", ""), ("1 23", ".", " "), ("1 234", ".", ""), ("1234,567.0", ".", ","),
        ("1,234.5", ",", "."), ("12.05.2004", ".", ","), ("10.0.0.7", ",", "."), ("1_000", ".", ""), ("0x10", ".", ""), ("٣", ".", ""),
        ("inf", ".", ""), ("1e9999", ".", ""), ("7TE6122]", ".", ""), ("5 - 3", ".", ""), ("--5", ".", ""), ("1.5.", ".", ""), ("fast", ".", ""),
    ])  # fmt: skip
def test_a_number_that_does_not_fit_the_marks_is_refused(cell: str, decimal: str, thousands: str) -> None:
    with pytest.raises(CellError):
        read(cell, decimal, thousands)


@for_each("numbers, decimal", [
        (["1,5"], (",",)), (["1.5"], (".",)), (["1,234"], (".", ",")), (["1.234"], (".", ",")), (["1,234", "2,5"], (",",)),
        (["1,234", "2.5"], (".",)), (["1.234", "2,5"], (",",)), (["1,234,567"], (".",)), (["1.234.567"], (",",)),
        (["1,234", "1,234,567"], (".",)), (["0,234"], (",",)), (["1234,567"], (",",)), (["1,234.5"], (".",)),
        (["1.234,5"], (",",)), (["1,5", "2.5"], ()), (["1,234.5", "1.234,5"], ()), (["1,5", "1,234,567"], ()),
        (["1234"], (".",)), (["1,234", "1.234"], (".", ",")), (["2,0 – 2,6"], (",",)), (["1,5 / 2,5"], (",",)),
        (["1 234,567"], (",",)), (["100", "N.A."], (".",)),
    ])  # fmt: skip
def test_the_decimal_mark_is_what_the_numbers_prove(numbers: list[str], decimal: tuple[str, ...]) -> None:
    marks = Marks()
    for number in numbers:
        marks.add_cell(number)
    assert marks.candidates() == decimal


@pytest.mark.parametrize(
    ("cell", "low", "high", "quality"),
    [
        ("2.0 – 2.6", "2.0", "2.6", ""), ("8.1-8.2", "8.1", "8.2", ""), ("~ 2 - 3", "2", "3", "approximate"),
        ("> 32768", "32768", None, "lower_bound"), (">=5", "5", None, "lower_bound"), ("< 5", None, "5", ""),
    ],
)  # fmt: skip
def test_a_range_or_bound_is_kept_as_bounds(cell: str, low: str | None, high: str | None, quality: str) -> None:
    found = read(cell, ".", "")
    assert found.value is None
    assert (found.low, found.high) == (low and Decimal(low), high and Decimal(high))
    assert found.quality == quality


def test_an_approximate_number_says_so() -> None:
    found = read("~ 300", ".", "")
    assert (found.value, found.quality) == (300, "approximate")


def test_a_spread_stays_as_it_was_printed() -> None:
    found = read("12.5 ± 0.3", ".", "")
    assert (found.value, found.note) == (Decimal("12.5"), "± 0.3 as printed")


@pytest.mark.parametrize("cell", ["N.A.", "n/a", "-", "–", "", "+++++", "*****", "?", "NaN"])
def test_a_missing_value_has_a_reason_and_is_no_zero(cell: str) -> None:
    found = read(cell, ".", "")
    assert found.value is None
    assert found.missing_reason


def test_a_real_zero_is_a_value() -> None:
    assert read("0.00", ".", "").value == 0


def test_a_unit_in_the_cell_is_kept() -> None:
    assert read("12.5 MB/s", ".", "").unit == "MB/s"


@pytest.mark.parametrize("text", ["12.05.2004", "10.0.0.7", "/dev/sda", "2.4.21-9", "x" * 300, "1" * 300])
def test_what_no_marks_make_a_number_is_no_value(text: str) -> None:
    assert not is_value(text)


@given(
    st.text(alphabet="0123456789.,' -+e~<>±/%x\u202f", max_size=30), st.sampled_from(".,"), st.sampled_from(THOUSANDS)
)
def test_a_cell_is_read_or_refused_and_nothing_else(cell: str, decimal: str, thousands: str) -> None:
    Marks().add_cell(cell)
    is_value(cell)
    try:
        found = read(cell, decimal, thousands)
    except CellError:
        return
    assert found.value is not None or found.low is not None or found.high is not None or found.missing_reason


@pytest.mark.parametrize("cell", ["**68.0** ✓", "68.0 ✅", "68.0 ✔\ufe0f"])
def test_what_praises_a_value_is_no_part_of_it(cell: str) -> None:
    assert is_value(cell)
    assert read(cell, ".", "").value == Decimal("68.0")


@pytest.mark.parametrize("cell", ["✓", "✅", "68.0x ✓ 2"])
def test_praise_alone_is_no_value(cell: str) -> None:
    assert not is_value(cell)
