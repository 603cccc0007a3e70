"""When schedules are due: days, weeks, cron text, midnight, and the two nights on which the clock changes."""

from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

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
        ("0 3 * * 0-7", ["2026-01-10 03:00", "2026-01-11 03:00"]),
        ("0 3 * * 6-7", ["2026-01-10 03:00", "2026-01-11 03:00"]),
        ("0 3 * * 1-7/3", ["2026-01-11 03:00", "2026-01-12 03:00"]),
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


@pytest.mark.parametrize(
    ("zone", "text", "after", "local"),
    [
        ("America/New_York", "30 2 * * *", "2026-03-08T00:00", "2026-03-08 03:30 EDT"),
        ("America/New_York", "30 1 * * 0", "2026-10-31T12:00", "2026-11-01 01:30 EDT"),
        ("Asia/Kolkata", "30 2 * * *", "2026-03-28T22:00", "2026-03-30 02:30 IST"),
        ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00", "2026-10-04 02:45 +11"),
        ("Antarctica/Troll", "30 1 * * *", "2026-03-28T12:00", "2026-03-29 03:30 +02"),
        ("Africa/Cairo", "30 0 * * 5", "2026-04-23T12:00", "2026-04-24 01:30 EEST"),
        ("America/Nuuk", "30 23 * * 6", "2026-03-28T12:00", "2026-03-29 00:30 -01"),
    ],
)
def test_the_night_of_a_change_in_many_zones(zone: str, text: str, after: str, local: str) -> None:
    recurrence = parse_recurrence(text, zone)
    due = recurrence.next_after(at(after))
    assert due is not None
    assert f"{due.astimezone(recurrence.zone):%Y-%m-%d %H:%M %Z}" == local


def test_where_the_clock_goes_forward_over_midnight_times_stand_in_order_and_once() -> None:
    # In Nuuk 2026-03-28 23:00 to 24:00 does not exist: 23:30 and the next day's 00:30 are the same moment.
    both = parse_recurrence("10,30 0,23 * * *", "America/Nuuk")
    due = first(both, "2026-03-28T12:00", 4)
    assert due == ["2026-03-29 01:10", "2026-03-29 01:30", "2026-03-30 00:10", "2026-03-30 00:30"]
    assert both.count_between(at("2026-03-28T12:00"), at("2026-03-29T12:00")) == 2
    crossed = parse_recurrence("50 0,23 * * *", "America/Nuuk")
    assert first(crossed, "2026-03-28T12:00", 2) == ["2026-03-29 01:50", "2026-03-30 00:50"]


def test_what_the_clock_does_to_a_time_is_known() -> None:
    nightly = parse_recurrence("30 2 * * *", ROME)
    assert nightly.left_out_time(at("2026-03-29T01:30")) == time(2, 30)
    assert nightly.left_out_time(at("2026-03-30T00:30")) is None
    assert nightly.comes_twice(at("2026-10-25T00:30"))
    assert not nightly.comes_twice(at("2026-10-26T01:30"))
    across = parse_recurrence("30 23 * * 6", "America/Nuuk")
    assert across.left_out_time(at("2026-03-29T01:30")) == time(23, 30), "of the day before"


MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NAMED = [
    ROME,
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/Nuuk",
    "Africa/Cairo",
    "Antarctica/Troll",
]


@cache
def changes_of(zone: str) -> list[datetime]:
    """Return the hours of 2024 to 2027 in which a zone's clock changes."""
    info, start = ZoneInfo(zone), at("2024-01-01T00:00")
    days = [start + timedelta(days=number) for number in range(4 * 365)]
    changed = [day for day, after in pairwise(days) if _offset(day, info) != _offset(after, info)]
    return [
        hour
        for day in changed
        for hour in (day + number * HOUR for number in range(24))
        if _offset(hour, info) != _offset(hour + HOUR, info)
    ]


def _offset(moment: datetime, zone: ZoneInfo) -> Any:
    return moment.astimezone(zone).utcoffset()


def walk(
    minutes: set[int], hours: set[int], weekdays: set[int], zone: ZoneInfo, start: datetime, end: datetime
) -> set[datetime]:
    """Return the due times of a span by looking at the clock on the wall, minute for minute."""

    def fits(wall: datetime) -> bool:
        return wall.minute in minutes and wall.hour in hours and wall.isoweekday() % 7 in weekdays

    found, highest, now = set(), (start - MINUTE).astimezone(zone).replace(tzinfo=None), start
    while now <= end:
        wall = now.astimezone(zone).replace(tzinfo=None)
        left_out = highest + MINUTE
        while left_out < wall:  # the clock went forward over these: as much later as it did
            if fits(left_out):
                found.add(now + (left_out - highest - MINUTE))
            left_out += MINUTE
        if wall > highest:  # else it comes the second time
            highest = wall
            if fits(wall):
                found.add(now)
        now += MINUTE
    return found


@given(
    st.one_of(st.sampled_from(NAMED), st.sampled_from(zone_names())),
    st.sets(st.integers(0, 59), min_size=1, max_size=3), st.sets(st.integers(-3, 3), min_size=1, max_size=4),
    st.sets(st.integers(0, 6), min_size=1), st.integers(0, 7),
)  # fmt: skip
def test_near_each_change_of_any_clock_it_is_due_as_the_clock_on_the_wall_says(
    zone: str, minutes: set[int], near: set[int], weekdays: set[int], number: int
) -> None:
    changes = changes_of(zone) or [at("2026-03-29T01:00")]
    change, info = changes[number % len(changes)], ZoneInfo(zone)
    hours = {(change.astimezone(info).hour + hour) % 24 for hour in near}
    text = " ".join(",".join(map(str, sorted(values))) for values in (minutes, hours))
    recurrence = parse_recurrence(f"{text} * * {','.join(map(str, sorted(weekdays)))}", zone)
    start, end = change - 30 * HOUR, change + 30 * HOUR
    expected = sorted(
        moment for moment in walk(minutes, hours, weekdays, info, start - 3 * HOUR, end) if moment > start
    )
    due = []
    for moment in recurrence.after(start):
        if moment > end:
            break
        due.append(moment)
    assert due == expected
    assert recurrence.last_between(start, end) == (expected[-1] if expected else None)
    assert recurrence.count_between(start, end + MINUTE) == len(expected)
    for before, moment in pairwise(expected):
        assert recurrence.last_between(start, moment - MINUTE) == before
        local = moment.astimezone(info)
        is_by_name = local.minute in minutes and local.hour in hours and local.isoweekday() % 7 in weekdays
        assert (recurrence.left_out_time(moment) is None) == is_by_name


@given(
    st.sampled_from(NAMED),
    st.integers(0, 23),
    st.integers(0, 59),
    st.lists(st.integers(1, 80), min_size=1, max_size=30),
)
def test_whenever_it_is_looked_at_each_due_time_is_found_once(
    zone: str, hour: int, minute: int, hours: list[int]
) -> None:
    """Each look takes up where the last one ended, as `fire` does; the scheduler may have been stopped in between."""
    recurrence = parse_recurrence(f"{minute} {hour} * * *", zone)
    considered = first_look = changes_of(zone)[0] - 40 * HOUR if changes_of(zone) else at("2026-03-27T00:00")
    dealt_with = 0
    for pause in hours:
        now = considered + pause * HOUR
        latest = recurrence.last_between(considered, now)
        dealt_with += 0 if latest is None else 1 + recurrence.count_between(considered, latest)
        following = recurrence.next_after(now)
        assert following is not None
        assert following > now
        assert recurrence.last_between(now, following) == following
        considered = now
    assert dealt_with == recurrence.count_between(first_look, considered + timedelta(microseconds=1))


@given(st.sampled_from(NAMED), st.sets(st.integers(0, 6), min_size=1), st.integers(0, 23), st.integers(0, 59))
def test_a_weekly_schedule_is_due_on_its_days_once_each(zone: str, weekdays: set[int], hour: int, minute: int) -> None:
    recurrence = parse_recurrence(f"{minute} {hour} * * {','.join(map(str, sorted(weekdays)))}", zone)
    due = [moment for _, moment in zip(range(60), recurrence.after(at("2026-01-01T00:00")), strict=False)]
    days = [moment.astimezone(recurrence.zone).date() for moment in due]
    named = [day for moment, day in zip(due, days, strict=True) if recurrence.left_out_time(moment) is None]
    assert all(day.isoweekday() % 7 in weekdays for day in named)
    assert len(set(days)) >= len(days) - 1, "two on one day only where the clock carried one over midnight"
