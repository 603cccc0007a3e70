"""Many cases as one test: which are tried, and what is reported."""

import pytest

from apps.labs.models import Lab
from tests import sampling
from tests.sampling import for_each, in_turn, sample


@pytest.fixture(autouse=True)
def short_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "IS_LONG", False)
    monkeypatch.setattr(sampling, "SEED", 1)


def test_a_sample_is_the_same_each_time_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sample(range(1000), 20)
    assert first == sample(range(1000), 20) == sorted(first)
    assert len(set(first)) == 20
    monkeypatch.setattr(sampling, "SEED", 2)
    assert sample(range(1000), 20) != first
    assert sample(range(5), 20) == [0, 1, 2, 3, 4]


def test_the_long_form_takes_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "IS_LONG", True)
    assert sample(range(1000), 20) == list(range(1000))


def test_forms_are_taken_in_turn_and_all_in_the_long_form(monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_turn("ab", range(3)) == [("b", 0), ("a", 1), ("b", 2)]
    monkeypatch.setattr(sampling, "SEED", 2)
    assert in_turn("ab", range(3)) == [("a", 0), ("b", 1), ("a", 2)]
    monkeypatch.setattr(sampling, "IS_LONG", True)
    assert sorted(in_turn("ab", range(3))) == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("b", 2)]


def test_every_failing_case_is_reported_with_the_seed() -> None:
    tried = []

    @for_each("number, letter", [(n, "x") for n in range(100)], number=50)
    def check(number: int, letter: str) -> None:
        tried.append(number)
        assert number % 10, f"{number} is round"

    with pytest.raises(pytest.fail.Exception) as failure:
        check()
    assert len(tried) == 50
    round_numbers = [n for n in tried if n % 10 == 0]
    text = str(failure.value)
    assert f"{len(round_numbers)} of 50 cases fail" in text
    assert "of 100, drawn with SPINDLE_SEED=1" in text
    assert all(f"--- case {n}: {n}, 'x'" in text and f"{n} is round" in text for n in round_numbers)


def test_any_exception_of_a_case_is_its_failure_and_the_others_are_tried() -> None:
    tried = []

    @for_each("divisor", [0, 1, 2])
    def check(divisor: int) -> None:
        tried.append(divisor)
        assert 4 // divisor

    with pytest.raises(pytest.fail.Exception, match=r"1 of 3 cases fail[^Z]*ZeroDivisionError"):
        check()
    assert tried == [0, 1, 2]


def test_the_test_is_skipped_only_where_every_case_is() -> None:
    tried = []

    @for_each("number", range(4))
    def check(number: int) -> None:
        if number < 2:
            pytest.skip(f"no {number}")
        tried.append(number)

    check()
    assert tried == [2, 3]

    @for_each("number", range(2))
    def skip(number: int) -> None:
        pytest.skip(f"no {number}")

    with pytest.raises(pytest.skip.Exception, match="no 0; no 1"):
        skip()

    @for_each("number", [])
    def without_cases(number: int) -> None: ...

    with pytest.raises(pytest.skip.Exception, match="there are no cases"):
        without_cases()


@for_each("number", [1, 2])
def test_fixtures_are_given_as_well(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert number in (1, 2)
    assert isinstance(monkeypatch, pytest.MonkeyPatch)


@pytest.mark.django_db
def test_what_a_case_writes_is_taken_back_also_where_the_database_refused_it() -> None:
    seen = []

    @for_each("name", ["a", "b", None, "c"], taken_back=True)
    def check(name: str) -> None:
        seen.append(Lab.objects.count())
        Lab.objects.create(name=name, slug="the-same")

    before = Lab.objects.count()
    with pytest.raises(pytest.fail.Exception, match="1 of 4 cases fail"):
        check()
    assert seen == [before] * 4
    assert Lab.objects.count() == before
