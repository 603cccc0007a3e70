"""When schedules are due: days, weeks, cron text, midnight, and the two nights on which the clock changes."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.plans.schedules.recurrence import Recurrence, RecurrenceError, parse_recurrence, zone_names

ROME = "Europe/Rome"  # UTC + 1; + 2 from 2026-03-29 02:00 to 2026-10-25 03:00 by the clock


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def first(recurrence: Recurrence, after: str, count: int) -> list[str]:
    due = recurrence.after(at(after))
    return [f"{next(due):%Y-%m-%d %H:%M}" for _ in range(count)]


def test_every_night() -> None:
    nightly = parse_recurrence("30 2 * * *", ROME)
    assert first(nightly, "2026-01-10T00:00", 3) == ["2026-01-10 01:30", "2026-01-11 01:30", "2026-01-12 01:30"]
    assert first(nightly, "2026-01-10T01:30", 1) == ["2026-01-11 01:30"], "after, not at"


def test_a_time_before_midnight_in_utc_belongs_to_the_next_day_of_the_zone() -> None:
    assert first(parse_recurrence("15 0 * * *", ROME), "2026-01-10T12:00", 2) == [
        "2026-01-10 23:15",
        "2026-01-11 23:15",
    ]
    assert first(parse_recurrence("50 23 * * *", "Pacific/Kiritimati"), "2026-01-10T09:55", 1) == ["2026-01-11 09:50"]


def test_days_of_the_week_are_those_of_the_zone() -> None:
    # Monday 00:30 in Rome is Sunday evening in UTC
    mondays = parse_recurrence("30 0 * * 1", ROME)
    assert first(mondays, "2026-01-10T00:00", 2) == ["2026-01-11 23:30", "2026-01-18 23:30"]


def test_a_time_that_the_clock_leaves_out_is_due_once_an_hour_later() -> None:
    nightly = parse_recurrence("30 2 * * *", ROME)
    assert first(nightly, "2026-03-28T00:00", 3) == ["2026-03-28 01:30", "2026-03-29 01:30", "2026-03-30 00:30"]
    due = at("2026-03-29T01:30").astimezone(nightly.zone)
    assert f"{due:%H:%M}" == "03:30"


def test_a_time_that_comes_twice_is_due_the_first_time_alone() -> None:
    nightly = parse_recurrence("30 2 * * *", ROME)
    assert first(nightly, "2026-10-24T00:00", 3) == ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]


def test_hourly_times_that_fall_together_when_the_clock_changes_are_due_once() -> None:
    hourly = parse_recurrence("30 * * * *", ROME)
    start, end = at("2026-03-29T00:00"), at("2026-03-29T03:00")
    due = [moment for _, moment in zip(range(3), hourly.after(start), strict=False)]
    assert [f"{moment:%H:%M}" for moment in due] == ["00:30", "01:30", "02:30"]
    assert hourly.count_between(start, end) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 3 1 * *", ["2026-02-01 03:00", "2026-03-01 03:00"]),
        ("0 3 29 2 *", ["2028-02-29 03:00", "2032-02-29 03:00"]),
        ("0 */12 * * *", ["2026-01-10 12:00", "2026-01-11 00:00"]),
        ("0 3 * * sat,7", ["2026-01-10 03:00", "2026-01-11 03:00"]),
        ("0 3 15 * 1", ["2026-01-12 03:00", "2026-01-15 03:00"]),  # as cron: either of the two
        ("0 3 * feb-mar 1-5", ["2026-02-02 03:00", "2026-02-03 03:00"]),
    ],
)
def test_cron_text(text: str, expected: list[str]) -> None:
    assert first(parse_recurrence(text, "UTC"), "2026-01-10T00:00", 2) == expected


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("30 2 * *", "UTC"), ("60 2 * * *", "UTC"), ("30 24 * * *", "UTC"), ("30 2 0 * *", "UTC"),
        ("30 2 * * 8", "UTC"), ("30 2 * 13 *", "UTC"), ("x 2 * * *", "UTC"), ("*/0 2 * * *", "UTC"),
        ("1-5-9 2 * * *", "UTC"), (", 2 * * *", "UTC"), ("30 2 31 2 *", "UTC"), ("30 2 * * *", "Mars/Olympus"),
        ("30 2 * * *", "../etc/passwd"),
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(text: str, zone: str) -> None:
    with pytest.raises(RecurrenceError):
        parse_recurrence(text, zone)


zones = st.sampled_from(["UTC", ROME, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"])
moments = st.integers(0, 6 * 365 * 24 * 60).map(lambda minutes: at("2024-01-01T00:00") + timedelta(minutes=minutes))


@given(zones, st.integers(0, 23), st.integers(0, 59), moments)
def test_each_day_is_due_once_in_any_zone(zone: str, hour: int, minute: int, start: datetime) -> None:
    nightly = parse_recurrence(f"{minute} {hour} * * *", zone)
    due = [moment for _, moment in zip(range(40), nightly.after(start), strict=False)]
    assert due == sorted(set(due))
    assert start < due[0] <= start + timedelta(hours=26)
    steps = [later - earlier for earlier, later in pairwise(due)]
    assert all(timedelta(hours=22) <= step <= timedelta(hours=26) for step in steps)
    assert nightly.last_between(start, due[-1]) == due[-1]
    assert nightly.last_between(due[0], due[1] - timedelta(seconds=1)) is None
    assert nightly.count_between(start, due[-1]) == len(due) - 1


def test_utc_is_a_zone_and_the_lists_names_can_be_chosen() -> None:
    names = zone_names()
    assert names[0] == "UTC"
    assert {ROME, "Europe/Moscow", "America/Los_Angeles"} <= set(names)
