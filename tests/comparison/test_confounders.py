"""Like for like: what else differs is named with both values."""

from apps.comparison.confounders import confounders, contrasts, table
from tests.comparison.factories import GIB, MIB, reading


def found(*readings: object, compared: tuple[str, ...] = ("label", "file_size")) -> list[tuple[str, str]]:
    groups: dict[str, list[object]] = {}
    for one in readings:
        groups.setdefault(one.facts["label"], []).append(one)  # type: ignore[attr-defined]
    return [(one.kind, one.text.replace("\u00a0", " ")) for one in confounders(table(groups, compared))]  # type: ignore[arg-type]


def test_facts_that_differ_are_named_with_both_values() -> None:
    a = reading(1, 1.0, "a", facts={"ram": GIB, "raid_level": "5", "kernel": "2.6.7"})
    b = reading(2, 1.0, "b", facts={"ram": 2 * GIB, "raid_level": "0", "kernel": "2.6.7"})
    assert found(a, b) == [("differs", "RAID level 5 / 0"), ("differs", "RAM 1 GiB / 2 GiB")]


def test_of_many_values_the_first_are_said_and_all_are_kept() -> None:
    many = [reading(n, 1.0, "a", facts={"caption": f"reset {n}"}) for n in range(40)]
    known = table({"a": many, "b": [reading(99, 1.0, "b", facts={"caption": "end"})]}, ("label",))
    [one] = [one for one in confounders(known) if one.fact == "caption"]
    assert one.text == "caption reset 0 and reset 1 and reset 2 and reset 3 and 36 more / end"
    assert len(one.values["a"]) == 40


def test_of_many_series_the_first_are_said() -> None:
    some = [reading(n, 1.0, f"s{n}", facts={"kernel": f"6.{n}"}) for n in range(9)]
    assert found(*some) == [("differs", "kernel 6.0 / 6.1 / 6.2 / 6.3 / 5 more")]
    assert found(*some[:6]) == [("differs", "kernel 6.0 / 6.1 / 6.2 / 6.3 / 6.4 / 6.5")]


def test_the_compared_fact_and_the_x_axis_are_no_confounders() -> None:
    a = reading(1, 1.0, "a", facts={"raid_level": "5"}, file_size=MIB)
    b = reading(2, 1.0, "b", facts={"raid_level": "0"}, file_size=GIB)
    assert found(a, b, compared=("raid_level", "file_size")) == []


def test_names_of_a_series_are_no_confounders() -> None:
    a = reading(1, 1.0, "a", facts={"configuration": "a", "target": "t", "array": "md0"})
    b = reading(2, 1.0, "b", facts={"configuration": "b", "target": "u", "array": "md1"})
    assert found(a, b) == []


def test_what_else_the_machine_did_belongs_to_a_run_and_is_no_confounder() -> None:
    a = reading(1, 1.0, "a", facts={"load_before": 0.02, "disk_before": 5_000_000, "kernel": "6.1"})
    b = reading(2, 1.0, "b", facts={"load_before": 0.31, "network_during_max": 12, "kernel": "6.1"})
    assert found(a, b) == []


def test_known_on_one_side_only_is_said_apart() -> None:
    a = reading(1, 1.0, "a", facts={"kernel": "6.1"}, block_size=MIB)
    b = reading(2, 1.0, "b")
    assert found(a, b) == [("unknown", "block size 1 MiB / unknown"), ("unknown", "kernel 6.1 / unknown")]


def test_a_mixture_inside_one_series_is_said() -> None:
    readings = [reading(1, 1.0, "a", block_size=4096), reading(2, 1.0, "a", block_size=MIB)]
    assert found(*readings) == [("mixed", "block size 4 KiB and 1 MiB")]


def test_what_is_the_same_everywhere_is_silent() -> None:
    assert found(reading(1, 1.0, "a", facts={"ram": GIB}), reading(2, 1.0, "b", facts={"ram": GIB})) == []


def test_every_pair_of_series_says_what_else_differs_what_is_unknown_and_what_is_equal() -> None:
    facts = {"a": {"ram": GIB, "kernel": "6.1"}, "b": {"ram": 2 * GIB, "kernel": "6.1"}, "c": {"ram": 2 * GIB}}
    groups = {name: [reading(1, 1.0, name, facts=own)] for name, own in facts.items()}
    pairs = {one.series: one for one in contrasts(table(groups, ("label", "file_size")), "abc", "a")}
    assert list(pairs) == [("b", "a"), ("c", "a"), ("b", "c")]
    assert [one.text.replace("\u00a0", " ") for one in pairs["b", "a"].differs] == ["RAM 2 GiB / 1 GiB"]
    assert [one.text for one in pairs["b", "c"].unknown] == ["kernel 6.1 / unknown"]
    assert (pairs["b", "c"].differs, pairs["b", "c"].equal, pairs["b", "a"].equal) == ((), ("ram",), ("kernel",))


def test_of_many_series_only_pairs_with_the_baseline_are_told() -> None:
    groups = {f"s{number}": [reading(1, 1.0, facts={"ram": number})] for number in range(30)}
    pairs = contrasts(table(groups, ("label",)), list(groups), "s0")
    assert len(pairs) == 29
    assert {one.series[1] for one in pairs} == {"s0"}
