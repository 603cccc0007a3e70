"""Redis that is away, or that takes a connection and never answers: nobody waits long, and nobody waits again at once."""

import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from celery import Celery
from django.conf import settings
from django.core.cache import cache
from redis import Redis
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as NoAnswerError

from apps.api.throttles import TokenThrottle
from apps.core import broker, pubsub
from apps.core.broker import ANSWER_SECONDS, asking, connection_options
from apps.core.cache import PatientRedisCache
from apps.core.task_queue import PatientTask, publish
from apps.labs.models import Token

SLACK = 0.5  # seconds for a busy machine


@pytest.fixture(params=["never answers", "takes no connection", "nobody listens", "a socket that never answers"])
def redis_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any) -> Iterator[str]:
    with (
        socket.socket(socket.AF_UNIX if "socket" in request.param else socket.AF_INET) as sock,
        socket.socket() as other,
    ):
        if "socket" in request.param:
            path = tmp_path_factory.mktemp("r") / "s"
            sock.bind(str(path))
            url = f"unix://{path}?db=0"
        else:
            sock.bind(("127.0.0.1", 0))
            url = f"redis://127.0.0.1:{sock.getsockname()[1]}/0"
        if request.param != "nobody listens":
            sock.listen(0 if request.param == "takes no connection" else 100)
        if request.param == "takes no connection":
            other.connect(sock.getsockname())
        monkeypatch.setattr(settings, "REDIS_URL", url)
        monkeypatch.setattr(pubsub, "_local", type(pubsub._local)())
        yield url


def test_bells_are_silent_and_soon_so(redis_url: str) -> None:
    begin = time.monotonic()
    for number in range(50):
        pubsub.ring(f"run:{number}", {"n": number})
        pubsub.remember(f"run:{number}", {"n": number}, 5, 5)
        assert pubsub.remembered(f"run:{number}") == []
        pubsub.forget(f"run:{number}")
    assert time.monotonic() - begin < ANSWER_SECONDS + SLACK


def test_the_cache_is_empty_and_soon_so(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    away: Any = PatientRedisCache(redis_url, {"OPTIONS": connection_options()})
    monkeypatch.setattr(TokenThrottle, "cache", away)
    begin = time.monotonic()
    for number in range(20):
        assert away.get("a", 5) == 5
        away.set("a", number)
        assert away.add("a", 1) is True
        assert away.incr("a") == 1
        assert away.get_many(["a"]) == {}
        asked: Any = SimpleNamespace(auth=Token(pk=number), user=None)
        assert TokenThrottle().allow_request(asked, None)
    assert time.monotonic() - begin < ANSWER_SECONDS + SLACK


def test_a_task_is_not_handed_over_and_soon_so(redis_url: str) -> None:
    app = Celery("away", broker="redis://127.0.0.1:1/0", set_as_current=False, task_cls=PatientTask)

    @app.task(name="away.work", shared=False)
    def work(number: int) -> int:
        return number

    begin = time.monotonic()
    assert not any(publish(work, number) for number in range(10))
    assert time.monotonic() - begin < ANSWER_SECONDS + SLACK


@pytest.mark.services
def test_after_a_rest_it_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    url = settings.REDIS_URL
    monkeypatch.setattr("apps.core.broker.REST_SECONDS", 0.2)
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/1")
    pubsub.ring("run:1", {})  # nobody answers at this address; the cache's own is another, and is asked as before
    cache.set("rested", 1)
    assert cache.get("rested") == 1
    monkeypatch.setattr(settings, "REDIS_URL", url)
    time.sleep(0.25)
    cache.set("rested", 2)
    assert cache.get("rested") == 2


def test_a_connection_is_to_the_address_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that has once spoken to one address does not go on with it when the settings name another."""
    url = settings.REDIS_URL
    for address in (url, "redis://127.0.0.1:1/1", url):
        monkeypatch.setattr(settings, "REDIS_URL", address)
        used, wanted = (
            client.connection_pool.connection_kwargs for client in (pubsub.client(), Redis.from_url(address))
        )
        assert [used.get(name) for name in ("host", "port", "path")] == [
            wanted.get(name) for name in ("host", "port", "path")
        ]


def test_one_that_answers_with_an_error_is_asked_again_at_once() -> None:
    url = "redis://of-this-test/0"
    with pytest.raises(NoAnswerError), asking(url):
        raise NoAnswerError
    broker._rests[url]._until = time.monotonic() - 1  # the time of rest is over
    with pytest.raises(ResponseError), asking(url):
        raise ResponseError("OOM command not allowed")
    with asking(url):
        pass
