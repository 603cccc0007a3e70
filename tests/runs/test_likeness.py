"""Runs of one configuration share a number, which the database computes."""

from typing import Any

from apps.labs.models import Lab
from apps.runs.models import Run
from tests.comparison.factories import run, target
from tests.sampling import for_each


def key(one: Run) -> int:
    number: int = Run.objects.values_list("configuration_key", flat=True).get(pk=one.pk)
    return number


def made(lab: Lab, **fields: Any) -> Run:
    return run(lab, **{"facts": {"raid_level": "5", "ram": 1}, "labels": {"cable": "new"}, **fields})


def test_repetitions_share_it(lab: Lab) -> None:
    first = made(lab, repetition=1)
    second = made(lab, repetition=2, facts={"ram": 1, "raid_level": "5"})
    assert key(first) == key(second)
    noisy = made(
        lab, facts={"raid_level": "5", "ram": 1, "load_before": 0.7, "seed": 4}, labels={"cable": "new", "note": "x"}
    )
    assert key(noisy) == key(first)


@for_each(
    "other",
    [
        {"facts": {"raid_level": "5", "ram": 2}},
        {"facts": {"raid_level": "5"}},
        {"labels": {}},
        {"labels": {"cable": "old"}},
        {"tool_version": "fio-3.36"},
        {"tool": "dd", "origin": "uploaded"},
    ],
    taken_back=True,
)
def test_other_configurations_have_another(lab: Lab, other: dict[str, Any]) -> None:
    assert key(made(lab)) != key(made(lab, **other))


def test_other_targets_have_another(lab: Lab) -> None:
    assert key(made(lab)) != key(made(lab, at=target(lab, "beta")))


def test_a_fact_and_a_label_of_one_name_are_two_things(lab: Lab) -> None:
    assert key(made(lab, facts={"a": "1"}, labels={})) != key(made(lab, facts={}, labels={"a": "1"}))


def test_it_follows_a_change_by_whatever_statement(lab: Lab) -> None:
    first, second = made(lab), made(lab, labels={})
    Run.objects.filter(pk=second.pk).update(labels={"cable": "new"})
    assert key(first) == key(second)


def test_equal_values_far_apart_do_not_cancel_each_other(lab: Lab) -> None:
    """As they do in PostgreSQL's own hash of JSON."""
    names = [f"f{number:02}" for number in range(17)]
    keys = {key(made(lab, facts=dict.fromkeys(names, "1") | {"f00": value, "f16": value})) for value in ("a", "b", "c")}
    assert len(keys) == 3
