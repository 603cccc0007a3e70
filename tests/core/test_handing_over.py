"""A broker that does not answer costs time, never work or an error."""

from typing import Any

import pytest
from celery import Celery
from kombu.exceptions import EncodeError

from apps.core.task_queue import publish


@pytest.fixture
def task() -> Any:
    """A task of an application whose broker's port nobody listens at."""
    app = Celery("away", broker="redis://127.0.0.1:1/0", set_as_current=False)
    app.conf.task_publish_retry_policy = {"max_retries": 1, "interval_start": 0}

    @app.task(name="away.work", shared=False)
    def work(number: int) -> int:
        return number

    return work


@pytest.mark.parametrize("countdown", [None, 3.0])
def test_nothing_is_raised_and_the_log_says_what_waits(
    task: Any, countdown: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    assert publish(task, 5, countdown=countdown) is False
    assert "away.work(5,) was not handed over" in caplog.text


def test_an_error_of_another_kind_is_no_outage(task: Any) -> None:
    with pytest.raises(EncodeError):
        publish(task, object())
