"""Sizes as people type them: one parser for forms, REST and imports."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from apps.core.quantities import SizeError, parse_size, spell_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4k", 4096), ("4K", 4096), (" 4 KiB ", 4096), ("10 GiB", 10 * 2**30), ("1.5m", 1572864), ("0.5k", 512),
        ("512", 512), ("512B", 512), ("2t", 2**41), ("0", 0),
    ],
)  # fmt: skip
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4KB", "1000 to some and 1024 to others"), ("1 MB", "1000 to some"), ("0.3k", "no whole number of bytes"),
        ("", "a size such as"), ("k", "a size such as"), ("-4k", "a size such as"), ("4,5k", "a size such as"),
        ("1e3", "a size such as"), ("٤k", "a size such as"), ("9" * 50, "a size such as"), ("4k 4k", "a size such as"),
        ("1p", "a size such as"),
    ],
)  # fmt: skip
def test_what_is_none_is_refused_with_found_and_expected(text: str, expected: str) -> None:
    with pytest.raises(SizeError) as refused:
        parse_size(text)
    assert refused.value.found == text
    assert expected in refused.value.expected


@given(some.integers(min_value=0, max_value=2**46))
def test_a_spelled_size_is_read_as_itself(size: int) -> None:
    assert parse_size(spell_size(size)) == size
