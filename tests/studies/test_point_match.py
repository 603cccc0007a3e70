"""Which runs a cell of a plan counts, fact by fact."""

import pytest

from apps.studies.plans.point_match import CellDemand, DemandDifference, MeasuredPoint, RunFacts, differences

MIB, GIB = 1 << 20, 1 << 30
READ = MeasuredPoint("read", file_size=GIB, block_size=MIB, threads=1, iodepth=1)
ASKED = CellDemand("fio", ("read",), {"file_size": GIB, "block_size": MIB, "threads": 1})


def test_every_fact_that_is_named_must_be_known_and_equal() -> None:
    assert differences(ASKED, RunFacts("fio", [READ])) == []
    assert differences(CellDemand("fio"), RunFacts("fio", [READ])) == [], "a plan that names nothing else"


@pytest.mark.parametrize("name", ["file_size", "block_size", "threads"])
def test_an_unknown_size_is_no_agreement(name: str) -> None:
    point = MeasuredPoint("read", **{"file_size": GIB, "block_size": MIB, "threads": 1, name: None})
    assert differences(ASKED, RunFacts("fio", [point])) == [DemandDifference(name, None, ASKED.sizes[name])]


def test_another_tool_or_place_says_so_and_nothing_else() -> None:
    run = RunFacts("bonnie++", [MeasuredPoint("seek")], target=(2, "b"))
    asked = CellDemand("fio", ("read",), {"file_size": GIB}, target=(1, "a"))
    assert differences(asked, run) == [
        DemandDifference("tool", "bonnie++", "fio"),
        DemandDifference("target", "b", "a"),
    ]


def test_each_operation_that_is_named_must_be_measured() -> None:
    asked = CellDemand("dd", ("write", "read"))
    assert differences(asked, RunFacts("dd", [READ])) == [DemandDifference("operation", "read", "write, read")]
    assert differences(asked, RunFacts("dd")) == [DemandDifference("operation", None, "write, read")]


def test_a_figure_without_a_size_has_that_of_its_run_where_there_is_but_one() -> None:
    """bonnie++ seeks in the file that it has written, and prints no size beside the seeks."""
    run = RunFacts("bonnie++", [MeasuredPoint("write", GIB), MeasuredPoint("seek")])
    assert differences(CellDemand("bonnie++", ("write", "seek"), {"file_size": GIB}), run) == []
    twice = RunFacts("bonnie++", [MeasuredPoint("write", GIB), MeasuredPoint("write", 2 * GIB), MeasuredPoint("seek")])
    assert differences(CellDemand("bonnie++", ("seek",), {"file_size": GIB}), twice)


def test_the_sizes_must_meet_in_one_point_of_one_job() -> None:
    run = RunFacts(
        "fio",
        [MeasuredPoint("read", GIB, 4096, 1, 1, 0), MeasuredPoint("read", 4 * GIB, MIB, 1, 1, 1)],
    )
    assert len(differences(ASKED, run)) == 1


def test_the_options_of_a_job_are_those_of_its_section() -> None:
    asked = CellDemand("fio", ("read",), {"block_size": MIB}, {"direct": 1})
    run = RunFacts("fio", [READ], options={0: {"direct": 1}, 1: {"direct": 0}})
    assert differences(asked, run) == []
    assert differences(asked, RunFacts("fio", [READ])) == [DemandDifference("direct", None, 1)]
