"""A sum and the streams that it sums: where a run has both, the sum alone counts."""

from typing import Any

import pytest

from apps.comparison.compare import compare
from apps.comparison.queries.samples import load
from apps.comparison.question import Question
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from apps.trends.queries import measured
from tests.comparison.factories import run, sample
from tests.conftest import Cast

NAMES = {"0": {"name": "SUM"}, "1": {"name": "stream 5"}, "2": {"name": "stream 7"}}


def streams(cast: Cast, **fields: Any) -> Run:
    one: Run = run(cast.lab, **{"origin": "uploaded", "tool": "iperf3", "sections": NAMES, **fields})
    for section, value in enumerate((9e9, 4e9, 5e9)):
        sample(one, value, "net_send", "bandwidth", threads=2, section=section)
    return one


def values(operation: str = "net_send", metric: str = "bandwidth") -> list[float | None]:
    return [one.value for one in load(Question(operation=operation, metric=metric))]


def test_the_rate_of_several_streams_is_that_of_their_sum(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        streams(cast)
        question = Question(operation="net_send", metric="bandwidth", x="threads")
        (cell,) = compare(load(question), question).cells
        (watched,) = measured(question, cast.lab.pk)
    assert (cell.n, cell.mean) == (1, 9e9)
    assert watched.value == 9e9


def test_what_only_streams_have_counts(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        one = streams(cast)
        for section in (1, 2):
            sample(one, section * 1e6, "net_send", "jitter", threads=2, section=section)
        assert sorted(filter(None, values(metric="jitter"))) == [1e6, 2e6]


def test_a_sum_of_another_run_or_another_point_takes_nothing_away(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        streams(cast)
        one = run(
            cast.lab, origin="uploaded", tool="iperf3", sections={"0": {"name": "stream 5"}, "1": {"name": "stream 7"}}
        )
        for section in (0, 1):
            sample(one, 1e9, "net_send", "bandwidth", threads=2, section=section)
        other = run(cast.lab, origin="uploaded", tool="iperf3", sections=NAMES)
        sample(other, 3e9, "net_send", "bandwidth", threads=4, section=0)
        sample(other, 2e9, "net_send", "bandwidth", threads=2, section=1)
        assert sorted(filter(None, values())) == [1e9, 1e9, 2e9, 3e9, 9e9]


@pytest.mark.parametrize("fields", [{"tool": "fio"}, {"sections": {}}])
def test_jobs_are_no_parts_whatever_they_are_called(cast: Cast, fields: dict[str, Any]) -> None:
    with lab_scope(cast.lab.pk):
        streams(cast, **fields)
        assert sorted(filter(None, values())) == [4e9, 5e9, 9e9]


def test_a_sum_without_a_value_is_not_made_up_from_its_parts(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        one = run(cast.lab, origin="uploaded", tool="iperf3", sections=NAMES)
        sample(one, None, "net_send", "bandwidth", section=0, missing_reason="not printed")
        sample(one, 4e9, "net_send", "bandwidth", section=1)
        assert values() == [None]
