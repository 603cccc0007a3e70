"""Seed 004: the apostrophes in dd's figures are the author's."""

from apps.comparison.caveats.transcribed import check
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading


def test_digits_that_somebody_wrote_by_hand_are_said() -> None:
    """An uploaded run that its parser marked with the label."""
    one = reading(
        1, 281_514_434.0, origin="uploaded", printed="281'514'434 bytes/sec", facts={"transcribed": "yes"}
    )  # fmt: skip
    assert plain(check(one)) == (
        "printed “281'514'434 bytes/sec”, read as 281 514 434 B/s (the digits are not as the tool prints them)"
    )


def test_a_tools_own_bytes_are_silent() -> None:
    for facts in ({}, {"transcribed": "no"}):
        assert check(reading(1, 281_514_434.0, origin="uploaded", printed="281514434 bytes/sec", facts=facts)) is None
