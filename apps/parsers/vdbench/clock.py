"""Vdbench's times: the local time of day on every line, UTC only in the line about the report's creation.

Vdbench summary report, created 15:14:52 Mar 08 2019 ICT (08:14:52 Mar 08 2019 UTC)
"""

import re
from calendar import timegm

_DAY = 86400
_CREATED = re.compile(
    r"created (\d\d):(\d\d):(\d\d) .{1,60}\((\d\d):(\d\d):(\d\d) (\w{3}) (\d\d) (\d{4}) (?:UTC|GMT)\)"
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}


class VdbenchClock:
    """Seconds since the local midnight before the report, across any number of midnights."""

    def __init__(self) -> None:
        self.days = 0
        self.last = -1.0
        self.zero: float | None = None  # seconds since 1970 at that midnight

    def start(self, epoch: float | None, time_of_day: float) -> None:
        """Set the clock to the creation of a report."""
        self.days, self.last = 0, time_of_day
        self.zero = None if epoch is None else epoch - time_of_day

    def read_time(self, word: str) -> float:
        """Return the seconds of a time of day such as `13:45:18.019`; an earlier one than before begins the next day."""
        hours, minutes, seconds = word.split(":")
        now = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        if now < self.last - _DAY / 2:
            self.days += 1
        self.last = now
        return round(self.days * _DAY + now, 3)

    def compute_epoch(self, at: float | None) -> float | None:
        """Return seconds since 1970, None where the report does not state UTC."""
        return None if at is None or self.zero is None else round(self.zero + at, 3)


def read_creation(line: str) -> tuple[float | None, float]:
    """Return (UTC seconds, local time of day) from the line about the report's creation; (None, -1.0) where it can not be read."""
    match = _CREATED.search(line)
    if match is None or match[7] not in _MONTHS:
        return None, -1.0
    local = int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])
    moment = (int(match[9]), _MONTHS[match[7]], int(match[8]), int(match[4]), int(match[5]), int(match[6]))
    return float(timegm((*moment, 0, 0, 0))), float(local)
