"""Names of the parts of an output: jobs, streams, clients."""

import pytest

from apps.runs.sections import is_sum, jobs_of, names_of, options_of, told_apart
from apps.runs.workload import operations


def test_what_an_output_calls_them_stands_before_the_jobs_of_the_workload() -> None:
    kept = {"0": {"name": "SUM"}, "2": {"options": {"rw": "read"}}, "12": {"name": "stream 5"}}
    assert names_of(kept, [{"name": "a"}]) == {0: "SUM", 12: "stream 5"}
    assert names_of({}, [{"name": "a"}, {"name": "b"}]) == {0: "a", 1: "b"}
    assert names_of({}, ()) == {}


def test_several_are_told_apart_and_one_needs_no_name() -> None:
    assert told_apart({0: "seq write"}) == {}
    assert told_apart({0: "a", 1: "b"}) == {0: "a", 1: "b"}
    assert told_apart({4: "clones", 0: "clones", 1: "other"}) == {0: "clones, 1 of 2", 1: "other", 4: "clones, 2 of 2"}


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
    names = jobs_of("fio", {"0": {"name": "a"}, "1": {"name": "b"}, "2": {"name": "a"}})
    assert operations([], [None], names) == "a + b"
    assert operations(["write"], [None], names) == "write"
    assert operations([], ["raid5"], names) == "raid5"
    assert operations([], [], list("abcdef")) == "a + b + c + d + 2 more"
    assert jobs_of("iperf3", {"0": {"name": "SUM"}}) == []


def test_options_are_told_once_where_they_are_the_same_for_all_jobs() -> None:
    kept = {
        "0": {"name": "a", "options": {"rw": "read", "size": "4m", "direct": ""}},
        "1": {"name": "b", "options": {"rw": "write", "size": "4m"}},
    }
    assert options_of(kept) == [("rw", ["a: read", "b: write"]), ("size", ["4m"]), ("direct", ["a: set"])]
    many = {str(number): {"name": "clones", "options": {"offset": str(number)}} for number in range(20)}
    [(_, values)] = options_of(many)
    assert values[:2] == ["clones, 1 of 20: 0", "clones, 2 of 20: 1"]
    assert (len(values), values[-1]) == (8, "and 13 more")
    assert options_of({"0": {"name": "SUM"}}) == []
