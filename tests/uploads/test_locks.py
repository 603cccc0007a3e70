"""A worker that died in the middle of an upload: seen by the lock that its connection held, long before its lease ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from apps.labs.models import Lab
from apps.uploads import pipeline
from apps.uploads.models import LEASE, Upload, UploadState
from apps.uploads.pipeline import READING, hold_reading_lock, requeue_orphaned
from apps.uploads.services import add_file, open_upload

A_MINUTE = timedelta(minutes=1)


@pytest.fixture
def upload(lab: Lab) -> Upload:
    made = open_upload(lab, "old.txt", door=Upload.Door.REST, actor="tester")
    add_file(made, "old.txt", b"nothing that anybody knows\n")
    assert made.claim()
    return made


@contextmanager
def _worker(upload: Upload) -> Iterator[psycopg.Connection]:
    """Another process's connection, which holds what a worker's would."""
    with _another_connection() as other:
        other.execute("SELECT pg_advisory_lock_shared(%s, %s)", [READING, upload.pk])
        yield other


def _another_connection() -> psycopg.Connection:
    values = connection.get_connection_params()
    wanted = {name: values[name] for name in ("host", "port", "user", "password", "dbname") if values.get(name)}
    return psycopg.connect(**wanted, autocommit=True)


def _state(upload: Upload) -> str:
    return Upload.objects.get(pk=upload.pk).state


def test_an_upload_whose_worker_died_waits_again_within_a_minute(upload: Upload) -> None:
    now = timezone.now() + A_MINUTE
    with _worker(upload) as worker:
        assert requeue_orphaned(now) == 0, "somebody lives"
        assert _state(upload) == UploadState.PARSING
        worker.close()
        for _ in range(100):  # the server sees the end of a connection a moment later
            if requeue_orphaned(now):
                break
        assert _state(upload) == UploadState.QUEUED
    assert upload.claim(), "another worker takes it up"


def test_whoever_has_just_claimed_is_not_taken_for_dead(upload: Upload) -> None:
    assert requeue_orphaned(timezone.now()) == 0


def test_reading_holds_the_lock_and_lets_it_go(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    with _another_connection() as other:

        def is_free() -> bool:
            [found] = other.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [READING, upload.pk]).fetchall()
            return bool(found[0])

        monkeypatch.setattr(pipeline._Parsing, "all", lambda self: seen.append(is_free()) or True)
        pipeline.parse(upload)
        assert (seen, is_free()) == ([False], True)
    Upload.objects.filter(pk=upload.pk).update(state=UploadState.PARSING, lease_until=timezone.now() + LEASE)
    assert requeue_orphaned(timezone.now() + A_MINUTE) == 1


def test_two_that_read_it_both_count(upload: Upload) -> None:
    later = timezone.now() + A_MINUTE
    with _worker(upload), hold_reading_lock(upload):
        pass
    with _worker(upload):
        assert requeue_orphaned(later) == 0
