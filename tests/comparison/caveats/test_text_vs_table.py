"""Seed 003: "413 GB/s" for 423197 K/sec. Seed 000: "almost 120" for 119652.4 Kbyte/s. Seed 002: ~20 and 20."""

from typing import Any

from apps.comparison.caveats.text_vs_table import check
from apps.comparison.readings import Reading
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading


def text(value: float, printed: str) -> Reading:
    return reading(2, value, origin="published", quality="read_from_text", printed=printed)


def table(value: float, printed: str, **more: Any) -> Reading:
    return reading(1, value, origin="published", printed=printed, **more)


def test_dtns_413_gigabytes_are_423197_kilobytes() -> None:
    found = check([table(423_197 * 1024.0, "423197 K/sec"), text(413e9, "413 GB/s")])
    assert plain(found) == (
        "text “413 GB/s”, table “423197 K/sec”: 413 GB/s ÷ 433 MB/s = 953 ×; it fits where the unit means MiB/s"
    )


def test_crs4s_megabyte_is_1000_kilobytes_of_1024() -> None:
    found = check([table(119_652.4 * 1024, "119652.4 Kbyte/sec", quality="ocr_repaired"), text(120e6, "120 MB/sec")])
    assert plain(found).endswith("it fits where the unit means MB/s of 1000 KiB")


def test_figures_that_round_to_each_other_are_silent() -> None:
    assert check([table(20e6, "20 MB/s"), text(20e6, "~20 MB/s")]) is None
    assert check([table(1_378_702_557.5, "1.4 GB/s"), text(1.4e9, "1.4 GB/s")]) is None


def test_a_text_alone_a_table_alone_and_own_runs_are_silent() -> None:
    assert check([text(413e9, "413 GB/s")]) is None
    assert check([table(1e6, "1 MB/s"), table(2e6, "2 MB/s")]) is None
    assert check([reading(1, 1e6), reading(2, 9e6, quality="read_from_text")]) is None
