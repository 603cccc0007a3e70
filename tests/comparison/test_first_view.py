"""What the free comparison starts with: the newest configurations of a lab that were measured alike."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.comparison import default_question
from apps.comparison.default_question import MOST_CONFIGURATIONS, beside_published, first_view
from apps.comparison.queries.samples import load
from apps.comparison.question import Question
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.runs.states import State
from tests.comparison.factories import GIB, MIB, measured, published, run, sample, target
from tests.conftest import Cast
from tests.sampling import for_each

SignIn = Callable[[str], Client]


def question_of(lab: Lab) -> Question:
    view = first_view(lab.pk)
    assert view
    assert view.study is None
    return view.question


def runs_of(question: Question) -> set[int]:
    return {reading.run for reading in load(question)}


def ids(*groups: list[Run]) -> set[int]:
    return {run.pk for group in groups for run in group}


def test_a_lab_without_any_run_has_nothing_to_begin_with(lab: Lab) -> None:
    assert first_view(lab.pk) is None
    run(lab, state=State.FAILED)
    run(lab)
    assert first_view(lab.pk) is None, "none of them has a value"


def test_every_configuration_stands_with_the_runs_that_are_like_its_newest(lab: Lab) -> None:
    old_kernel = measured(lab, "alpha", [9e7], kernel="5.10")
    alpha = measured(lab, "alpha", [1e8, 1.1e8], kernel="6.1")
    beta = measured(lab, "beta", [2e8, 2.1e8], kernel="6.1")
    question = question_of(lab)
    assert runs_of(question) == ids(alpha, beta)
    assert not runs_of(question) & ids(old_kernel)
    assert (question.metric, question.operation) == ("bandwidth", "write")


def test_what_was_measured_otherwise_than_the_newest_run_stays_away(lab: Lab) -> None:
    measured(lab, "gamma", [5e7], sync="none")
    measured(lab, "delta", [6e7], file_size=512 * MIB)
    alpha, beta = measured(lab, "alpha", [1e8]), measured(lab, "beta", [2e8])
    assert runs_of(question_of(lab)) == ids(alpha, beta)


def test_the_page_shows_them_without_a_question_in_its_address(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [9e7], kernel="5.10")
    measured(lab, "alpha", [1e8, 1.1e8], kernel="6.1")
    measured(lab, "beta", [2e8], kernel="6.1")
    comparison = sign_in("viewer").get("/compare/free/").context["comparison"]
    assert sorted((cell.n, cell.mean) for cell in comparison.cells if cell.runs) == [(1, 2e8), (2, 1.05e8)]


def test_the_newest_configurations_are_shown_and_no_more_than_a_chart_holds(lab: Lab) -> None:
    made = [measured(lab, f"host{number}", [1e8]) for number in range(MOST_CONFIGURATIONS + 2)]
    assert runs_of(question_of(lab)) == ids(*made[-MOST_CONFIGURATIONS:])


def test_of_many_nights_all_runs_that_are_alike_are_shown(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration is found by its newest run; a busier one does not push it out."""
    monkeypatch.setattr(default_question, "NEWEST", 3)
    alpha = measured(lab, "alpha", [1e8, 1.1e8, 1.2e8])
    beta = measured(lab, "beta", [2e8] * 5)
    assert runs_of(question_of(lab)) == ids(alpha, beta)


def test_where_only_their_numbers_name_them_the_newest_are_shown(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_question, "NEWEST", 3)
    measured(lab, "alpha", [9e7], kernel="5.10")
    alpha = measured(lab, "alpha", [1e8] * 5, kernel="6.1")
    question = question_of(lab)
    assert runs_of(question) == ids(alpha[-3:])
    assert any(name == "run" for name, _ in question.filters)


def test_runs_of_others_are_no_part_of_it(lab: Lab, cast: Cast) -> None:
    with lab_scope(cast.other_lab.pk):
        measured(cast.other_lab, "theirs", [3e8])
    alpha = measured(lab, "alpha", [1e8])
    assert runs_of(question_of(lab)) == ids(alpha)


@for_each(
    "measures, expected",
    [
        (
            [("read", "iops"), ("write", "latency_mean"), ("read", "bandwidth"), ("write", "bandwidth")],
            "bandwidth write",
        ),
        ([("randread", "iops"), ("randwrite", "iops"), ("read", "latency_mean")], "iops randwrite"),
        ([("read", "bandwidth"), ("randwrite", "bandwidth")], "bandwidth read"),
        ([("read", "latency_mean")], "latency_mean read"),
    ],
    taken_back=True,
)
def test_of_what_a_run_measured_the_most_usual_is_asked(
    lab: Lab, measures: list[tuple[str, str]], expected: str
) -> None:
    of = run(lab, facts={"ram": GIB})
    for operation, metric in measures:
        sample(of, 1.0, operation, metric, file_size=GIB, block_size=MIB, threads=1, iodepth=1)
    question = question_of(lab)
    assert f"{question.metric} {question.operation}" == expected


@for_each("name", ["file_size", "block_size", "threads", "iodepth"], taken_back=True)
def test_the_axis_is_what_the_run_varied(lab: Lab, name: str) -> None:
    of = run(lab, facts={"ram": GIB})
    point = {"file_size": GIB, "block_size": MIB, "threads": 1, "iodepth": 1}
    for number in (1, 2, 4):
        sample(of, 1e8, **{**point, name: number * point[name]})
    other = run(lab, target(lab, "beta"), facts={"ram": GIB})
    sample(other, None, **point)
    question = question_of(lab)
    assert question.x == name
    assert {value for key, value in question.filters if key == name} == {
        str(number * point[name]) for number in (1, 2, 4)
    }


def test_a_lab_without_runs_of_its_own_begins_with_a_published_report(cast: Cast) -> None:
    published_lab = Lab.objects.create(name="Published", slug="published", is_published=True)
    with lab_scope(published_lab.pk):
        for slug in ("older", "paper"):
            published(published_lab, f"{slug} RAID 5", {100: 1.8e8, 2000: 2.4e7}, slug=slug)
    with lab_scope(cast.lab.pk, published_lab.pk):
        view = first_view(cast.lab.pk)
        assert view
        assert view.study
        assert view.study.slug == "paper"
        assert ("study", "paper") in view.question.filters
        measured(cast.lab, "alpha", [1e8])
        own = first_view(cast.lab.pk)
        assert own
        assert own.study is None, "one run of its own is enough"


def test_a_run_stands_beside_the_hosts_of_the_report(lab: Lab) -> None:
    configuration = published(lab, "SATA", {100: 1.8e8}, slug="crs4-sata-scsi")
    [alpha] = measured(lab, "alpha", [1e8])
    configuration.host = target(lab, "old-host").host
    configuration.save()
    address = beside_published(alpha, "read")
    assert "operation=read" in address
    assert "host=alpha&host=old-host" in address
    assert "scale=log" in address
