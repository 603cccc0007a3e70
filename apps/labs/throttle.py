"""Limits on how often something may be tried, with growing waits.

The counts are in the database: all web processes share them, and they hold while Redis is away. A try is counted before it is looked at, so of
many at the same moment no more get through than of many in a row; what succeeds is given back.
"""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from apps.labs.models import AttemptCount

MOST_ROWS = 100_000  # about 20 MB
KNOWN_FOR = timedelta(days=90)  # so long a network is remembered from which an account has signed in
FORGOTTEN_AFTER = timedelta(days=2)
PRUNE_EVERY = 200  # tries, on average


@dataclass(frozen=True)
class ThrottleRule:
    """`free` tries without a wait; then `first` seconds, twice as many and so on between them, `longest` at most. A quiet day forgets all."""

    free: int
    longest: int
    first: int = 1
    quiet: timedelta = timedelta(days=1)

    def wait(self, count: int) -> timedelta:
        """Return how long the next try has to wait after so many."""
        beyond = count - self.free
        return timedelta(seconds=min(self.first * 2 ** min(beyond, 30), self.longest)) if beyond >= 0 else timedelta()


def key(kind: str, *parts: str) -> str:
    """Return the key under which tries of this kind are counted; nobody can read from it what they were of."""
    return salted_hmac(f"spindle.attempts.{kind}", "\0".join(parts), algorithm="sha256").hexdigest()


def take(rules: Mapping[str, ThrottleRule]) -> int:
    """Count one try under all of these keys. Return 0, or the seconds to wait where one refuses; then nothing is counted."""
    seconds = _take(rules)
    if secrets.randbelow(PRUNE_EVERY) == 0:
        prune()
    return seconds


@transaction.atomic
def _take(rules: Mapping[str, ThrottleRule]) -> int:
    now = timezone.now()
    rows = _locked(rules)
    waiting = [row.wait_until - now for row in rows if row.wait_until and row.wait_until > now]
    if waiting:
        return max(int(max(waiting).total_seconds()) + 1, 1)
    for row in rows:
        rule = rules[row.key]
        row.count = 1 if row.last_at < now - rule.quiet else row.count + 1
        row.last_at, row.wait_until = now, now + rule.wait(row.count)
    AttemptCount.objects.bulk_update(rows, ["count", "last_at", "wait_until"])
    return 0


@transaction.atomic
def give_back(wide: Iterable[str], own: Iterable[str]) -> None:
    """Undo a counted try that has succeeded: one less under the `wide` keys; the `own` ones begin anew, and are remembered."""
    now = timezone.now()
    rows, own = _locked([*wide, *own]), set(own)
    for row in rows:
        row.count = 0 if row.key in own else max(row.count - 1, 0)
        row.wait_until = None
        if row.key in own:
            row.succeeded_at = now
    AttemptCount.objects.bulk_update(rows, ["count", "wait_until", "succeeded_at"])


def has_succeeded(key: str) -> bool:
    """Return whether a try under this key has succeeded in the last months."""
    return AttemptCount.objects.filter(key=key, succeeded_at__gt=timezone.now() - KNOWN_FOR).exists()


@transaction.atomic
def count_up(key: str) -> int:
    """Count without a limit, and return the count."""
    [row] = _locked([key])
    row.count, row.last_at = row.count + 1, timezone.now()
    row.save(update_fields=["count", "last_at"])
    return row.count


def _locked(keys: Iterable[str]) -> list[AttemptCount]:
    """Return the rows of these keys, made where there are none. Always in one order, so that two never wait for each other."""
    ordered = sorted(set(keys))
    new = [AttemptCount(key=key, last_at=timezone.now()) for key in ordered]
    AttemptCount.objects.bulk_create(new, ignore_conflicts=True)
    return list(AttemptCount.objects.select_for_update().filter(key__in=ordered).order_by("key"))


@transaction.atomic
def prune(most: int = MOST_ROWS) -> None:
    """Forget what is old, and beyond `most` rows those with the fewest tries: strangers can make rows, and shall not fill the table."""
    now = timezone.now()
    free = AttemptCount.objects.select_for_update(skip_locked=True)  # what is being counted now is not waited for
    old = free.filter(last_at__lt=now - FORGOTTEN_AFTER).exclude(succeeded_at__gt=now - KNOWN_FOR)
    _forget(old.order_by("last_at")[:most])
    if (beyond := AttemptCount.objects.count() - most) > 0:
        _forget(free.order_by(F("succeeded_at").asc(nulls_first=True), "count", "last_at")[: beyond + most // 10])


def _forget(rows: QuerySet[AttemptCount]) -> None:
    AttemptCount.objects.filter(key__in=[row.key for row in rows]).delete()


def in_words(seconds: int) -> str:
    """Write a wait as people say it."""
    if seconds < 120:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    if seconds > 7200:
        return f"{(seconds + 3599) // 3600} hours"
    return f"{(seconds + 59) // 60} minutes"
