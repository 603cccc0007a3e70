"""When a schedule is due: five fields of cron text in a time zone. The text is expanded by Celery's own parser.

A wall-clock time that a change of the clock leaves out is due an hour later by the clock (02:30 at 03:30), and one that
comes twice is due the first time: each time of a day is due once. As in crontab(5), a day is due by either of the two
fields for days where both are restricted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo, available_timezones

from celery.schedules import ParseException, crontab_parser

PART = re.compile(r"(?:\*|\w{1,9}(?:-\w{1,9})?)(?:/[1-9]\d?)?", re.ASCII)
NAMES = ("minute", "hour", "day of month", "month", "day of week")
LIMITS = ((60, 0), (24, 0), (31, 1), (12, 1), (7, 0))  # how many values each field has, and its lowest
MOST_DAYS = 8 * 366 + 1  # from one 29 February to the next there may be eight years
MOST_COUNTED = 1000


class RecurrenceError(ValueError):
    """A text that is no schedule: which field, what was found, what was expected."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}, expected {expected}")
        self.field, self.found, self.expected = field, found, expected


@dataclass(frozen=True)
class Recurrence:
    """The times of a schedule. `weekdays`: 0 is Sunday, as in cron."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    zone: ZoneInfo

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Yield the due times after a moment, in UTC, oldest first; none where no day of some years fits."""
        first = moment.astimezone(self.zone).date() - timedelta(days=1)  # its last time may be due after midnight
        for number in range(MOST_DAYS):
            yield from (due for due in self._of_day(first + timedelta(days=number)) if due > moment)

    def next_after(self, moment: datetime) -> datetime | None:
        return next(self.after(moment), None)

    def last_between(self, start: datetime, end: datetime) -> datetime | None:
        """Return the newest due time after `start` and not after `end`."""
        day, first = end.astimezone(self.zone).date(), start.astimezone(self.zone).date() - timedelta(days=1)
        while day >= first:
            for due in reversed(self._of_day(day)):
                if start < due <= end:
                    return due
            day -= timedelta(days=1)
        return None

    def count_between(self, start: datetime, end: datetime) -> int:
        """Return how many due times there are after `start` and before `end`, at most `MOST_COUNTED`."""
        count = 0
        for due in self.after(start):
            if due >= end or count >= MOST_COUNTED:
                break
            count += 1
        return count

    def _of_day(self, day: date) -> list[datetime]:
        """Return the due times of a day of the calendar, in UTC, each once."""
        if not self._fits(day):
            return []
        return sorted({self._moment(day, at) for at in self._times})

    def _fits(self, day: date) -> bool:
        by_date, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        is_either = len(self.days) < LIMITS[2][0] and len(self.weekdays) < LIMITS[4][0]
        return day.month in self.months and (by_date or by_weekday if is_either else by_date and by_weekday)

    @cached_property
    def _times(self) -> list[time]:
        return [time(hour, minute) for hour in sorted(self.hours) for minute in sorted(self.minutes)]

    def _moment(self, day: date, at: time) -> datetime:
        # Fold 0: of two such times the first; a time that is left out keeps the offset from before the change, and so
        # is an hour later by the clock.
        return datetime.combine(day, at, self.zone).astimezone(UTC)


def parse_recurrence(text: str, zone: str) -> Recurrence:
    """Return the times of cron text (`30 2 * * 1-5`) in a time zone (`Europe/Rome`).

    Raises:
        RecurrenceError: The text has not five such fields, is never due, or there is no such zone.
    """
    fields = text.split()
    if len(fields) != len(NAMES):
        raise RecurrenceError("cron", text[:80], f"five fields: {', '.join(NAMES)}")
    values = [_expand(name, field, *limits) for name, field, limits in zip(NAMES, fields, LIMITS, strict=True)]
    minutes, hours, days, months, weekdays = values
    recurrence = Recurrence(minutes, hours, days, months, weekdays, zone_named(zone))
    if recurrence.next_after(datetime.now(UTC)) is None:
        raise RecurrenceError("cron", text[:80], "a day that there is")
    return recurrence


def zone_named(name: str) -> ZoneInfo:
    """Return a time zone by its name. Raises `RecurrenceError`."""
    if name not in zone_names():
        raise RecurrenceError("time_zone", name[:80], "a time zone such as Europe/Rome or UTC")
    return ZoneInfo(name)


def zone_names() -> list[str]:
    """Return the names of all time zones that this server knows, UTC first."""
    names = {name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "SystemV/"))}
    return ["UTC", *sorted(names)]


def _expand(name: str, field: str, count: int, lowest: int) -> frozenset[int]:
    expected = f"cron text for the {name}, such as * or {lowest} or {lowest}-{lowest + 3} or */2"
    if not all(PART.fullmatch(part) for part in field.split(",")):
        raise RecurrenceError("cron", field[:80], expected)
    sunday = re.sub(r"(?<![\w/])7(?!\d)", "0", field) if name == NAMES[4] else field  # 7 is Sunday too
    try:
        return frozenset(crontab_parser(count, lowest).parse(sunday))
    except (ValueError, ParseException):
        raise RecurrenceError("cron", field[:80], expected) from None
