"""What scripts, agents and people send, as numbers and as JSON."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from apps.core.strict_json import DEEPEST, JsonInputError, read_json, to_json
from apps.core.text import LARGEST, whole_number
from tests.sampling import for_each


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("18", 18), (str(LARGEST), LARGEST)])
def test_whole_numbers_are_read(text: str, number: int) -> None:
    assert whole_number(text) == number


@for_each(
    "text",
    ["", "²", "١٢", "½", "1_000", " 1", "1 ", "+1", "-1", "1.0", "1e3", "0x1", str(LARGEST + 1), "9" * 5000, "\0"],
)
def test_what_only_python_takes_for_a_number_is_none(text: str) -> None:
    assert whole_number(text) is None


def test_bounds_count_and_a_sign_is_read_where_it_may_stand() -> None:
    assert whole_number("-5", least=-10) == -5
    assert whole_number("-11", least=-10) is None
    assert whole_number("--5", least=-10) is None
    assert whole_number("11", most=10) is None
    assert whole_number("0", most=-1) is None


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    "text", [b"{}", b"[1, 2.5, null, true]", nested(DEEPEST), b'{"a": "\\u00e9"}', b"[" + b"[]," * 500 + b"1]"]
)
def test_json_is_read(text: bytes) -> None:
    read_json(text)


@for_each(
    "text",
    [
        b"",
        b"{",
        b"NaN",
        b"Infinity",
        b'"\\ud800"',
        b'"\xff"',
        b"[1] 2",
        b"'a'",
        nested(DEEPEST + 1),
        nested(50_000),
        b"[1," * 50_000,
    ],
)
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(JsonInputError, match="expected"):
        read_json(text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (rb'"\u0000"', "the text"),
        (rb'{"jobs": [{"name": "a\u0000"}]}', r"jobs\.0\.name"),
        (rb'{"\u0000": 1}', "a name of the object"),
    ],
)
def test_nul_is_refused_where_it_stands(text: bytes, where: str) -> None:
    with pytest.raises(JsonInputError, match=f"NUL character .* in {where}"):
        read_json(text)


@pytest.mark.parametrize(("nul", "read"), [("\ufffd", {"a\ufffd": ["\ufffdb"]}), ("\0", {"a\0": ["\0b"]})])
def test_nul_of_a_machine_becomes_what_is_asked_for(nul: str, read: Any) -> None:
    assert read_json(rb'{"a\u0000": ["\u0000b"]}', nul=nul) == read


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert read_json(rb'"\\u0000"') == r"\u0000"


def test_a_number_beyond_64_bits_is_written_with_its_digits() -> None:
    """PostgreSQL gives 1e30 of a jsonb column back as a whole number."""
    data = {"at": datetime(2026, 1, 2, tzinfo=UTC), "huge": 10**30, 3: [Decimal("1.5")]}
    assert json.loads(to_json(data)) == {"at": "2026-01-02T00:00:00Z", "huge": 10**30, "3": ["1.5"]}
