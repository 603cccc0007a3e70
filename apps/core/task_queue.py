"""Celery tasks sent through a broker that may be down or hang, and the count of tries of work that may kill its worker.

What was stored stays stored when the broker is down, and no page shows an error for it. Tries are counted in the cache,
which may lose the count; then the work is tried more often, never less.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from celery import current_app
from celery.contrib.django.task import DjangoTask
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from apps.core.broker import asking
from apps.core.pubsub import client

log = logging.getLogger(__name__)


@contextmanager
def living_broker() -> Iterator[None]:
    """Ask the broker for a sign of life before something is sent. Raises kombu's `OperationalError` where it is away."""
    try:
        with asking(settings.REDIS_URL, OperationalError):
            client().ping()
            yield
    except RedisError as error:
        raise OperationalError(str(error)) from None


class PatientTask(DjangoTask):  # type: ignore[misc]
    """A task whose sender does not wait for a broker that hangs."""

    abstract = True

    def apply_async(self, *args: Any, **options: Any) -> Any:
        """Send the task after a ping of the broker, which kombu would wait for much longer.

        Raises:
            OperationalError: The broker is down; at once if it failed a moment ago.
        """
        with living_broker():
            return super().apply_async(*args, **options)

    def delay_on_commit(self, *args: Any, **named: Any) -> None:
        """Send the task when the transaction commits; if the broker is down, a sweeper finds the work."""
        transaction.on_commit(partial(publish, self, *args, **named))


def publish(task: Any, *args: Any, countdown: float | None = None, **named: Any) -> bool:
    """Send a task, and return False where the broker is down.

    For work that a sweeper finds again, or whose caller reports it.
    """
    more = {"countdown": countdown} if countdown else {}
    try:
        task.apply_async(args, named, **more) if more or named else task.delay(*args)
    except OperationalError as error:
        log.warning("%s%s was not handed over: %s", task.name, args, error)
        return False
    return True


def send(name: str, *args: Any, expires: float | None = None) -> bool:
    """Send a task that is known by its name alone, for its module is above the caller's. False where the broker is away."""
    try:
        with living_broker():
            current_app.send_task(name, args, expires=expires)
    except OperationalError as error:
        log.warning("%s%s was not handed over: %s", name, args, error)
        return False
    return True


def send_on_commit(name: str, *args: Any, expires: float | None = None) -> None:
    """Send a task by its name when the transaction commits.

    A broker that is down then is logged, and raises no error: what was stored stays stored.
    """
    transaction.on_commit(partial(send, name, *args, expires=expires))


MOST_TRIES = 3
REMEMBERED_S = 24 * 3600


def begin(work: str) -> int:
    """Return which try this is, from 1."""
    key = f"tries-{work}"
    cache.add(key, 0, REMEMBERED_S)
    try:
        return int(cache.incr(key))
    except ValueError:  # it was forgotten just now
        return 1


def end(work: str) -> None:
    """Forget the tries of a piece of work that ended or was given up."""
    cache.delete(f"tries-{work}")
