"""Many numbers at once are the texts of one by one, whatever they are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.lib import many_numbers, units

ODD = [
    0.0,
    -0.0,
    -5.5,
    1e-300,
    5e-324,
    1e300,
    1e15,
    1e16,
    999.0,
    999.4999,
    999.5,
    1000.0,
    99.95,
    99.949999,
    9.995,
    1.005,
    2.675,
]
POWERS = [10.0**power for power in range(-12, 18)]
BESIDE = [math.nextafter(value, way) for value in POWERS for way in (0, math.inf)]
EIGHTHS = [whole / 8 for whole in range(1, 9000)]  # many lie in the very middle between two of three digits


def alone(value: float) -> str:
    """Twelve digits of a value as Python itself writes them; in full where that would need an exponent."""
    return units.exact(float(f"{value:.12g}") if 1e-4 <= value < 1e12 else value)


def test_odd_ones() -> None:
    values = [*ODD, *POWERS, *BESIDE, *EIGHTHS]
    assert many_numbers.significant(np.array(values)) == [units.significant(value) for value in values]
    assert many_numbers.exact(np.array(values)) == [alone(value) for value in values]


def test_what_is_no_number_is_an_empty_text() -> None:
    values = np.array([math.nan, 1.5, math.nan, math.inf])
    assert many_numbers.significant(values) == ["", "1.50", "", "inf"]
    assert many_numbers.exact(values) == ["", "1.5", "", "inf"]
    assert many_numbers.significant(np.array([])) == many_numbers.exact(np.array([])) == []


@given(st.lists(st.floats(allow_nan=False), max_size=50))
def test_any_floats(values: list[float]) -> None:
    found = np.array(values, dtype=float)
    assert many_numbers.significant(found) == [units.significant(value) for value in values]
    assert many_numbers.exact(found) == [alone(value) for value in values]


@pytest.mark.parametrize("digits", range(1, 14))
def test_many_of_every_size(digits: int) -> None:
    drawn = np.random.default_rng(digits)
    values = np.round(10 ** drawn.uniform(-6, 15, 20_000), digits)
    assert many_numbers.significant(values) == [units.significant(value) for value in values.tolist()]
    assert many_numbers.exact(values) == [alone(value) for value in values.tolist()]
