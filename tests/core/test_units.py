"""People's units: three digits, the base always said, the exact value at hand."""

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from apps.core import units
from tests.sampling import for_each

T, N = units.THIN, units.NO_BREAK


@for_each(
    "value, unit, base, text",
    [
        (181_715_456, "B/s", 1000, f"182{N}MB/s"),
        (181_715_456, "B/s", 1024, f"173{N}MiB/s"),
        (999_999, "B/s", 1000, f"1.00{N}MB/s"),
        (1023.9, "B/s", 1000, f"1.02{N}kB/s"),
        (0, "B/s", 1000, f"0{N}B/s"),
        (12_345, "ns", 1000, f"12.3{N}µs"),
        (3_500_000_000, "ns", 1000, f"3.50{N}s"),
        (184_532.2, "1/s", 1000, f"185{N}k/s"),
        (1.3, "fraction", 1000, f"130{N}%"),
        (0.0042, "fraction", 1000, f"0.420{N}%"),
        (-5_000_000, "B/s", 1000, f"−5.00{N}MB/s"),
        (None, "B/s", 1000, "–"),
    ],
)
def test_a_value_has_three_digits_and_says_its_base(value: float, unit: str, base: int, text: str) -> None:
    assert units.human(value, unit, base) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 << 30, f"1{N}GiB"),
        (104_857_600, f"100{N}MiB"),
        (250_000_000_000, f"250{N}GB"),
        (4096, f"4{N}KiB"),
        (512, f"512{N}B"),
        (123_456_789, f"118{N}MiB"),
        (None, "–"),
    ],
)
def test_a_size_is_told_in_the_base_that_divides_it(value: int, text: str) -> None:
    assert units.size(value) == text


def test_a_column_shares_the_unit_of_its_middle_value() -> None:
    column = units.unit_for([7.6e6, None, 3.2e8, 2.9e8], "B/s")
    assert (column.factor, column.label) == (1e6, "MB/s")
    assert [column.text(value) for value in (7.6e6, None, 3.2e8, 1.2345e10)] == ["7.60", "–", "320", f"12{T}345"]


def test_an_empty_column_keeps_the_base_unit() -> None:
    assert units.unit_for([None, 0], "ns").label == "ns"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (172.01571475690156, "172.015714757"),
        (150.0, "150"),
        (25_530_253.512345678, f"25{T}530{T}253.5123"),
        (1e-4, "0.0001"),
        (1.5e-7, "1.5e−07"),
        (0.0, "0"),
        (1e12, f"1{T}000{T}000{T}000{T}000"),
    ],
)
def test_a_measured_value_has_twelve_digits_unless_they_need_an_exponent(value: float, text: str) -> None:
    assert units.twelve_digits(value) == text


def test_the_exact_value_keeps_all_digits() -> None:
    assert units.exact(181_715_456.0, "B/s") == f"181{T}715{T}456{N}B/s"
    assert units.exact(184_532.25, "1/s") == f"184{T}532.25{N}1/s"
    assert units.exact(0.735, "fraction") == "0.735"


def test_for_machines_nothing_is_rounded_or_separated() -> None:
    assert units.machine(181_715_456.0) == "181715456"
    assert units.machine(0.1 + 0.2) == "0.30000000000000004"
    assert units.machine(None) == ""
    assert units.machine(2**53 + 1) == "9007199254740993", "a whole number has all its digits"


def test_unknown_units_and_bases_are_named() -> None:
    with pytest.raises(ValueError, match="Unknown unit 'KB/s', expected one of: B/s, B"):
        units.human(1, "KB/s")
    with pytest.raises(ValueError, match="Unknown base 10"):
        units.human(1, "B/s", 10)


def test_the_filters_write_what_the_module_writes() -> None:
    template = Template(
        "{{ ram|bytes }}|{{ v|rate }}|{{ v|rate:1024 }}|{{ ns|duration_ns }}|"
        "{{ v|metric_value:'B/s' }}|{{ v|exact:'B/s' }}|{{ n|count }}|{{ none|bytes }}"
    )
    text = template.render(Context({"ram": 1 << 30, "v": 181_715_456, "ns": 12_345, "n": 12_345, "none": None}))
    assert text == (
        f"1{N}GiB|182{N}MB/s|173{N}MiB/s|12.3{N}µs|182{N}MB/s|181{T}715{T}456{N}B/s = "
        f"181.7{N}MB/s = 173.3{N}MiB/s|12{T}345|–"
    )


@given(st.floats(min_value=1e-6, max_value=1e18), st.sampled_from([1000, 1024]))
def test_what_people_read_is_the_value_to_half_a_percent(value: float, base: int) -> None:
    number, label = units.human(value, "B/s", base).split(N)
    factor = next(step.factor for step in units._ladder("B/s", base) if step.label == label)
    assert float(number.replace(T, "")) * factor == pytest.approx(value, rel=0.0051)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_for_machines_the_value_comes_back_exactly(value: float) -> None:
    assert float(units.machine(value)) == value


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (122_480_000, "B/s", "122 480 000 B/s = 122.5 MB/s = 116.8 MiB/s"),
        (1024**3, "B", "1 073 741 824 B = 1.074 GB = 1.000 GiB"),
        (12, "B/s", "12 B/s"),
        (5000, "ns", "5 000 ns"),
        (None, "B/s", "–"),
    ],
)
def test_who_points_at_bytes_reads_them_in_both_bases(value: float | None, unit: str, text: str) -> None:
    assert units.in_both_bases(value, unit).replace("\u202f", " ").replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"), (0, f"0{N}s"), (0.4, f"0{N}s"), (95.2, f"1{N}min 35{N}s"), (59.5, f"1{N}min"), (3600, f"1{N}h"),
        (3605, f"1{N}h 5{N}s"), (100_000, f"27{N}h 46{N}min"),
    ],
)  # fmt: skip
def test_a_time_that_passed_is_told_in_its_two_largest_parts(seconds, text):
    assert units.elapsed(seconds) == text
