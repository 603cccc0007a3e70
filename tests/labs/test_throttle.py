"""The counts behind the waits: they grow, are given back, forgotten, and never fill the table."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.labs import throttle
from apps.labs.models import AttemptCount
from apps.labs.throttle import ThrottleRule

pytestmark = pytest.mark.django_db
RULE = ThrottleRule(free=2, longest=60)


def later(**by: float) -> None:
    """Let time pass for all counts."""
    passed = timedelta(**by)
    for row in AttemptCount.objects.all():
        row.last_at -= passed
        row.wait_until = row.wait_until and row.wait_until - passed
        row.save()


def test_the_waits_double_up_to_the_longest() -> None:
    waits = [RULE.wait(count).total_seconds() for count in range(1, 12)]
    assert waits == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert RULE.wait(10**6).total_seconds() == 60


def test_a_refused_try_is_not_counted_and_does_not_lengthen_the_wait() -> None:
    rules = {throttle.key("test", "a"): RULE}
    assert [throttle.take(rules) for _ in range(4)] == [0, 0, 1, 1]
    assert AttemptCount.objects.get().count == 2
    later(seconds=1)
    assert throttle.take(rules) == 0
    assert throttle.take(rules) == 2


def test_one_key_that_refuses_refuses_for_all_and_none_is_counted() -> None:
    one, both = throttle.key("test", "a"), throttle.key("test", "b")
    throttle.take({one: ThrottleRule(free=1, longest=60)})
    assert throttle.take({one: RULE, both: RULE}) == 1
    assert AttemptCount.objects.get(key=both).count == 0


def test_success_gives_back_and_is_remembered() -> None:
    own, wide = throttle.key("test", "own"), throttle.key("test", "wide")
    for _ in range(2):
        throttle.take({own: ThrottleRule(free=9, longest=9), wide: ThrottleRule(free=9, longest=9)})
    throttle.give_back([wide], [own])
    assert AttemptCount.objects.get(key=own).count == 0
    assert AttemptCount.objects.get(key=wide).count == 1
    assert throttle.has_succeeded(own)
    assert not throttle.has_succeeded(wide)


def test_a_quiet_day_forgets() -> None:
    rules = {throttle.key("test", "a"): RULE}
    throttle.take(rules)
    throttle.take(rules)
    later(days=1.1)
    assert throttle.take(rules) == 0
    assert AttemptCount.objects.get().count == 1


def test_the_table_has_an_end_and_keeps_what_matters() -> None:
    now = timezone.now()
    AttemptCount.objects.create(key="hot", count=50, last_at=now)
    AttemptCount.objects.create(key="home", count=0, last_at=now, succeeded_at=now)
    AttemptCount.objects.create(key="old", count=9, last_at=now - timedelta(days=3))
    AttemptCount.objects.bulk_create(AttemptCount(key=f"once {n}", count=1, last_at=now) for n in range(100))
    throttle.prune(most=40)
    left = set(AttemptCount.objects.values_list("key", flat=True))
    assert {"hot", "home"} <= left
    assert "old" not in left
    assert len(left) <= 40


def test_nobody_reads_an_address_from_a_key() -> None:
    key = throttle.key("address", "ada@example.org")
    assert "ada" not in key
    assert key != throttle.key("network", "ada@example.org")
