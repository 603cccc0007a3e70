"""What is held equal, what comes with a factor, and what is not known."""

import re
from typing import Any
from urllib.parse import parse_qs

import pytest

from apps.comparison.like_for_like.answers import (
    FactorAnswer,
    MatchedFinding,
    answer_factor,
    judge,
    with_what_is_missing,
)
from apps.comparison.like_for_like.contrast_section import contrast_section
from apps.comparison.like_for_like.contrast_table import contrast_tables
from apps.comparison.like_for_like.dependence import find_dependence
from apps.comparison.like_for_like.fact_codes import FactCodes
from apps.comparison.like_for_like.forest import Forest, ForestRow, forest, ticks
from apps.comparison.like_for_like.forest_svg import places
from apps.comparison.like_for_like.run_group import RunGroup, facts_of_run, point_facts
from apps.comparison.like_for_like.selection import FactorSelection, parse_selection
from apps.comparison.like_for_like.sentences import labels_of_strata, missing_words, nearest_words, sentence, subtitle
from apps.comparison.like_for_like.strata import MovedFacts
from apps.comparison.question import QuestionError
from apps.comparison.questions import BY_NAME, FACTORS
from apps.comparison.statistics.meta_analysis import LogRatio, Moments

GIB = 1024**3
HOST = {"host": "a", "ram": 64 * GIB, "kernel": "6.1.0-18-amd64", "disk_model": "X", "disk_count": 4, "cpu": "C"}


def group(mean: float = 0.0, n: int = 5, target: str = "t", spread: float = 0.03, **facts: Any) -> RunGroup:
    stored = {"tool": "fio", "tool_version": "fio-3.33", "file_size": 128 * GIB, **HOST, **facts}
    stored = {name: value for name, value in stored.items() if value is not None}
    return RunGroup(facts_of_run(stored, {}), Moments(n, mean, spread**2), runs=(1, 2), target=target, texts=stored)


def ask(name: str, *groups: RunGroup, **moved: tuple[str, ...]) -> FactorAnswer:
    factor, facts = BY_NAME[name], MovedFacts(**moved)
    codes = FactCodes(groups, factor.always)
    answer = answer_factor(factor, groups, ("write", "bandwidth"), facts, codes=codes)
    return judge([with_what_is_missing(answer, factor, codes, facts)])[0]


def sets(answer: FactorAnswer) -> int:
    return len(answer.strata)


def test_what_differs_besides_makes_no_set() -> None:
    alike = [group(raid_implementation=kind, raid_level="5") for kind in ("hardware", "software")]
    assert sets(ask("raid_implementation", *alike)) == 1
    here = {"filesystem": "ext4", "raid_level": "5", "kernel": "6.1.0", "host": "a", "file_size": 128 * GIB}
    others = {"filesystem": "xfs", "raid_level": "6", "kernel": "5.10.0", "host": "b", "file_size": GIB}
    for name, value in others.items():
        known = group(**here, raid_implementation="hardware")
        other = group(**{**here, name: value}, raid_implementation="software")
        assert sets(ask("raid_implementation", known, other)) == 0, name


def test_a_filesystem_that_reads_ahead_by_itself_is_held_against_others() -> None:
    """btrfs has a read-ahead of its own on every device, so no other filesystem has the same."""
    here = {"kernel": "6.1.0", "host": "a"}
    ext4 = group(**here, filesystem="ext4", read_ahead=131072, target="e")
    btrfs = group(**here, filesystem="btrfs", read_ahead=4194304, target="b")
    assert sets(ask("filesystem", ext4, btrfs)) == 1
    assert sets(ask("filesystem", ext4, btrfs, held=("read_ahead",))) == 0
    xfs = group(**here, filesystem="xfs", read_ahead=4194304, target="x")
    assert sets(ask("filesystem", ext4, xfs)) == 0, "of these somebody has set it"


def test_what_comes_with_a_factor_may_differ_and_is_named() -> None:
    hardware = group(raid_implementation="hardware", controller="9361", controller_cache=GIB, write_policy="WB")
    software = group(raid_implementation="software", controller="HBA", controller_cache="none")
    answer = ask("raid_implementation", hardware, software)
    assert sets(answer) == 1
    assert {"controller", "controller_cache"} <= {*answer.implied}
    assert sets(ask("raid_implementation", hardware, software, held=("controller",))) == 0


def test_patches_of_a_kernel_line_and_of_a_tools_major_version_are_equal() -> None:
    one = group(filesystem="ext4", kernel="6.1.0-13-amd64", tool_version="fio-3.28")
    other = group(filesystem="xfs", kernel="6.1.0-28-amd64", tool_version="fio-3.36")
    assert sets(ask("filesystem", one, other)) == 1
    assert sets(ask("filesystem", one, group(filesystem="xfs", kernel="6.2.1"))) == 0


def test_an_unknown_fact_equals_itself_on_the_same_target_only() -> None:
    known = group(filesystem="ext4", target="far")  # so that the disk's model is known of some run
    here = [group(filesystem=fs, disk_model=None, target="t1") for fs in ("ext4", "xfs")]
    answer = ask("filesystem", known, *here)
    assert sets(answer) == 1
    assert answer.strata[0].unknown == ("disk_model",)
    there = [
        group(filesystem="ext4", disk_model=None, target="t1"),
        group(filesystem="xfs", disk_model=None, target="t2"),
    ]
    assert sets(ask("filesystem", known, *there)) == 0


def test_runs_of_one_host_that_do_not_tell_its_architecture_have_the_same() -> None:
    """Reports that tell theirs leave a lab's own answers as they are."""
    ours = [group(filesystem=one, target=one) for one in ("ext4", "xfs")]
    report = group(filesystem="ext2", host="aiodda2", architecture="32-bit x86", target="r")
    answer = ask("filesystem", *ours, report)
    assert sets(answer) == 1
    assert answer.strata[0].unknown == ()
    elsewhere = group(filesystem="btrfs", host=None, target="e")
    assert sets(ask("filesystem", group(filesystem="ext4", host=None, target="f"), elsewhere, report)) == 0


def test_an_untold_cache_is_equal_behind_one_controller() -> None:
    """Hardware RAID elsewhere tells the size of its cache; the filesystems on an HBA are comparable all the same."""
    elsewhere = group(host="b", raid_implementation="hardware", controller="9361", controller_cache=GIB, target="h")

    def on(**second: Any) -> FactorAnswer:
        hba = {"raid_implementation": "software", "controller": "HBA"}
        first = group(filesystem="ext4", target="e", **hba)
        return ask("filesystem", first, group(**{"filesystem": "xfs", "target": "x", **hba, **second}), elsewhere)

    assert on().strata[0].unknown == ("controller_cache",), "and the set says so"
    assert sets(on(controller="other")) == 0
    assert sets(on(controller=None)) == 0
    assert sets(on(host="c")) == 0
    assert sets(on(controller_cache=GIB)) == 0, "known on one side alone"
    policy = group(host="b", raid_implementation="hardware", write_policy="WB", target="h")
    both = [group(filesystem=name, target=name, controller="HBA") for name in ("ext4", "xfs")]
    assert sets(ask("filesystem", *both, policy)) == 0, (
        "the policy is a volume's own and may differ behind one controller"
    )


def test_what_a_report_tells_takes_no_answer_of_a_lab_away() -> None:
    from dataclasses import replace

    ours = [replace(group(filesystem=one, target=one, disk_count=None), source="1:") for one in ("ext4", "xfs")]
    report = replace(group(filesystem="ext2", disk_count=8, target="r"), source="2:paper")
    answer = ask("filesystem", *ours, report)
    assert [sorted(stratum.sides) for stratum in answer.strata] == [["ext4", "xfs"]]
    assert answer.strata[0].unknown == ("disk_count",)
    told = replace(group(filesystem="btrfs", disk_count=4, target="t"), source="1:")
    assert sets(ask("filesystem", *ours, report, told)) == 0  # a run of the lab tells it: others may differ in it


def test_an_unknown_fact_does_not_equal_a_known_one() -> None:
    assert sets(ask("filesystem", group(filesystem="ext4"), group(filesystem="xfs", disk_model=None))) == 0


def test_what_no_run_tells_is_named() -> None:
    answer = ask("filesystem", *[group(filesystem=fs, disk_model=None) for fs in ("ext4", "xfs")])
    assert sets(answer) == 1
    assert "disk_model" in answer.nowhere


def test_a_label_that_some_runs_have_is_held() -> None:
    plain, labelled = group(filesystem="ext4"), group(filesystem="xfs", cable="new")
    assert sets(ask("filesystem", plain, labelled)) == 0
    assert sets(ask("filesystem", plain, labelled, ignored=("cable",))) == 1
    assert sets(ask("filesystem", plain, group(filesystem="xfs", note="monday", seed=7))) == 1


def test_a_single_disk_has_neither_chunk_nor_raid() -> None:
    single = group(raid_level="single", disk_count=1, chunk_size="none")
    array = group(raid_level="RAID-5", raid_implementation="software", chunk_size=65536)
    answer = ask("raid_level", single, array)
    assert [(one.level, one.against) for one in answer.contrasts] == [("5", "single")]
    mirror = group(raid_level="1", raid_implementation="software", disk_count=2)
    assert not [one for one in ask("raid_level", mirror, array).contrasts if one.effects]  # two disks against four


def test_a_mixture_is_no_level() -> None:
    answer = ask("interface", group(interface="SAS"), group(interface="SAS + SATA"))
    assert answer.candidates == {"SAS": 5}


def test_levels_that_no_set_joins_with_the_reference_are_held_against_another() -> None:
    groups = [
        group(filesystem="ext4"), group(0.1, filesystem="xfs"),
        group(0.3, filesystem="xfs", host="b"), group(0.5, filesystem="zfs", host="b"),
    ]  # fmt: skip
    answer = ask("filesystem", *groups)
    assert {(one.level, one.against) for one in answer.contrasts} == {("xfs", "ext4"), ("zfs", "xfs")}


def test_files_of_one_multiple_of_ram_are_equal_where_hosts_are_compared() -> None:
    small = group(host="a", ram=4 * GIB, file_size=16 * GIB)
    large = group(host="b", ram=64 * GIB, file_size=256 * GIB)
    answer = ask("host", small, large)
    assert [stratum.sizes for stratum in answer.strata] == ["file_size_over_ram"]
    assert sets(ask("host", small, group(host="b", ram=64 * GIB, file_size=128 * GIB))) == 0


def test_a_guest_is_held_against_the_machine_that_it_may_run_on() -> None:
    native = group(environment="native", host="metal")
    assert sets(ask("environment", native, group(environment="guest", host="vm", ram=GIB, kernel="5.4.1"))) == 1
    assert sets(ask("environment", native, group(environment="guest", host="vm", cpu="other"))) == 0
    unknown = [group(environment=one, host=one, cpu=None, target=one) for one in ("native", "guest")]
    assert sets(ask("environment", *unknown)) == 0


@pytest.mark.parametrize(
    ("text", "level"),
    [("WB", "write-back"), ("Write Back", "write-back"), ("writethrough", "write-through"), ("none", "write-through")],
)
def test_write_policies_are_read_as_tools_spell_them(text: str, level: str) -> None:
    assert BY_NAME["write_policy"].level_of({"write_policy": text}) == level


def test_too_few_runs_have_a_ratio_and_no_interval() -> None:
    answer = ask("filesystem", group(0.1, 2, filesystem="xfs"), group(filesystem="ext4"))
    (contrast,) = answer.contrasts
    assert (contrast.combination, contrast.finding) == (None, "too few runs")
    assert contrast.effects[0].ratio == pytest.approx(1.105, abs=1e-3)
    assert contrast.effects[0].interval is None
    assert missing_words(answer.missing[0], BY_NAME["filesystem"]) == "1 more run of xfs on a"


def test_a_fact_that_is_not_known_has_to_be_recorded() -> None:
    answer = ask("filesystem", group(filesystem="xfs"), group(filesystem="ext4", disk_count=None))
    (text,) = {missing_words(missing, BY_NAME["filesystem"]) for missing in answer.missing}
    assert re.search(r"with disks (recorded|4), as measured on a$", text), text
    other = ask("filesystem", group(filesystem="xfs", n=4, disk_count=None), group(filesystem="ext4", n=3))
    assert "with disks recorded, as measured on a" in missing_words(other.missing[0], BY_NAME["filesystem"])


def test_without_a_set_the_nearest_pair_says_what_else_differs_in_order() -> None:
    near, far = group(filesystem="xfs", kernel="5.10"), group(filesystem="xfs", kernel="5.10", host="b", ram=GIB)
    answer = ask("filesystem", group(filesystem="ext4"), near, far)
    assert answer.contrasts == ()
    assert answer.nearest[0].differs == ("kernel",)
    assert nearest_words(answer.nearest[0]) == "kernel 6.1 / 5.10"
    assert "differ in kernel" in sentence(answer, BY_NAME["filesystem"])
    only_far = ask("filesystem", group(filesystem="ext4"), far)
    assert only_far.nearest[0].differs == ("host", "ram", "kernel")


def test_what_is_not_known_is_nearer_than_what_differs_and_is_not_said_to_differ() -> None:
    nothing = {"disk_model": None, "disk_count": None}
    ours = group(filesystem="ext4", raid_level="0", **nothing)
    unknown = group(filesystem="xfs", raid_level="0", target="x", **nothing)
    differs = group(filesystem="btrfs", raid_level="5", target="b", disk_model=None)
    other = group(filesystem="zfs", raid_level="6", host="b")
    answer = ask("filesystem", ours, unknown, differs, other)
    assert answer.nearest[0].levels == ("ext4", "xfs")
    assert sentence(answer, BY_NAME["filesystem"]) == (
        "No two runs are known to be equal in everything else. Nearest: ext4 and xfs. "
        "Not known of both: disks, disk model."
    )


def test_runs_measured_one_level_after_the_other_are_marked() -> None:
    from dataclasses import replace

    ext4, xfs = group(filesystem="ext4"), group(filesystem="xfs")
    apart = ask(
        "filesystem",
        replace(ext4, began="2019-01-01", ended="2019-02-01"),
        replace(xfs, began="2021-01-01", ended="2021-02-01"),
    )
    assert apart.contrasts[0].effects[0].is_apart_in_time
    together = ask(
        "filesystem",
        replace(ext4, began="2019-01-01", ended="2021-01-01"),
        replace(xfs, began="2020-01-01", ended="2020-02-01"),
    )
    assert not together.contrasts[0].effects[0].is_apart_in_time


def test_a_sentence_has_the_ratio_its_interval_and_the_number_of_sets() -> None:
    groups = [
        group(gain, raid_implementation=kind, raid_level=level)
        for kind, gain in (("hardware", 0.02), ("software", 0.0))
        for level in ("0", "1", "5")
    ]
    answer = ask("raid_implementation", *groups)
    told = sentence(answer, BY_NAME["raid_implementation"])
    assert told == "Hardware RAID 1.02 × software RAID (0.994 to 1.05) in 3 matched sets: no difference shown"
    assert labels_of_strata(answer.contrasts[0].effects) == ["RAID 0", "RAID 1", "RAID 5"]
    assert subtitle(answer).startswith("Bandwidth of write · 128")


def test_points_of_a_run_tell_runs_apart() -> None:
    point = {"file_size": GIB, "block_size": 4096, "threads": None, "iodepth": None}
    assert point_facts([point], "1") == {"file_size": str(GIB), "block_size": "4096"}
    two = point_facts([point, {**point, "file_size": 2 * GIB}], "2 values, 17")
    assert two == {"block_size": "4096", "file_size": "several", "points": "2 values, 17"}


def test_a_number_may_explain_a_spread_along_a_line() -> None:
    effects = [LogRatio(0.2 * step, 1e-4, 8.0) for step in (1, 2, 3, 4)]
    facts = [{"controller_cache": str(2**step << 20), "host": f"h{step}"} for step in (1, 2, 3, 4)]
    found = find_dependence(effects, facts)
    assert (found.fact, found.share > 0.9) == ("controller_cache", True)
    assert [value for value, _ in found.values] == [fact["controller_cache"] for fact in facts]


def test_a_fact_with_a_value_for_each_set_explains_nothing() -> None:
    effects = [LogRatio(value, 1e-4, 8.0) for value in (0.1, 0.9, 0.2, 0.7)]
    assert find_dependence(effects, [{"host": f"h{n}"} for n in range(4)]).fact == ""
    two = find_dependence(effects, [{"host": name} for name in "abab"])
    assert (two.fact, [value for value, _ in two.values]) == ("host", ["a", "b"])


def test_an_address_is_read_and_written_alike() -> None:
    query = {
        "operation": ["read"],
        "metric": ["bandwidth"],
        "hold": ["ram,cpu"],
        "ignore": ["kernel"],
        "host": ["b", "a"],
    }
    selection = parse_selection(query)
    assert selection.moved == MovedFacts(("ram", "cpu"), ("kernel",))
    assert (
        parse_selection({name: [value] for name, value in selection.pairs() if name != "host"} | {"host": ["a", "b"]})
        == selection
    )
    assert selection.hold("kernel").moved == MovedFacts(("ram", "cpu", "kernel"), ())
    assert selection.ignore("ram").moved == MovedFacts(("cpu",), ("kernel", "ram"))
    assert FactorSelection().address == ""
    for wrong in ({"hold": ["a b"]}, {"host": ["\0"]}, {"metric": ["bandwidth", "iops"], "operation": ["read"]}):
        with pytest.raises(QuestionError):
            parse_selection(wrong)


@pytest.mark.parametrize(
    "name", ["path controller to JBOD", "a,b", '1" pipe, ü', "<i>k</i>", "50%2C", "kernel", "x" * 60]
)
def test_a_label_of_any_name_is_moved_by_the_address_that_its_link_has(name: str) -> None:
    selection = FactorSelection().hold("ram").hold(name).ignore("cpu")
    query = parse_qs(selection.address)
    assert parse_selection(query) == selection
    assert parse_selection(parse_qs(FactorSelection().ignore(name).address)).moved == MovedFacts((), (name,))


@pytest.mark.parametrize("text", ['""', '"a\0b"', '"a\nb"', f'"{"x" * 201}"', '"a'])
def test_what_is_no_name_is_moved_nowhere(text: str) -> None:
    with pytest.raises(QuestionError):
        parse_selection({"hold": [text]})


def test_filters_leave_the_groups_that_pass() -> None:
    groups = [group(host="a"), group(host="b"), group(host="b", disk_model=None)]
    assert parse_selection({"host": ["b"]}).chosen(groups) == groups[1:]
    assert parse_selection({"host": ["a", "b"], "disk_model": ["unknown"]}).chosen(groups) == groups[2:]


def test_the_axis_has_one_and_room_for_every_tick() -> None:
    for low, high in ((0.94, 1.07), (0.2, 9.0), (0.9, 1.6), (0.01, 400.0)):
        found = ticks(low, high)
        assert 1.0 in found
        assert all(low <= tick <= high for tick in found)
        assert 3 <= len(found) <= 8


def test_labels_that_differ_at_their_end_are_whole_in_the_plot() -> None:
    long = "sedna, RAID 5, SATA, 1 GiB cache, write-through"
    rows = [ForestRow(label, 1.5, 1.2, 1.8) for label in (long, long.replace("through", "back"))]
    short = places(Forest((ForestRow("sedna", 1.5, 1.2, 1.8),), 0.9, 2.0, (1.0,)))
    plot = places(Forest(tuple(rows), 0.9, 2.0, (1.0,)))
    assert [mark.label for mark in plot.marks] == [row.label for row in rows]
    assert short.ticks[0].x < 240
    assert 300 <= plot.ticks[0].x <= plot.width - 200


def test_an_endless_interval_does_not_make_all_others_a_dot() -> None:
    wide = [group(0.1, 3, spread=2.0, filesystem="xfs"), group(0.0, 3, spread=2.0, filesystem="ext4")]
    near = [group(0.1, filesystem="xfs", host="b"), group(0.0, filesystem="ext4", host="b")]
    plot = forest(ask("filesystem", *wide, *near), BY_NAME["filesystem"])
    assert plot.high / plot.low < 30
    assert all(0 <= plot.place(row.low or 1) <= 1 for row in plot.rows)


def test_every_question_has_words_measures_and_a_name_of_its_own() -> None:
    assert len({factor.name for factor in FACTORS}) == len(FACTORS) >= 12
    for factor in FACTORS:
        assert str(factor.title)
        assert str(factor.question).endswith("?")
        assert factor.asks
        assert {*factor.implied}.isdisjoint(factor.facts)


def test_an_older_kernel_is_what_a_newer_one_is_held_against() -> None:
    answer = ask("kernel", group(0.1, kernel="10.2"), group(kernel="9.14"))
    assert [(one.level, one.against) for one in answer.contrasts] == [("10.2", "9.14")]


def test_of_several_levels_those_without_a_difference_say_so() -> None:
    answer = ask("filesystem", group(filesystem="ext4"), group(0.5, filesystem="xfs"), group(0.001, filesystem="jfs"))
    told = sentence(answer, BY_NAME["filesystem"])
    assert told.startswith("xfs 1.65 × ext4 (")
    assert told.endswith("): no difference shown in 1 matched set")


def test_of_very_many_levels_those_with_most_runs_are_held_against_each_other() -> None:
    hosts = [group(0.001 * number, 3 + number, host=f"h{number}") for number in range(300)]
    answer = ask("host", *hosts)
    assert (len(answer.contrasts), answer.levels_left_out) == (23, 276)
    assert answer.contrasts[0].against == "h276"


def unlike_sets() -> FactorAnswer:
    """Two hosts; on one of them the effect depends on the depth, too."""
    groups = []
    for host, iodepth, effect in (("a", 1, 0.4), ("a", 16, 0.0), ("b", 1, -0.4), ("b", 16, -0.4), ("c", 1, -0.4)):
        for kind, mean in (("hardware", effect), ("software", 0.0)):
            groups.append(group(mean, raid_implementation=kind, host=host, iodepth=iodepth, target=f"{host}{kind}"))
    return ask("raid_implementation", *groups)


def test_sets_that_disagree_have_no_common_ratio() -> None:
    (contrast,) = unlike_sets().contrasts
    assert contrast.finding is MatchedFinding.DEPENDS
    assert (contrast.ratio, contrast.interval, contrast.prediction) == (None, None, None)
    assert contrast.combination is not None
    (table,) = contrast_tables(unlike_sets(), BY_NAME["raid_implementation"])
    assert (table["ratio"], table["interval"], table["range"]) == ("", "", "0.670 to 1.49")
    assert not [row for row in forest(unlike_sets(), BY_NAME["raid_implementation"]).rows if row.is_combined]
    section = contrast_section(contrast, BY_NAME["raid_implementation"])
    assert section.table
    assert list(section.table.each())[-1] == ("depends", "", "–", "–")


def test_a_fact_whose_equal_sets_disagree_is_not_all_that_it_depends_on() -> None:
    answer = unlike_sets()
    dependence = answer.contrasts[0].dependence
    assert dependence is not None
    assert dependence.fact == "host"
    assert [value for value, _, _ in dependence.ranges] == ["a"]
    assert sentence(answer, BY_NAME["raid_implementation"]).startswith("Depends on host, and on more: hardware RAID")
    (table,) = contrast_tables(answer, BY_NAME["raid_implementation"])
    assert ("a", "1.00 to 1.49") in table["dependence"]


def test_what_no_run_of_the_sets_tells_is_not_said_to_be_held() -> None:
    elsewhere = group(host="other", read_ahead=4096, target="o")
    both = [group(raid_implementation=kind, raid_level="5", target=kind) for kind in ("hardware", "software")]
    answer = ask("raid_implementation", *both, elsewhere)
    assert answer.is_answered
    assert "kernel" in answer.held
    assert "read_ahead" not in answer.held


def test_runs_that_count_in_no_set_are_counted() -> None:
    both = [group(raid_implementation=kind, raid_level="5", target=kind) for kind in ("hardware", "software")]
    alone = group(raid_implementation="hardware", raid_level="6", n=4, target="x")
    assert ask("raid_implementation", *both).runs_left_out == 0
    assert ask("raid_implementation", *both, alone).runs_left_out == 4


def test_a_wide_interval_is_no_proof_that_there_is_no_difference() -> None:
    def told(spread: float) -> str:
        both = [
            group(raid_implementation=kind, raid_level="5", target=kind, spread=spread)
            for kind in ("hardware", "software")
        ]
        return sentence(ask("raid_implementation", *both), BY_NAME["raid_implementation"])

    assert told(0.02).endswith("no difference shown")
    assert told(0.5).endswith("no difference shown; the interval is wide, so there may be one")


def test_any_of_the_nearest_sets_may_be_completed() -> None:
    groups = [
        group(raid_implementation=kind, raid_level=level, n=n, target=f"{kind}{level}")
        for level, n in (("5", 2), ("6", 1))
        for kind in ("hardware", "software")
    ]
    answer = ask("raid_implementation", *groups)
    assert [one.n for one in answer.missing] == [1, 1]
    assert [[one.n for one in some] for some in answer.other_missing] == [[2, 2]]
