"""Texts that are made shorter end after a whole word; estimated times are no finer than an estimate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.text import shorten
from apps.core.units import about


@given(st.text(max_size=60), st.integers(2, 50))
def test_a_text_is_never_longer_than_asked(text: str, most: int) -> None:
    found = shorten(text, most)
    assert len(found) <= most
    assert found == text if len(text) <= most else found.endswith("…")


def test_it_ends_after_a_word() -> None:
    assert shorten("the directory is not mounted", 20) == "the directory is…"
    assert shorten("the directory is not mounted", 17) == "the directory is…"
    assert shorten("the directory, is not mounted", 16) == "the directory…"
    assert shorten("/a/very/long/path/without/blanks", 10) == "/a/very/l…"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "–"), (0, "0 s"), (1, "5 s"), (43, "45 s"), (59, "1 min"), (94, "1 min 30 s"), (2134, "36 min"),
     (19_230, "5 h 20 min"), (60_100, "16 h 40 min")],
)  # fmt: skip
def test_an_estimate_is_told_in_round_numbers(seconds: float | None, words: str) -> None:
    assert about(seconds).replace("\u00a0", " ") == words
