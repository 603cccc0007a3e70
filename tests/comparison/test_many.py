"""Many questions are answered at once: as each of them alone, and with as many statements as one."""

from dataclasses import astuple
from typing import Any

import pytest

from apps.comparison.answer import Answer, answer, answers
from apps.comparison.queries import samples
from apps.comparison.question import Question, QuestionError
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.comparison.factories import histogram, measured, published, run, sample, target

WRITE = Question()
READ_P99 = Question(metric="clat_p99", operation="randread", x="label")
QUESTIONS = (
    WRITE,
    READ_P99,
    Question(filters=(("study", "first"),)),
    Question(filters=(("run", "none"),)),  # no number
    Question(filters=(("study", "nowhere"),)),  # empty
    Question(filters=(("colour", "red"),)),  # no run has such a fact
    Question(metric="clat_mean", operation="randread", x="label"),
    Question(filters=(("host", "alpha"),), series=("raid_level",)),
    Question(baseline="nothing"),
    Question(filters=(("study", "first"),)),
    Question(filters=(("host", "nowhere"),)),
)


@pytest.fixture(autouse=True)
def data(lab: Lab) -> None:
    """Two studies that call something by one name, own runs, and percentiles of two runs with their histograms."""
    published(lab, "stripe", {1: 1e8, 2: 2e8}, slug="first")
    published(lab, "stripe", {1: 3e8}, slug="second")
    for one in measured(lab, "alpha", [1e8, 1.2e8], raid_level="5"):
        sample(one, 0.5, metric="cpu", file_size=256 * 1024**2, block_size=1024**2, threads=1, iodepth=1)
    for start in (1_000_000, 3_000_000):
        one = run(lab, target(lab, "beta"))
        histogram(one, [(start, 90), (start * 2, 10)])
        for metric, value in {"clat_p99": start * 2.0, "clat_mean": start * 1.1}.items():
            sample(one, value, operation="randread", metric=metric, block_size=4096)


def told(found: Answer | QuestionError) -> Any:
    """All that is said, without the objects that each loading makes anew."""
    if isinstance(found, QuestionError):
        return type(found), str(found)
    readings = [(one.id, one.facts, one.bins, dict(one.beside), one.quotes) for one in found[1]]
    return astuple(found[0]), sorted(readings, key=lambda one: one[0])


def alone(question: Question) -> Any:
    try:
        return told(answer(question))
    except QuestionError as error:
        return told(error)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2, 3, 20_000])
def test_each_is_answered_as_it_is_alone(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Also part by part, and where some have more samples than a comparison takes."""
    monkeypatch.setattr(samples, "MOST_SAMPLES", most)
    assert [told(one) for one in answers(QUESTIONS)] == [alone(one) for one in QUESTIONS]


def test_they_differ() -> None:
    """What the test above holds against each other is not all the same."""
    whole, percentiles, first, *_ = found = list(answers(QUESTIONS))
    assert [isinstance(one, QuestionError) for one in found] == [number in (3, 5, 8) for number in range(11)]
    assert "did you mean" not in str(found[5])
    assert not isinstance(whole, QuestionError)
    assert not isinstance(percentiles, QuestionError)
    assert not isinstance(first, QuestionError)
    assert whole[0].series[-2:] == ("stripe (first)", "stripe (second)")
    assert first[0].series == ("stripe",)
    assert [len(one.bins) for one in percentiles[1]] == [2, 2]
    assert found[6][1][0].bins == ()  # type: ignore[index]
    assert [one.beside["cpu"] for one in whole[1] if one.facts["host"] == "alpha"] == [0.5, 0.5]


def test_too_many_samples_of_one_are_its_refusal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "MOST_SAMPLES", 4)
    whole, percentiles, first = answers(QUESTIONS[:3])
    assert "more than 4 samples" in str(whole)
    assert not isinstance(percentiles, QuestionError)
    assert not isinstance(first, QuestionError)
    assert (percentiles[0].samples, first[0].samples) == (2, 2)


def test_many_take_as_many_statements_as_one(django_assert_num_queries: Any) -> None:
    """Samples, runs, what stands beside them, histograms, quotes and plans of studies; and once the names of filters."""
    with django_assert_num_queries(6):
        list(answers([Question(metric="clat_p99", operation="randread", x="label"), WRITE]))
    with django_assert_num_queries(6):
        list(answers([one for one in QUESTIONS if one not in (QUESTIONS[4], QUESTIONS[5], QUESTIONS[10])] * 5))
    with django_assert_num_queries(7):
        list(answers(QUESTIONS * 5))


def test_only_what_the_scope_shows(lab: Lab) -> None:
    with lab_scope():
        assert [one[0].samples for one in answers([WRITE, READ_P99]) if not isinstance(one, QuestionError)] == [0, 0]
    with lab_scope(lab.pk):
        assert [one[0].samples for one in answers([WRITE, READ_P99]) if not isinstance(one, QuestionError)] == [5, 2]
