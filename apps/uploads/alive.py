"""Who reads an upload is known to live by a lock that its connection holds: the database lets it go in the moment in which the
process dies, however it dies, while its lease would go on for minutes.

Says only that somebody lives, and keeps nobody out; that is what claims are for. Needs connections of its own: behind a pool that
hands out connections by the transaction nothing is noticed before the lease ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from django.db import DatabaseError, connection

from apps.uploads.models import LEASE, LEASE_OF_ONE, Upload, UploadState

_READING = 0x5B1E  # whose advisory locks these are
_BEGIN = timedelta(seconds=30)  # more than lies between a claim and the lock
_HELD = """
SELECT objid::int8 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


@contextmanager
def alive(upload: Upload) -> Iterator[None]:
    """While somebody reads it."""
    key = [_READING, upload.pk & 0x7FFFFFFF]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock_shared(%s, %s)", key)
    try:
        yield
    finally:
        with suppress(DatabaseError), connection.cursor() as cursor:  # of a broken connection it is gone already
            cursor.execute("SELECT pg_advisory_unlock_shared(%s, %s)", key)


def queue_the_orphaned(now: datetime) -> int:
    """Uploads whose reader died wait again, long before the lease ends. Says how many.

    A request that reads one small file holds no lock; its lease is the shorter one.
    """
    claimed = Upload.objects.filter(
        state=UploadState.PARSING, lease_until__gt=now + LEASE_OF_ONE, lease_until__lt=now + LEASE - _BEGIN
    )
    found = list(claimed.values_list("pk", "lease_until"))
    held = _held() if found else set()
    return sum(
        Upload.objects.filter(pk=pk, state=UploadState.PARSING, lease_until=lease).update(
            state=UploadState.QUEUED, lease_until=None
        )
        for pk, lease in found
        if pk & 0x7FFFFFFF not in held
    )


def _held() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(_HELD, [_READING])
        return {key for (key,) in cursor.fetchall()}
