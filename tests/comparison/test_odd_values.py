"""Figures that are no measurements: they never break a page, and are said."""

from django.test import Client

from apps.comparison.answer import answer
from apps.comparison.compare import compare
from apps.comparison.grid import grid
from apps.comparison.question import Question
from apps.comparison.readings import NO_NUMBER, usable
from apps.labs.models import Lab
from apps.trends.queries import measured as points_of
from tests.comparison.factories import MIB, measured, reading
from tests.sampling import for_each


@for_each("value", [float("nan"), float("inf"), float("-inf"), 1e300], taken_back=True)
def test_what_is_no_number_is_missing_and_says_so(lab: Lab, sign_in: object, value: float) -> None:
    measured(lab, "alpha", [1e8, 1.1e8, 1.2e8])
    measured(lab, "beta", [value])
    question = Question(series=("host",))
    comparison, _ = answer(question)
    (beta,) = [cell for cell in comparison.cells if cell.series == "beta"]
    assert (beta.n, beta.missing) == (0, NO_NUMBER)
    client: Client = sign_in("viewer")  # type: ignore[operator]
    assert NO_NUMBER in client.get("/compare/free/").content.decode()
    assert points_of(Question(filters=(("host", "beta"),)), lab.pk) == []


def test_numbers_are_usable() -> None:
    assert [usable(one) for one in (None, 0.0, -3.0, 1e99)] == [None, 0.0, -3.0, 1e99]


def test_a_run_of_zero_says_why_there_is_no_ratio() -> None:
    readings = [reading(n, 1e8) for n in range(3)] + [
        reading(9 + n, value, "b") for n, value in enumerate([0.0, 1e8, 2e8])
    ]
    comparison = compare(readings, Question())
    assert comparison.cells[1].advice == "No ratio: a run of 0 or less has no logarithm"
    assert "No ratio: a run of 0 or less has no logarithm" in grid(comparison).rows[0].figures[1].details


def test_runs_that_all_give_one_figure_say_that_their_spread_is_hidden() -> None:
    readings = [reading(n, 1e8) for n in range(3)] + [reading(9 + n, 1e8 + n, "b") for n in range(3)]
    same, differing = (" ".join(figure.details) for figure in grid(compare(readings, Question())).rows[0].figures)
    assert "their spread is hidden" in same
    assert "their spread is hidden" not in differing


def test_a_ratio_of_medians_says_so_beside_a_mean() -> None:
    """Its figure is 7.12 beside 2.01, and twice as fast nevertheless."""
    stalled = [1.0, 1, 1, 1, 1, 1, 1, 50]
    readings = [reading(n, value) for n, value in enumerate(stalled)]
    readings += [reading(20 + n, 2 + n / 1000, "b") for n in range(8)]
    text = grid(compare(readings, Question())).rows[0].figures[1].judgement
    assert text.startswith("2.00× of medians (")


def test_a_baseline_without_a_value_gives_no_reason_that_is_not_so() -> None:
    """At 2 MiB nothing stands against what `b` gave, and none of its runs is 0."""
    readings = [reading(n, 1e8, file_size=MIB) for n in range(3)]
    readings += [reading(10 + n, 1e8 + n, "b", file_size=size) for size in (MIB, 2 * MIB) for n in range(3)]
    readings.append(reading(30, None, "a", file_size=2 * MIB))
    found = compare(readings, Question(x="file_size", baseline="a"))
    (alone,) = [cell for cell in found.cells if cell.series == "b" and cell.x == 2 * MIB]
    assert (alone.n, alone.ratio, alone.advice) == (3, None, "")
