"""Each kind of check: where it holds, where it does not, where nothing can be said."""

from typing import Any

import pytest

from apps.comparison.claims.checks.doubts import other_readings, sensitivity
from apps.comparison.claims.checks.outcomes import state_of, verdict_of
from apps.comparison.claims.checks.validation import definition_of
from apps.comparison.claims.checks.verdicts import JudgedClaim, digest, judge
from apps.comparison.readings import Reading
from apps.core.quantities import written
from tests.comparison.factories import GIB, reading


def one(number: int, value: float | None, configuration: str = "a", **more: Any) -> Reading:
    facts = {"configuration": configuration, **more.pop("facts", {})}
    return reading(number, value, configuration, facts=facts, **more)


def group(configuration: str, **more: Any) -> dict[str, Any]:
    return {"is": "samples", "configurations": [configuration], **more}


def number(value: float, unit: str = "") -> dict[str, Any]:
    return {"is": "stated", "value": value, "unit": unit}


def found(readings: list[Reading], **check: Any) -> JudgedClaim:
    return judge(definition_of({"checks": [check]}), readings)


A_OVER_B = [one(1, 2e8, "a"), one(2, 1e8, "b")]
LABELS = {"a": "stripe", "b": "mirror"}


def ranking(*names: str, **more: Any) -> dict[str, Any]:
    return {"kind": "ranking", "chain": [group(name) for name in names], **more}


def test_a_ranking_holds_one_way_and_not_the_other() -> None:
    assert found(A_OVER_B, **ranking("a", "b")).verdict == "supported"
    assert found(A_OVER_B, **ranking("b", "a")).verdict == "contradicted"


def test_equals_rank_only_where_it_is_not_strict() -> None:
    same = [one(1, 1e8, "a"), one(2, 1e8, "b")]
    assert found(same, **ranking("a", "b")).verdict == "contradicted"
    assert found(same, **ranking("a", "b", is_strict=False)).verdict == "supported"


def test_a_chain_of_three_that_is_half_right_holds_partly() -> None:
    three = [*A_OVER_B, one(3, 1.5e8, "c")]
    assert found(three, **ranking("a", "c", "b")).verdict == "supported"
    assert found(three, **ranking("a", "b", "c")).verdict == "partly"


def test_comparisons_are_made_for_each_file_size_that_both_have() -> None:
    sizes = [one(1, 2e8, "a", file_size=GIB), one(2, 3e8, "a", file_size=2 * GIB), one(3, 1e8, "b", file_size=GIB)]
    (outcome,) = found(sizes, **ranking("a", "b", per=["file_size"])).outcomes
    assert [(line.at, line.holds, line.samples) for line in outcome.lines] == [("1\xa0GiB", True, (1, 3))]
    assert outcome.left_out == 1


def test_without_samples_there_is_no_verdict_and_the_group_is_named() -> None:
    nothing = found([one(1, 1e8, "a")], **ranking("a", "b"))
    assert nothing.verdict == "not checkable"
    assert nothing.outcomes[0].lines[0].words == "not compared: there is no sample of bandwidth of b"


def test_a_lost_value_is_left_out_and_the_others_decide() -> None:
    sizes = [
        one(n, v, c, file_size=n % 2 * GIB + GIB)
        for n, v, c in ((1, 2e8, "a"), (2, None, "a"), (3, 1e8, "b"), (4, 1e8, "b"))
    ]
    (outcome,) = found(sizes, **ranking("a", "b", per=["file_size"])).outcomes
    assert (outcome.state, outcome.holding, outcome.made, len(outcome.lines)) == ("holds", 1, 1, 2)


def test_a_ratio_lies_within_its_bounds_or_does_not() -> None:
    check = {"kind": "ratio", "of": group("a"), "over": group("b")}
    assert found(A_OVER_B, **check, above=1.5, at_most=2).verdict == "supported"
    assert found(A_OVER_B, **check, below=2).verdict == "contradicted"
    (line,) = found(A_OVER_B, **check, at_least=1).outcomes[0].lines
    assert (line.low, line.high) == (2, 2)
    assert written(line.words) == "bandwidth of a 200.0\xa0MB/s ÷ bandwidth of b 100.0\xa0MB/s = 2; at least 1.00"


def test_nothing_is_divided_by_zero() -> None:
    zero = [one(1, 2e8, "a"), one(2, 0.0, "b")]
    assert found(zero, kind="ratio", of=group("a"), over=group("b"), above=1).verdict == "not checkable"


@pytest.mark.parametrize(
    ("low", "high", "holds"), [(1e8, 1.2e8, True), (3e8, 4e8, False), (1.5e8, 2.5e8, None)]
)  # 2e8 ÷ range > 1
def test_a_range_holds_only_where_every_value_in_it_does(low: float, high: float, holds: bool | None) -> None:
    ranged = [one(1, 2e8, "a"), one(2, None, "b", low=low, high=high)]
    (line,) = found(ranged, kind="ratio", of=group("a"), over=group("b"), above=1).outcomes[0].lines
    assert line.holds is holds
    assert (line.low, line.high) == (pytest.approx(2e8 / high), pytest.approx(2e8 / low))
    assert ("open" in line.words) is (holds is None)


def test_a_lower_bound_is_above_what_lies_below_it_and_open_beyond() -> None:
    fast = [one(1, None, "a", low=3e8)]
    check = {"kind": "threshold", "of": group("a")}
    assert found(fast, **check, above=number(2e8, "B/s")).verdict == "supported"
    assert found(fast, **check, below=number(4e8, "B/s")).verdict == "not checkable"


def test_a_threshold_may_be_another_group_or_a_fact_times_a_factor() -> None:
    sized = [
        one(1, 1e8, "a", file_size=8 * GIB, facts={"ram": 2 * GIB}),
        one(2, 1e8, "b", file_size=GIB, facts={"ram": GIB}),
    ]
    check = {
        "kind": "threshold", "per": ["configuration"], "of": {"is": "samples", "take": "file_size"},
        "at_least": {"is": "samples", "take": "ram", "times": 4},
    }  # fmt: skip
    (outcome,) = found(sized, **check).outcomes
    assert [(line.at, line.holds) for line in outcome.lines] == [("a", True), ("b", False)]


def test_equality_has_a_margin() -> None:
    near = [one(1, 1.04e8, "a"), one(2, 1e8, "b")]
    check = {"kind": "equality", "of": group("a"), "to": group("b")}
    assert found(near, **check, relative=0.05).verdict == "supported"
    assert found(near, **check, relative=0.03).verdict == "contradicted"
    assert found(near, **check, absolute=4e6).verdict == "supported"
    assert found(near, **check).verdict == "contradicted"


def test_monotony_counts_the_steps() -> None:
    falling = [one(n, v, file_size=n * GIB) for n, v in ((1, 3e8), (2, 2e8), (3, 2.02e8), (4, 1e8))]
    check = {"kind": "monotony", "of": group("a"), "direction": "falling"}
    (outcome,) = found(falling, **check).outcomes
    assert [line.holds for line in outcome.lines] == [True, False, True]
    assert outcome.lines[1].at == "2\xa0GiB → 3\xa0GiB"
    assert found(falling, **check, slack=0.02).verdict == "supported"
    assert found(falling[:1], **check).verdict == "not checkable"


def test_monotony_goes_along_each_series_by_itself() -> None:
    both = [
        one(n, v, c, threads=t)
        for n, v, c, t in ((1, 1e8, "a", 1), (2, 2e8, "a", 2), (3, 2e8, "b", 1), (4, 1e8, "b", 2))
    ]
    check = {"kind": "monotony", "of": {"is": "samples"}, "along": "threads", "per": ["configuration"]}
    assert [line.holds for line in found(both, **check).outcomes[0].lines] == [True, False]


def test_a_figure_in_prose_fits_under_a_meaning_of_its_unit() -> None:
    table = [one(1, 119652.4 * 1024)]
    check = {"kind": "text_against_table", "of": group("a")}
    assert found(table, **check, quoted={"value": 120, "unit": "MB/s"}).verdict == "supported"
    assert found(table, **check, quoted={"value": 130, "unit": "MB/s"}).verdict == "contradicted"
    strict = [{"name": "MiB", "factor": 2**20}]
    assert found(table, **check, quoted={"value": 120, "unit": "MB/s"}, meanings=strict).verdict == "contradicted"


def test_sets_share_nothing_or_the_shared_is_named() -> None:
    sets = [{"name": "md0", "values": ["sda", "sdb"]}, {"name": "md1", "values": ["sdb"]}]
    (line,) = found([], kind="facts", sets=sets).outcomes[0].lines
    assert (line.holds, line.words) == (False, "sdb is in md0 and in md1")
    assert found([], kind="facts", sets=sets, is_denied=True).verdict == "supported"
    assert found([], kind="facts", sets=sets[::-1], relation="subset").verdict == "supported"
    assert found([], kind="facts", sets=sets, relation="equal").verdict == "contradicted"
    assert found([], kind="facts", sets=sets, relation="count", count=2).verdict == "partly"


def test_sets_come_from_facts_too() -> None:
    members = [one(1, 1e8, facts={"members": ["sda", "sdb"]})]
    sets = [{"name": "stated", "values": ["sdb", "sda"]}, {"name": "found", "taken": group("a", take="members")}]
    assert found(members, kind="facts", sets=sets, relation="equal").verdict == "supported"
    assert found([], kind="facts", sets=sets, relation="equal").verdict == "not checkable"


def test_a_claim_that_denies_turns_each_comparison_round() -> None:
    assert found(A_OVER_B, **ranking("a", "b", is_denied=True)).verdict == "contradicted"
    assert found(A_OVER_B, **ranking("b", "a", is_denied=True)).verdict == "supported"


def test_the_rule_that_makes_a_verdict_of_checks() -> None:
    assert verdict_of(["holds", "holds"]) == "supported"
    assert verdict_of(["holds", "fails"]) == verdict_of(["partly"]) == verdict_of(["holds", "no data"]) == "partly"
    assert verdict_of(["fails", "no data"]) == "contradicted"
    assert verdict_of(["no data"]) == verdict_of([]) == "not checkable"
    assert (state_of([True, None]), state_of([True, False]), state_of([None])) == ("holds", "partly", "no data")


def test_conditions_choose_by_point_ratio_fact_and_what_is_unknown() -> None:
    every = [
        one(1, 1e8, file_size=GIB, facts={"ram": GIB, "raid_level": "5"}),
        one(2, 2e8, file_size=2 * GIB, facts={"ram": GIB, "raid_level": 5}),
        one(3, 4e8, file_size=None, facts={"ram": GIB}),
    ]

    def value(**where: Any) -> float | None:
        check = {"kind": "threshold", "of": {"is": "samples", "where": [where]}, "above": number(0, "B/s")}
        return found(every, **check).outcomes[0].lines[0].low

    assert value(name="file_size_over_ram", above=1) == 2e8
    assert value(name="file_size", equals=[GIB]) == 1e8
    assert value(name="file_size", is_unknown=True) == 4e8
    assert value(name="raid_level", equals=["5"]) == 1.5e8  # the mean of both: 5 is "5"
    assert value(name="raid_level", equals=["6"]) is None


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [
        ("max", 3e8),
        ("min", 1e8),
        ("mean", 2e8),
        ("median", 2e8),
        ("sum", 6e8),
        ("count", 3),
        ("largest_file", 1e8),
        ("smallest_file", 3e8),
    ],
)
def test_one_number_stands_for_many(aggregate: str, value: float) -> None:
    every = [one(n, v, file_size=n * GIB) for n, v in ((1, 3e8), (2, 2e8), (3, 1e8))]
    check = {"kind": "threshold", "of": group("a", aggregate=aggregate), "above": number(0)}
    assert found(every, **check).outcomes[0].lines[0].low == value


def test_doubtful_readings_are_tried_one_at_a_time() -> None:
    doubtful = [one(1, 2e8, "a", alternatives=(2e7,)), one(2, 1e8, "b", quality="approximate", printed="~100 MB/s")]
    definition = definition_of({"checks": [ranking("a", "b")]})
    result = sensitivity(definition, doubtful, "supported")
    assert (result.doubtful, result.tried) == (2, 3)
    assert [(doubt.sample, doubt.value, doubt.verdict) for doubt in result.doubts] == [(1, 2e7, "contradicted")]


def test_of_very_many_doubts_misread_digits_are_tried_first_and_the_cut_is_said() -> None:
    many = [one(n, 2e8, "a", quality="rounded", printed="200 MB/s") for n in range(2, 700)]
    many += [one(1, 1e8, "b"), one(700, 2e8, "a", alternatives=(-1e12,))]
    result = sensitivity(definition_of({"checks": [ranking("a", "b")]}), many, "supported")
    assert (result.doubtful, result.tried, result.is_cut) == (699, 60_000 // 700, True)
    assert [doubt.sample for doubt in result.doubts] == [700]


def test_what_is_exact_is_not_doubted() -> None:
    assert list(other_readings(one(1, 2e8, printed="200 MB/s"))) == []


@pytest.mark.parametrize(
    ("printed", "half"), [("~270 MB/s", 5e6), ("2 Gb/s", 67.5e6), ("1.20 GB/s", 1.125e6), ("about", 0)]
)
def test_an_approximate_figure_is_tried_half_a_unit_of_its_last_digit_away(printed: str, half: float) -> None:
    values = [value for _, value in other_readings(one(1, 2.7e8, quality="approximate", printed=printed))]
    assert values == ([pytest.approx(2.7e8 - half), pytest.approx(2.7e8 + half)] if half else [])


def test_the_digest_changes_with_what_the_claim_speaks_of_and_with_nothing_else() -> None:
    definition = definition_of({"checks": [ranking("a", "b")]})
    mark = digest(definition, A_OVER_B, LABELS)
    assert digest(definition, [*A_OVER_B[::-1], one(3, 1.0, "c")], {**LABELS, "c": "third"}) == mark
    assert digest(definition, [one(1, 2.1e8, "a"), A_OVER_B[1]], LABELS) != mark
    assert digest(definition, A_OVER_B, {"a": "striped", "b": "mirror"}) != mark
    assert digest(definition_of({"checks": [ranking("b", "a")]}), A_OVER_B, LABELS) != mark


def test_sentences_call_configurations_by_their_labels() -> None:
    [chain] = judge(definition_of({"checks": [ranking("a", "b", "z")]}), A_OVER_B, LABELS).outcomes
    assert chain.sentence == "bandwidth of stripe > bandwidth of mirror > bandwidth of z"
    assert chain.lines[0].words.startswith("bandwidth of stripe ")
    assert "there is no sample of bandwidth of z" in chain.lines[1].words
    alone = {"kind": "threshold", "of": {"is": "samples"}, "above": number(1, "B/s"), "per": ["configuration"]}
    [each] = judge(definition_of({"checks": [alone]}), A_OVER_B, LABELS).outcomes
    assert {line.at for line in each.lines} == {"stripe", "mirror"}
    both = {**alone, "of": {"is": "samples", "configurations": ["a", "b"]}, "per": []}
    [joined] = judge(definition_of({"checks": [both]}), A_OVER_B, LABELS).outcomes
    assert joined.sentence.startswith("bandwidth of stripe or mirror is above")
