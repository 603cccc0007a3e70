"""Files that fit into RAM against larger ones, held against the truth of simulated labs."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from apps.comparison.like_for_like.answers import FactorAnswer, answer_factor, judge
from apps.comparison.like_for_like.contrast_table import contrast_tables
from apps.comparison.questions import BY_NAME
from tests.comparison.like_for_like.simulated_labs import GIB, SimulatedLab
from tests.comparison.like_for_like.test_strata import ask, group, sets

FACTOR = BY_NAME["file_against_ram"]
BUFFERED = {"direct": 0, "sync": "none"}
GAIN = 3.0
SEEDS = 40


def speed(facts: Mapping[str, Any], _day: float) -> float:
    """Memory is three times as fast where the page cache is in the way; the old machine is slow (see EFFECTS)."""
    fits = facts["file_size"] <= facts["ram"]
    return GAIN if fits and not int(facts["direct"]) else 1.0


def answer_of(lab: SimulatedLab) -> FactorAnswer:
    (answer,) = judge([answer_factor(FACTOR, lab.groups(), ("write", "bandwidth"))])
    return answer


def history(seed: int, **how: Any) -> SimulatedLab:
    """Small files were measured mostly on the old machine, large ones mostly on the new one; both on each a few times."""
    lab = SimulatedLab(seed, speed=speed)
    place = {"raid_level": "5", "raid_implementation": "software", "filesystem": "ext4", **how}
    lab.add(20, host="old", file_size=GIB, **place)
    lab.add(4, host="old", file_size=16 * GIB, **place)
    lab.add(4, host="new", file_size=16 * GIB, **place)
    lab.add(20, host="new", file_size=256 * GIB, **place)
    return lab


@pytest.mark.slow
def test_the_interval_holds_the_gain_of_the_page_cache() -> None:
    held = 0
    for seed in range(SEEDS):
        (contrast,) = answer_of(history(seed, **BUFFERED)).contrasts
        assert (contrast.level, contrast.against, contrast.finding) == ("fits", "larger", "effect")
        low, high = contrast.interval or (0.0, 0.0)
        held += low <= GAIN <= high
    assert held / SEEDS >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / SEEDS)


@pytest.mark.slow
def test_direct_io_gains_nothing_though_small_files_ran_on_the_slow_machine() -> None:
    effects = 0
    for seed in range(SEEDS):
        lab = history(seed, direct=1, sync="direct")
        small = [math.log(value) for facts, value, _ in lab.runs if facts["file_size"] <= facts["ram"]]
        large = [math.log(value) for facts, value, _ in lab.runs if facts["file_size"] > facts["ram"]]
        assert math.exp(sum(small) / len(small) - sum(large) / len(large)) < 0.6  # pooled, it would look slower
        (contrast,) = answer_of(lab).contrasts
        assert contrast.ratio == pytest.approx(1, abs=0.1)
        effects += contrast.finding == "effect"
    assert effects / SEEDS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / SEEDS)


def test_with_and_without_the_page_cache_it_depends_on_that() -> None:
    lab = history(1, **BUFFERED)
    lab.runs += history(2, direct=1, sync="direct").runs
    answer = answer_of(lab)
    assert answer.finding == "depends"
    dependence = answer.contrasts[0].dependence
    assert dependence is not None
    assert dependence.fact in ("sync", "direct")


def test_a_side_has_files_of_one_size_those_farthest_from_the_ram_where_runs_are_enough() -> None:
    sizes = (GIB, 32 * GIB, 64 * GIB, 65 * GIB, 128 * GIB, 512 * GIB)
    groups = [group(mean=number, file_size=size, n=5) for number, size in enumerate(sizes)]
    (effect,) = ask("file_against_ram", *groups).contrasts[0].effects
    assert effect.n == (5, 5)
    assert effect.ratio == pytest.approx(math.exp(0 - 5))
    few = [group(mean=number, file_size=size, n=5 if size in sizes[1:-1] else 1) for number, size in enumerate(sizes)]
    (effect,) = ask("file_against_ram", *few).contrasts[0].effects
    assert effect.ratio == pytest.approx(math.exp(1 - 4))
    (table,) = contrast_tables(ask("file_against_ram", *few), FACTOR)
    assert table["rows"][0]["sizes"].replace("\u00a0", " ") == "32 GiB (0.5 × RAM) / 128 GiB (2 × RAM)"


@pytest.mark.parametrize(
    ("facts", "level"),
    [
        ({"file_size": "1024", "ram": "1024"}, "fits"), ({"file_size": "1025", "ram": "1024"}, "larger"),
        ({"file_size": "512", "ram": "1024", "threads": "4"}, "larger"),
        ({"file_size": "512", "ram": "4096", "guest_ram": "256"}, "larger"),
        ({"file_size": "several", "ram": "1024"}, None), ({"file_size": "1024"}, None), ({"ram": "1024"}, None),
        ({"file_size": "0", "ram": "1024"}, None), ({"file_size": "512", "ram": "none"}, None),
    ],
)  # fmt: skip
def test_the_level_is_of_all_files_of_the_run_together(facts: dict[str, str], level: str | None) -> None:
    assert FACTOR.level_of(facts) == level


def test_other_facts_are_held() -> None:
    small, large = group(file_size=GIB), group(file_size=256 * GIB)
    assert sets(ask("file_against_ram", small, large)) == 1
    assert sets(ask("file_against_ram", small, group(file_size=256 * GIB, filesystem="xfs"))) == 0
    assert sets(ask("file_against_ram", small, group(file_size=256 * GIB, ram=32 * GIB))) == 0


def test_files_of_several_threads_count_together_against_ram() -> None:
    threads = {"threads": 4, "sync": "none", "direct": 0}
    small, large = (group(file_size=size, target="t", **threads) for size in (8 * GIB, 40 * GIB))
    (table,) = contrast_tables(ask("file_against_ram", small, large), FACTOR)
    assert table["rows"][0]["sizes"].replace("\u00a0", " ") == "4 × 8 GiB (0.5 × RAM) / 4 × 40 GiB (2.5 × RAM)"
