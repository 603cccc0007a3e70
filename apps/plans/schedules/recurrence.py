"""When a schedule is due: five fields of cron text in a time zone. The text is expanded by Celery's own parser.

A wall-clock time that a change of the clock leaves out is due as much later by the clock as that goes forward, mostly an
hour (02:30 at 03:30), and one that comes twice is due the first time: each time of a day is due once, and times that
fall together are due once. As in crontab(5), a day is due by either of the two fields for days where both are
restricted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, cached_property
from zoneinfo import ZoneInfo, available_timezones

from celery.schedules import ParseException, crontab_parser

PART = re.compile(r"(?:\*|\w{1,9}(?:-\w{1,9})?)(?:/[1-9]\d?)?", re.ASCII)
NAMES = ("minute", "hour", "day of month", "month", "day of week")
LIMITS = ((60, 0), (24, 0), (31, 1), (12, 1), (7, 0))  # how many values each field has, and its lowest
MOST_DAYS = 8 * 366 + 1  # from one 29 February to the next there may be eight years
MOST_COUNTED = 1000
DAY = timedelta(days=1)


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
        first = moment.astimezone(self.zone).date() - DAY  # its last time may be due after midnight
        held: list[datetime] = []
        for number in range(MOST_DAYS):
            # Where the clock goes forward over midnight (Nuuk), what is left out of one day is due among the next one's.
            before, of_day = held, self._of_day(first + number * DAY)
            merged = sorted({*before, *of_day})
            held = [due for due in merged if not before or due > before[-1]]
            yield from (due for due in merged[: len(merged) - len(held)] if due > moment)
        yield from (due for due in held if due > moment)

    def next_after(self, moment: datetime) -> datetime | None:
        return next(self.after(moment), None)

    def last_between(self, start: datetime, end: datetime) -> datetime | None:
        """Return the newest due time after `start` and not after `end`."""
        day, first = end.astimezone(self.zone).date() + DAY, start.astimezone(self.zone).date() - DAY
        while day >= first:
            near = [*self._of_day(day), *self._of_day(day - DAY)]
            if found := [due for due in near if start < due <= end]:
                return max(found)
            day -= DAY
        return None

    def count_between(self, start: datetime, end: datetime) -> int:
        """Return how many due times there are after `start` and before `end`, at most `MOST_COUNTED`."""
        count = 0
        for due in self.after(start):
            if due >= end or count >= MOST_COUNTED:
                break
            count += 1
        return count

    def left_out_time(self, due: datetime) -> time | None:
        """Return the time that the clock leaves out that day, for which a due time stands; None on all other days."""
        local = due.astimezone(self.zone)
        if local.time() in self._times and self._fits(local.date()):
            return None
        days = [day for day in (local.date(), local.date() - DAY) if self._fits(day)]
        return next((at for day in days for at in self._times if self._moment(day, at) == due), None)

    def comes_twice(self, due: datetime) -> bool:
        """Return whether the clock is set back over a due time, so that its time comes once more that day."""
        local = due.astimezone(self.zone)
        return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()

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
        # is later by the clock.
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


@cache
def zone_names() -> tuple[str, ...]:
    """Return the names of all time zones that this server knows, UTC first; they are read from its files once."""
    names = {name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "SystemV/"))}
    return ("UTC", *sorted(names))


def _expand(name: str, field: str, count: int, lowest: int) -> frozenset[int]:
    expected = f"cron text for the {name}, such as * or {lowest} or {lowest}-{lowest + 3} or */2"
    if not all(PART.fullmatch(part) for part in field.split(",")):
        raise RecurrenceError("cron", field[:80], expected)
    sunday = field
    if name == NAMES[4]:  # 7 is Sunday too, and 0-7 is the whole week
        sunday = re.sub(r"(?<![\w/])7(?!\d)", "0", re.sub(r"(?<![\w/-])0-7(?!\d)", "*", field))
    try:
        return frozenset(crontab_parser(count, lowest).parse(sunday))
    except (ValueError, ParseException):
        raise RecurrenceError("cron", field[:80], expected) from None
