"""Seed 000: for one file size every configuration in turn, then start again (lines 107 to 113), ten times.

The report prints the means of the ten and no times, so nothing in it can fire: these are its three configurations of that
sentence with their means at 100 MB (block writes), in the order that it took and in the one that it avoided.
"""

from apps.comparison.caveats.not_interleaved import RULE, find
from apps.comparison.compare import compare
from apps.comparison.question import Question
from tests.comparison.caveats.machines import at
from tests.comparison.factories import MIB, reading

SIZE = 100 * MIB
MEANS = {"single SATA": 316_099.9 * 1024, "SATA raid0": 328_425.9 * 1024, "SATA raid1": 304_573.5 * 1024}
SERIES = tuple(MEANS)


def test_one_configuration_after_another_is_said_with_its_times() -> None:
    cells = {
        (SIZE, series): [reading(10 * place + n, MEANS[series], series, evidence=at(60 * place + n)) for n in range(10)]
        for place, series in enumerate(SERIES[:2])
    }
    found = find(cells)
    assert set(found) == set(cells)
    assert found[SIZE, "single SATA"] == (
        "single SATA 10 runs 2026-03-02 12:00 to 12:09, then SATA raid0 10 runs 2026-03-02 13:00 to 13:09: "
        "none of one between two of the other"
    )


def test_crs4s_order_is_silent() -> None:
    turns = [(turn, place, series) for turn in range(10) for place, series in enumerate(SERIES)]
    readings = [
        reading(n, MEANS[series], series, file_size=SIZE, evidence=at(3 * turn + place))
        for n, (turn, place, series) in enumerate(turns)
    ]
    assert RULE.name not in {one.rule for one in compare(readings, Question()).caveats}


def test_without_times_and_with_single_runs_there_is_nothing_to_say() -> None:
    assert not find({(SIZE, series): [reading(1, 1.0, series)] * 3 for series in SERIES})
    assert not find({(SIZE, s): [reading(n, 1.0, s, evidence=at(n))] for n, s in enumerate(SERIES)})
