"""Lists and ranges as people type them."""

import pytest

from apps.plans.value_lists import FileSize, ValueListError, parse_file_sizes, parse_numbers, parse_sizes

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("16", [16]),
        ("1,2,4..256", [1, 2, 4, 8, 16, 32, 64, 128, 256]),
        ("1..100", [1, 2, 4, 8, 16, 32, 64, 100]),
        ("1,3..9", [1, 3, 5, 7, 9]),
        ("1,10..1000", [1, 10, 100, 1000]),
        (" 4 , 4, 8 ", [4, 8]),
    ],
)
def test_whole_numbers(text: str, values: list[int]) -> None:
    assert parse_numbers(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4k,64k..1m", [4 * KIB, 64 * KIB, MIB]),
        ("256k..1m", [256 * KIB, 512 * KIB, MIB]),
        ("100 MiB; 1g", [100 * MIB, GIB]),
    ],
)
def test_sizes(text: str, values: list[int]) -> None:
    assert parse_sizes(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1g, 4g", [FileSize(bytes=GIB), FileSize(bytes=4 * GIB)]),
        ("25%, 1x, 2 x RAM", [FileSize(ram_multiple=n) for n in (0.25, 1.0, 2.0)]),
        ("0.5 × RAM", [FileSize(ram_multiple=0.5)]),
    ],
)
def test_file_sizes(text: str, values: list[FileSize]) -> None:
    assert parse_file_sizes(text) == values


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (parse_numbers, ""), (parse_numbers, "1 2"), (parse_numbers, "8..2"), (parse_numbers, "1..2..3"),
        (parse_numbers, "0..8"), (parse_numbers, "-1"), (parse_numbers, "1,2..1000000"[:8] + "x"),
        (parse_numbers, "٣"), (parse_file_sizes, "٢x"), (parse_file_sizes, "9" * 400 + "x"),
        (parse_sizes, "4 GB"), (parse_sizes, "much"), (parse_file_sizes, "1g RAM"), (parse_file_sizes, "2x, 4g"),
    ],
)  # fmt: skip
def test_what_is_no_list_is_refused_with_what_was_expected(read, text: str) -> None:
    with pytest.raises(ValueListError, match=r"found .*, expected "):
        read(text)


def test_a_list_is_no_longer_than_a_plan_has_columns() -> None:
    with pytest.raises(ValueListError, match="at most 60"):
        parse_numbers("1,2,3..1000")
