"""Bonnie's and bonnie++'s readers on large and on hostile texts: time and memory grow with the text and no faster."""

import tracemalloc
from collections.abc import Callable

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.core.models import ParsedFile, ParseError
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import timed
from tests.parsers.hostile import SIZE, SLOWEST_S
from tests.parsers.legacy_texts import bonnie_text, bonniepp_text, plain_floats
from tests.sampling import for_each

MIB = 1024**2
Parser = Callable[[SourceText], ParsedFile]


def refused_or_read(parse: Parser, text: SourceText) -> ParsedFile | None:
    try:
        return parse(text)
    except ParseError:
        return None


def spent(parse: Parser, data: bytes) -> float:
    """The least CPU time of three readings."""
    return min(timed(lambda: parse(SourceText(data)))[1] for _ in range(3))


HOSTILE: dict[str, Callable[[int], str]] = {
    "commas": lambda size: "," * size,
    "csv of commas": lambda size: "1.97,1.97," + "," * size,
    "csv of numbers": lambda size: "1.97,1.97," + "1," * (size // 2),
    "starts of csv": lambda size: "1.97,1.97,a,1,1,4G,,\n" * (size // 21),
    "starts in one line": lambda size: "1.97,1.97, " * (size // 11),
    "old starts": lambda size: "a,4G,1,2,3,4,5,6,7,8\n" * (size // 21),
    "one digit": lambda size: "a,4G," + "9" * size,
    "headers": lambda size: "-Per Chr- -Create-- --Read\n" * (size // 27),
    "rows": lambda size: "-Per Chr-\n%CP\n" + "4G 1 1 1 1 1 1 1 1 1 1 1 1\n" * (size // 27),
    "rows cut": lambda size: "-Per Chr-\n%CP\n" + "4G 1 1 1 1 1\n" * (size // 14),
    "one row": lambda size: "-Per Chr-\n%CP\n4G" + " 1" * (size // 2),
    "small files": lambda size: "-Create-- --Read\n%CP\n" + "16 1 1 1 1 1 1 1 1 1 1 1 1\n" * (size // 27),
    "copied page": lambda size: "4G Per Char Block Rewrite Per Char Block\n" + "4G 1 1 1 1 1 1 1 1\n" * (size // 21),
    "prompts": lambda size: ("$" * 380 + "onnie\n-Per Chr-\n%CP\n4G 1 1 1 1 1 1 1 1 1 1 1 1\n") * (size // 430),
    "bonnie rows": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block---\n%CPU\n"
    + "1 1 1 1 1 1 1 1 1 1 1 1 1\n" * (size // 26),
    "bonnie headers": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block--- %CPU\n" * (size // 60),
    "bonnie dashes": lambda size: "-Rewrite- %CPU " + "-" * size,
    "bonnie stars": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block---\n%CPU\n1 " + "*" * size,
    "bonnie short": lambda size: "-Per Char- --Block--- -Rewrite-- -Per Char- --Block---\n%CPU\n" + "1 1 1 1 1\n" * (size // 10),
    "quotes": lambda size: "> " * (size // 2),
}  # fmt: skip


@for_each("case", HOSTILE, number=4)
def test_a_hostile_mebibyte_takes_less_than_two_seconds(case: str) -> None:
    text = SourceText(HOSTILE[case](SIZE))
    assert text.lines is not None  # decoded once for all, as in an upload
    for module in (bonniepp_format, bonnie_format):
        assert timed(lambda module=module: refused_or_read(module.parse, text), SLOWEST_S)[1] < SLOWEST_S  # type: ignore[misc]
        assert timed(lambda module=module: module.looks_like(text), SLOWEST_S)[1] < SLOWEST_S  # type: ignore[misc]


@pytest.mark.parametrize(("case", "parse"), [("rows", bonniepp_format.parse), ("bonnie rows", bonnie_format.parse)])
def test_memory_is_at_most_256_times_the_text(case: str, parse: Parser) -> None:
    size = MIB // 16
    text = SourceText(HOSTILE[case](size))
    tracemalloc.start()
    refused_or_read(parse, text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 * size


@pytest.mark.slow
@pytest.mark.parametrize("text", [bonniepp_text, bonnie_text])
def test_four_times_the_text_takes_about_four_times_as_long(text: Callable[[int], bytes]) -> None:
    parse = bonniepp_format.parse if text is bonniepp_text else bonnie_format.parse
    assert spent(parse, text(2000)) < 8 * spent(parse, text(500))


def test_the_generated_texts_hold_what_they_say() -> None:
    assert len(bonniepp_format.parse(SourceText(bonniepp_text(50))).runs) == 50
    assert len(bonniepp_format.parse(SourceText(bonniepp_text(50, with_tables=False))).runs) == 50
    assert len(bonnie_format.parse(SourceText(bonnie_text(50))).runs) == 50
    assert plain_floats(b"1,2\n3 x 4") == 10
