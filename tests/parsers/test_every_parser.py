"""Every parser against every bent text: it gives back what is sound or raises `ParseError`, and takes its time never.

A format is known by what it calls its own among `seeds.TEXTS` and the fixtures; a new parser is here by itself.
"""

from itertools import product

import pytest

from apps.parsers.core.registry import LEAST, Format, formats, recognise
from apps.parsers.core.source_text import SourceText
from tests.parsers.every import faults, timed, tried
from tests.parsers.hostile import BENDS, SIZE, SLOWEST_S, bent
from tests.parsers.seeds import TEXTS, seeds
from tests.sampling import IS_LONG, for_each

FORMATS = [one for one in formats() if not one.is_asked_for]  # those are fio logs, which are tried themselves
NOBODYS = {
    "nothing": b"", "one line feed": b"\n", "blanks": b" " * SIZE, "line feeds": b"\n" * SIZE, "one word": b"a" * SIZE,
    "digits": b"1" * SIZE, "numbers": b"1 " * (SIZE // 2), "commas": b"," * SIZE, "zeros": bytes(SIZE), "braces": b"{" * SIZE,
    "objects": b"{}\n" * (SIZE // 3), "brackets": b"[" * SIZE, "quotes": b'"' * SIZE, "noise": bytes(range(256)) * (SIZE // 256),
    "dashes": b"-" * SIZE, "rows": b"1,2,3,4,5\n" * (SIZE // 10), "keys": b"a : b\n" * (SIZE // 6), "tabs": b"\t" * SIZE,
    "indented": b"  a\n" * (SIZE // 4), "a staircase": b"\n".join(b" " * depth + b"a" for depth in range(500)),
    "a prose": b"The quick brown fox jumps over 12 lazy dogs in 3.5 seconds.\n" * (SIZE // 61), "hashes": b"# \n" * (SIZE // 3),
    "semicolons": b"a;" * (SIZE // 2), "equals": b"a=1\n" * (SIZE // 4), "colons": b":" * SIZE, "pluses": b"+" * SIZE,
}  # fmt: skip


def assert_sound(one: Format, data: bytes) -> None:
    text = SourceText(data)
    assert text.lines is not None  # decoded once for all, as in an upload
    (parsed, score), seconds = timed(lambda: tried(one, text), SLOWEST_S)
    assert seconds < SLOWEST_S, f"{one.name} took {seconds:.1f} s for {len(data):,} bytes"
    assert 0 <= score <= 1
    assert parsed is None or not faults(parsed, text)


@for_each("one", FORMATS)
def test_every_format_has_a_text_that_it_calls_its_own_and_reads(one: Format) -> None:
    assert seeds(one), f"add a small text of {one.name} to tests/parsers/seeds.py"
    for data in seeds(one):
        assert_sound(one, data)


@pytest.mark.slow
@for_each("bend, one", product(BENDS, FORMATS), number=700)
def test_a_bent_text_gives_sound_results_or_an_error(one: Format, bend: str) -> None:
    for data in seeds(one)[: 2 if IS_LONG else 1]:
        assert_sound(one, bent(data, bend))


@pytest.mark.slow
@for_each("name", sorted(NOBODYS), number=3)
def test_a_text_of_no_format_is_passed_over_quickly(name: str) -> None:
    text = SourceText(NOBODYS[name])
    assert text.lines is not None
    for one in FORMATS:
        score, seconds = timed(lambda one=one: one.looks_like(text), SLOWEST_S / 2)  # type: ignore[misc]
        assert seconds < SLOWEST_S / 2, one.name
        assert score < LEAST or one.kind == "table", one.name
        assert_sound(one, NOBODYS[name])


@pytest.mark.slow
@for_each("name", sorted(TEXTS))
def test_the_texts_of_all_tools_in_one_file_are_all_read(name: str) -> None:
    """Each between all the others: whoever reads it alone reads it there too."""
    data = TEXTS[name].encode()
    alone = {r.format.name for r in recognise(SourceText(data)) if r.has_found and r.format.kind != "table"}
    before, behind = "\n\n".join(TEXTS.values()), "\n\n".join(reversed(TEXTS.values()))
    amid = {r.format.name for r in recognise(SourceText(f"{before}\n\n{TEXTS[name]}\n\n{behind}")) if r.has_found}
    assert alone <= amid


def test_every_format_says_its_name_and_reads_nothing_of_the_others_with_certainty() -> None:
    names = [one.name for one in FORMATS]
    assert len(set(names)) == len(names)
    assert all(one.title and one.name == one.name.strip() for one in FORMATS)
