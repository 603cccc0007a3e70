"""Names of the parts of an output: jobs, streams, clients."""

import pytest

from apps.runs.sections import is_sum, jobs_of, names_of, told_apart
from apps.runs.workload import operations


def test_what_an_output_calls_them_stands_before_the_jobs_of_the_workload() -> None:
    assert names_of({"0": "SUM", "12": "stream 5"}, [{"name": "a"}]) == {0: "SUM", 12: "stream 5"}
    assert names_of({}, [{"name": "a"}, {"name": "b"}]) == {0: "a", 1: "b"}
    assert names_of({}, ()) == {}


def test_several_are_told_apart_and_one_needs_no_name() -> None:
    assert told_apart({0: "seq write"}, 0) == ""
    assert [told_apart({0: "a", 1: "b"}, number) for number in range(3)] == ["a", "b", ""]
    names = {0: "clones", 1: "other", 4: "clones"}
    assert [told_apart(names, number) for number in names] == ["clones, 1 of 2", "other", "clones, 2 of 2"]


@pytest.mark.parametrize(
    ("tool", "name", "expected"),
    [
        ("iperf", "SUM", True),
        ("iperf3", "sum", True),
        ("iperf3", "TX-C SUM", True),
        ("iperf3", "reverse sum", True),
        ("vdbench", "Total", True),
        ("iperf3", "stream 5", False),
        ("vdbench", "SD sd1", False),
        ("iperf", "", False),
        ("fio", "sum", False),
    ],
)
def test_a_sum_is_what_a_tool_sums_up_and_no_job_of_that_name(tool: str, name: str, expected: bool) -> None:
    assert is_sum(tool, name) is expected


def test_a_list_says_what_jobs_are_called_where_nothing_says_what_they_did() -> None:
    names = jobs_of("fio", {"0": "a", "1": "b", "2": "a"})
    assert operations([], [None], names) == "a + b"
    assert operations(["write"], [None], names) == "write"
    assert operations([], ["raid5"], names) == "raid5"
    assert operations([], [], list("abcdef")) == "a + b + c + d + 2 more"
    assert jobs_of("iperf3", {"0": "SUM"}) == []
