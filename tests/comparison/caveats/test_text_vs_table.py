"""Seed 003: "413 GB/s" for 423197 K/sec. Seed 000: "almost 120" for 119652.4 Kbyte/s. Seed 002: jobs of slide and table.

That the three fire as they are loaded is in test_on_reports.py.
"""

from typing import Any

from apps.comparison.caveats.text_vs_table import RULE, beside_a_row, quoted
from apps.comparison.compare import compare
from apps.comparison.question import Question
from apps.comparison.readings import Quote, Reading
from apps.core.quantities import written
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, reading

KIB = 1024.0
REWRITE = 423_197 * KIB  # dtn, bonnie++
INFN = {"study": "infn-10ge-chain"}
RAID0 = 119_652.4 * KIB  # CRS4, SCSI RAID 0, 8000 MB


def said(one: Reading) -> str:
    return plain(written(quoted(one) or ""))


def with_quote(value: float, printed: str, quote: Quote, **more: Any) -> Reading:
    return reading(1, value, origin="published", printed=printed, quotes=(quote,), **more)


def test_dtns_413_gigabytes_are_423197_kilobytes() -> None:
    quote = Quote("413 GB/s", 413, "GB/s", 0.5, "98")
    assert said(with_quote(REWRITE, "423197 K/sec", quote)) == (
        "text “413 GB/s”, line 98, table “423197 K/sec”: 413 GB/s ÷ 433 MB/s = 953 ×; it fits where the unit means MiB/s"
    )


def test_crs4s_megabyte_is_1000_kilobytes_of_1024_and_no_unit_means_that() -> None:
    quote = Quote("quasi 120 MB/sec", 120, "MB/sec", 1)
    assert said(with_quote(RAID0, "119652.4 Kbyte/sec", quote)) == (
        "text “quasi 120 MB/sec”, table “119652.4 Kbyte/sec”: 120 MB/s ÷ 123 MB/s = 0.979 ×; "
        "it fits where the unit means MB/s of 1000 KiB"
    )


def test_infns_table_has_other_jobs_than_its_slide() -> None:
    quote = Quote("200 job", 200, "", 0.5, "207", take="threads")
    assert said(with_quote(270e6, "270 MB/s", quote, threads=300)) == (
        "text “200 job”, line 207, table threads 300: 200 ÷ 300 = 0.667 ×"
    )
    assert not said(with_quote(270e6, "270 MB/s", quote, threads=200))


def test_a_figure_that_fits_in_either_base_or_in_bytes_agrees() -> None:
    """dtn's 1.28 GB/s and 1.09 GB/s are GiB; Thumper's 1.4 Gb/s are gigabytes, of which unit_mismatch speaks."""
    for value, number, unit, within in (
        (10_737_418_240 / 7.78806, 1.28, "GB/s", 0.005), (1_139_579 * KIB, 1.09, "GB/s", 0.005),
        (1_418_609.94 * KIB, 1.4, "Gb/s", 0.05), (44_391.4 * KIB, 44, "MB/sec", 1),
    ):  # fmt: skip
        assert not said(with_quote(value, "x", Quote("x", number, unit, within)))


def test_a_quote_of_what_the_sample_does_not_have_is_silent() -> None:
    assert not said(with_quote(1e6, "x", Quote("5 job", 5, "", 0.5, take="threads")))
    assert quoted(reading(1, None, quotes=(Quote("1 GB/s", 1, "GB/s", 0.5),))) is None


def text(value: float, printed: str, **more: Any) -> Reading:
    return reading(2, value, origin="published", quality="read_from_text", printed=printed, **more)


def table(value: float, printed: str, **more: Any) -> Reading:
    return reading(1, value, origin="published", printed=printed, **more)


def test_a_sample_read_from_the_text_is_held_against_the_row_of_the_same() -> None:
    found = beside_a_row([table(REWRITE, "423197 K/sec"), text(413e9, "413 GB/s")])
    assert plain(written(found or "")) == (
        "text “413 GB/s”, table “423197 K/sec”: 413 GB/s ÷ 433 MB/s = 953 ×; it fits where the unit means MiB/s"
    )


def test_infns_prose_about_other_configurations_is_silent() -> None:
    """80 MB/s of one volume and 160 of two stand in the text; the NAS's 200 is a row. All wrote files of 10 GB."""
    readings = [
        text(80e6, "80 MB/s", facts={"label": "SAN, one volume", "host": "server-san", **INFN}),
        text(160e6, "160 MB/s", facts={"label": "SAN, stripe of two", "host": "server-san", **INFN}),
        table(200e6, "200 MB/s", facts={"label": "NAS, stripe of five", "host": "server-nas", **INFN}),
    ]
    assert beside_a_row(readings) is None
    pooled = compare(readings, Question(series=("study",)))
    assert RULE.name not in {one.rule for one in pooled.caveats}


def test_another_point_operation_or_fact_is_another_thing() -> None:
    row = table(REWRITE, "423197 K/sec", block_size=4096, facts={"kernel": "2.6.7"})
    assert beside_a_row([row, text(413e9, "413 GB/s")])  # what is not said does not differ
    assert not beside_a_row([row, text(413e9, "413 GB/s", file_size=2 * GIB)])
    assert not beside_a_row([row, text(413e9, "413 GB/s", block_size=8192)])
    assert not beside_a_row([row, text(413e9, "413 GB/s", operation="read")])
    assert not beside_a_row([row, text(413e9, "413 GB/s", facts={"kernel": "2.4.21"})])


def test_figures_that_round_to_each_other_are_silent() -> None:
    assert beside_a_row([table(20e6, "20 MB/s"), text(20e6, "~20 MB/s")]) is None
    assert beside_a_row([table(1_378_702_557.5, "1.4 GB/s"), text(1.4e9, "1.4 GB/s")]) is None


def test_a_text_alone_a_table_alone_and_own_runs_are_silent() -> None:
    assert beside_a_row([text(413e9, "413 GB/s")]) is None
    assert beside_a_row([table(1e6, "1 MB/s"), table(2e6, "2 MB/s")]) is None
    assert beside_a_row([reading(1, 1e6), reading(2, 9e6, quality="read_from_text")]) is None
