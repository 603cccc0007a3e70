"""Seed 002: the SAN took 270 MB/s in the chain, and 160 as a stripe of two volumes by itself."""

from apps.comparison.caveats.part_vs_chain import RULE
from apps.comparison.compare import compare
from apps.comparison.question import Question
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import reading

PART, NETWORK, CHAIN = {"part_of": "san"}, {"part_of": "san"}, {"chain": "san"}


def found(chain: float) -> list[str]:
    readings = [
        reading(1, 80e6, "one volume", facts=PART | {"label": "stripe"}),
        reading(2, 160e6, "stripe", facts=PART),
        reading(3, 875e6, "network", facts=NETWORK),
        reading(4, chain, "250 jobs", facts=CHAIN),
    ]
    caveats = compare(readings, Question()).caveats
    return [plain(line) for one in caveats if one.rule == RULE.name for line in one.arithmetic]


def test_infns_chain_writes_faster_than_its_narrowest_part() -> None:
    assert found(270e6) == ["250 jobs: 250 jobs is faster than stripe by itself: 270 MB/s ÷ 160 MB/s = 1.69 ×"]


def test_a_chain_as_fast_as_its_narrowest_part_is_silent() -> None:
    assert not found(160e6)
    assert not found(30e6)


def test_runs_that_belong_to_no_chain_are_silent() -> None:
    readings = [reading(1, 1e6, "slow"), reading(2, 1e9, "fast")]
    assert RULE.name not in {one.rule for one in compare(readings, Question()).caveats}
