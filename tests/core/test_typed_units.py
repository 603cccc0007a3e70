"""Quantities as people type them: read exactly, or refused with what was found and what was expected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.units import AmbiguousError, parse, typed
from tests.sampling import for_each


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("250 GB", "B", 250_000_000_000),
        ("4 MiB", "B", 4_194_304),
        ("1.5 GiB", "B", 1_610_612_736),
        ("250 055 491 584 B", "B", 250_055_491_584),
        ("2 Gb/s", "bit/s", 2_000_000_000),
        ("100 Mbit/s", "bit/s", 100_000_000),
        ("200 MB/s", "B/s", 200_000_000),
        ("7200", "", 7200),
        ("10 000", "", 10_000),
    ],
)
def test_what_is_clear_is_read(text: str, unit: str, value: int) -> None:
    assert parse(text, unit) == value


@for_each(
    "text, unit, why",
    [
        ("250", "B", "the unit is missing"),
        ("64 KB", "B", "1000-based to some and 1024-based to others"),
        ("64K", "B", "1000-based to some and 1024-based to others"),
        ("250 Gb", "B", "b stands for bits"),
        ("10 GB/s", "bit/s", "B stands for bytes"),
        ("1,5 GB", "B", "write a point before decimals"),
        ("0.3 B", "B", "no whole number of B"),
        ("7200 rpm", "", "it has no unit"),
        ("-4 GB", "B", "expected 250 GB or 4 MiB"),
        ("", "B", "expected 250 GB or 4 MiB"),
    ],
)
def test_what_is_ambiguous_is_refused_in_words(text: str, unit: str, why: str) -> None:
    with pytest.raises(AmbiguousError, match=why) as refused:
        parse(text, unit)
    assert f"found {text!r}" in str(refused.value)


@given(st.integers(0, 2**63 - 1), st.sampled_from(["B", "B/s", "bit/s", ""]))
def test_what_is_shown_for_editing_reads_back_as_the_same(value: int, unit: str) -> None:
    assert parse(typed(value, unit), unit) == value


def test_the_shortest_spelling_is_shown() -> None:
    assert [typed(value, "B") for value in (262144, 250 * 10**9, 0)] == ["256 KiB", "250 GB", "0 B"]
    assert typed(None, "B") == ""
