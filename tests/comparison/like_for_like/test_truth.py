"""Answers held against the truth of simulated labs: 40 of each kind, 1,000 in the long form.

The 95 % interval holds the truth in at least 93 of 100 labs, no effect is called one in at most 5, and a difference of
10 % at 3 % noise is found with five runs a side in at least 95. Limits allow for chance: three standard errors.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest

from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast, answer_factor, judge
from apps.comparison.questions import BY_NAME
from tests.comparison.like_for_like.simulated_labs import (
    EFFECTS,
    SimulatedLab,
    drifting,
    factorial,
    interacting,
    missing_facts,
    old_machine,
    unbalanced,
)

SEEDS = 1000 if os.environ.get("SPINDLE_LONG") == "1" else 40
MEASURE = ("write", "bandwidth")
HISTORIES: dict[str, tuple[Callable[[int], SimulatedLab], tuple[str, ...]]] = {
    "factorial": (factorial, ("raid_implementation", "raid_level", "filesystem")),
    "an old machine": (old_machine, ("raid_implementation", "raid_level", "filesystem")),
    "unbalanced years": (unbalanced, ("raid_implementation", "raid_level", "filesystem")),
    "missing facts": (missing_facts, ("raid_implementation", "filesystem")),
    "drift": (drifting, ("raid_implementation", "filesystem")),
    "interactions": (interacting, ("filesystem",)),
}
pytestmark = pytest.mark.slow


def answers_of(lab: SimulatedLab, factors: Sequence[str]) -> list[FactorAnswer]:
    groups = lab.groups()
    return judge([answer_factor(BY_NAME[name], groups, MEASURE) for name in factors])


def contrasts_of(make: Callable[[int], SimulatedLab], factors: Sequence[str]) -> Iterator[tuple[str, LevelContrast]]:
    for seed in range(SEEDS):
        for answer in answers_of(make(seed), factors):
            for contrast in answer.answered:
                yield answer.factor, contrast


def truth_of(factor: str, contrast: LevelContrast) -> float:
    return EFFECTS[factor][contrast.level] / EFFECTS[factor][contrast.against]


def least(share: float, of: int) -> float:
    """What at least `share` of so many may fall to by chance."""
    return share - 3 * math.sqrt(share * (1 - share) / of)


@pytest.mark.parametrize("name", HISTORIES)
def test_intervals_hold_the_truth_and_nothing_is_called_an_effect(name: str) -> None:
    make, factors = HISTORIES[name]
    held: Counter[str] = Counter()
    every: Counter[str] = Counter()
    false: Counter[str] = Counter()
    for factor, contrast in contrasts_of(make, factors):
        truth = truth_of(factor, contrast)
        low, high = contrast.interval or (0.0, 0.0)
        every[factor] += 1
        held[factor] += low <= truth <= high
        false[factor] += truth == 1 and contrast.finding == "effect"
    assert all(every[factor] >= SEEDS // 10 for factor in factors), every
    wrong = {factor: held[factor] / n for factor, n in every.items() if held[factor] / n < least(0.93, n)}
    assert not wrong
    assert not {factor: n for factor, n in false.items() if n / every[factor] > 1 - least(0.95, every[factor])}


@pytest.mark.parametrize("sets", [1, 2, 3, 4, 8])
def test_a_difference_of_ten_percent_is_found(sets: int) -> None:
    places = [(host, level, fs) for host in ("new", "third") for level in ("5", "0") for fs in ("ext4", "btrfs")][:sets]
    found = 0
    for seed in range(SEEDS):
        lab = SimulatedLab(seed, {**EFFECTS, "raid_implementation": {"hardware": 1.1, "software": 1.0}})
        for (host, level, filesystem), kind in [(place, kind) for place in places for kind in ("hardware", "software")]:
            lab.add(5, host=host, raid_level=level, filesystem=filesystem, raid_implementation=kind)
        (answer,) = answers_of(lab, ["raid_implementation"])
        (contrast,) = answer.contrasts
        assert contrast.combination is not None
        assert contrast.combination.sets == sets
        found += contrast.p_adjusted is not None and contrast.p_adjusted < 0.05
    assert found / SEEDS >= least(0.95, SEEDS)


def test_an_interaction_is_the_answer_and_not_the_mean() -> None:
    named = 0
    for seed in range(SEEDS):
        (answer,) = answers_of(interacting(seed), ["raid_implementation"])
        assert answer.finding == "depends"
        (contrast,) = answer.contrasts
        assert contrast.dependence is not None
        named += contrast.dependence.fact == "controller_cache"
        low, high = contrast.range
        assert 0.98 < low < 1.3
        assert 3.6 < high < 4.5
    assert named / SEEDS > 0.95


def test_an_interaction_without_a_recorded_cause_names_no_fact() -> None:
    """Every set has an effect of its own, and no fact tells which."""
    for seed in range(min(SEEDS, 40)):
        gains = [1.0, 1.6, 1.1, 2.2, 0.8, 1.4]
        lab = SimulatedLab(seed)
        for number, gain in enumerate(gains):
            place = {"host": "new", "raid_level": "5", "filesystem": "ext4", "shelf": f"shelf {number}"}
            lab.speed = lambda facts, _day, gain=gain: gain if facts["raid_implementation"] == "hardware" else 1.0
            for kind in ("hardware", "software"):
                lab.add(5, raid_implementation=kind, **place)
        (answer,) = answers_of(lab, ["raid_implementation"])
        assert answer.finding == "depends"
        dependence = answer.contrasts[0].dependence
        assert dependence is not None
        assert dependence.fact == ""


def test_pooling_the_same_lab_would_have_been_wrong() -> None:
    """The control: over all runs of the lab with the old machine software RAID looks twice as fast."""
    lab = old_machine(1)
    by_kind: dict[str, list[float]] = {"hardware": [], "software": []}
    for facts, value, _ in lab.runs:
        by_kind.get(facts["raid_implementation"], []).append(math.log(value))
    pooled = math.exp(
        sum(by_kind["software"]) / len(by_kind["software"]) - sum(by_kind["hardware"]) / len(by_kind["hardware"])
    )
    assert pooled > 1.6
    (answer,) = answers_of(lab, ["raid_implementation"])
    assert answer.contrasts[0].ratio == pytest.approx(1.0, abs=0.06)
