"""dd's speeds as benchmark scripts show them."""

import pytest

from apps.parsers.core.models import ParseError
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import scripts
from tests.parsers.every import faults

BENCH = """\
 Virtualization     : KVM
----------------------------------------------------------------------
 I/O Speed(1st run) : 252 MB/s
 I/O Speed(2nd run) : 1.1 GB/s
 I/O Speed(3rd run) : 980 kB/s
 I/O Speed(average) : 459.8 MB/s
----------------------------------------------------------------------
"""
NENCH = """\
 nench.sh v2019.07.20 -- https://git.io/nench.sh

ioping: seek rate
    min/avg/max/mdev = 58.8 us / 73.4 us / 3.38 ms / 27.6 us
ioping: sequential read speed
    generated 20.4 k requests in 5.00 s, 4.97 GiB, 4.07 k iops, 1017.5 MiB/s

dd: sequential write speed
    1st run:    858.31 MiB/s
    2nd run:    1144.41 MiB/s
    3rd run:    1140.00 MiB/s
    average:    1047.57 MiB/s
"""


def speeds(text: str) -> list[tuple[int | None, float | None]]:
    source = SourceText(text)
    parsed = scripts.parse(source)
    assert not faults(parsed, source)
    return [(sample.line, sample.value) for run in parsed.runs for sample in run.samples]


def test_bench_shows_what_dd_printed_in_decimal_units() -> None:
    assert speeds(BENCH) == [(3, 252e6), (4, 1.1e9), (5, 980e3)]
    older = BENCH.replace("I/O Speed(1st run) :", "I/O speed(1st run)   :")
    assert speeds(older) == speeds(BENCH)


def test_nench_counts_in_mib_and_its_ioping_stays() -> None:
    assert speeds(NENCH) == [(9, 858.31 * 2**20), (10, 1144.41 * 2**20), (11, 1140 * 2**20)]
    assert {one.format.name for one in recognise(SourceText(NENCH))} == {"ioping", "dd in scripts"}


def test_a_run_without_its_speed_is_told() -> None:
    parsed = scripts.parse(SourceText(BENCH.replace("1.1 GB/s", "No space left on device")))
    assert len(parsed.runs) == 2
    assert [(one.line, one.found) for one in parsed.broken] == [(4, "No space left on device")]


@pytest.mark.parametrize("text", ["", "    1st run:    858.31 MiB/s\n", BENCH.partition("KVM")[0]])
def test_other_texts_are_none(text: str) -> None:
    assert scripts.looks_like(SourceText(text)) == 0
    with pytest.raises(ParseError):
        scripts.parse(SourceText(text))
