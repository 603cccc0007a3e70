"""What nobody waits for comes after the answer, or at once where there is none to give."""

import pytest

from apps.lib.later import answer_first, later


def test_without_an_answer_it_is_done_at_once() -> None:
    done: list[int] = []
    later(lambda: done.append(1))
    assert done == [1]


def test_it_waits_for_the_answer_and_is_done_once() -> None:
    done: list[int] = []
    with answer_first() as rest:
        later(lambda: done.append(1))
        later(lambda: done.append(2))
        assert done == []
    assert done == []
    later(lambda: done.append(3))
    rest()
    rest()
    assert done == [3, 1, 2]


def test_one_that_fails_spoils_nothing(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    with answer_first() as rest:
        later(lambda: 1 // 0)
        later(lambda: done.append(2))
    rest()
    assert done == [2]
    assert "ZeroDivisionError" in caplog.text
