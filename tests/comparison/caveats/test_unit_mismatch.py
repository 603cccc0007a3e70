"""Seed 003: "413 GB/s" for 423197 K/sec, and dd beside bonnie++. Seed 001: Gb/s for bytes."""

from apps.comparison.caveats.printed_units import printed_rate
from apps.comparison.caveats.unit_mismatch import RULE, check
from apps.comparison.compare import compare
from apps.comparison.question import Question
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, reading
from tests.sampling import for_each


def test_413_gb_a_second_are_megabytes() -> None:
    found = plain(check(reading(1, 423_197 * 1024.0, operation="rewrite", printed="413 GB/s")))
    assert found == (
        "printed 413 GB/s would be 413 GB/s or 413 GiB/s; the value 433 353 728 B/s is 0.00105 × that; it fits MiB/s"
    )


def test_thumpers_gb_is_a_byte() -> None:
    found = plain(check(reading(1, 2.5e9, printed="2.5 Gb/s")))
    assert found.startswith("printed 2.5 Gb/s would be 312 MB/s; the value 2 500 000 000 B/s is 8.00 × that")
    assert "it fits GB/s of 1 000 000 000 bytes" in found


def test_dds_math_is_right_in_the_base_that_it_prints() -> None:
    """The author calls 1.4 GB/s wrong, because 10 GB / 7.78806 s = 1.28: that is GiB."""
    one = reading(1, 10_737_418_240 / 7.78806, file_size=10 * GIB, printed="1.4 GB/s", beside={"elapsed": 7.78806e9})
    assert check(one) is None


def test_a_rate_that_is_not_bytes_by_seconds_shows_both() -> None:
    one = reading(1, 10_737_418_240 / 7.78806, file_size=10 * GIB, printed="1.7 GB/s", beside={"elapsed": 7.78806e9})
    assert "10 737 418 240 B ÷ 7.78806 s = 1 378 702 558 B/s" in plain(check(one))


@for_each("printed, value", [
        ("423197 K/sec", 423_197 * 1024.0), ("177456.5 Kbyte/sec", 177_456.5 * 1024), ("281514434 bytes/sec", 281_514_434.0),
        ("495 MB/s", 495_327_771.781), ("~8 Gbs", 1e9), ("1,4 GB/s", 1.4e9), ("12.5 MiB/s", 12.5 * 2**20),
        ("no rate at all", 1.0), ("104857600 bytes, 1.2 s", 1.0), ("", 1.0),
    ])  # fmt: skip
def test_figures_that_are_what_they_say_are_silent(printed: str, value: float) -> None:
    assert check(reading(1, value, printed=printed)) is None


def test_dd_and_bonnie_on_one_page_count_differently() -> None:
    dd = reading(1, 1_378_702_557.5, "dd", printed="1.4 GB/s")
    dsync = reading(2, 495_327_771.8, "dd dsync", printed="495 MB/s")
    bonnie = reading(3, 1_166_928_896.0, "bonnie++", printed="1139579 K/sec")
    (found,) = [one for one in compare([dd, dsync, bonnie], Question()).caveats if one.rule == RULE.name]
    assert found.arithmetic == (
        "all series: printed units that look alike: GB/s, MB/s count 1000; K/sec count 1024; here all are in one base",
    )


def test_one_base_and_units_that_name_theirs_are_silent() -> None:
    same = [reading(n, 1e6 * n, "ab"[n % 2], printed=f"{n} MB/s") for n in (100, 200)]
    named = reading(3, 100 * 2.0**20, "c", printed="100 MiB/s")
    assert RULE.name not in {one.rule for one in compare([*same, named], Question()).caveats}


def test_a_figure_with_two_points_is_no_number() -> None:
    assert printed_rate("1.234.5 MB/s") is None
