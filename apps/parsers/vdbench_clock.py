"""Vdbench's times: local time of day on every line, UTC only where the report was created.

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


class Clock:
    """Seconds since the local midnight before the report, over as many midnights as the report goes."""

    def __init__(self) -> None:
        self.days = 0
        self.last = -1.0
        self.zero: float | None = None  # the epoch's seconds at that midnight

    def start(self, epoch: float | None, time_of_day: float) -> None:
        self.days, self.last = 0, time_of_day
        self.zero = None if epoch is None else epoch - time_of_day

    def at(self, word: str) -> float:
        hours, minutes, seconds = word.split(":")
        now = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        if now < self.last - _DAY / 2:
            self.days += 1
        self.last = now
        return round(self.days * _DAY + now, 3)

    def epoch(self, at: float | None) -> float | None:
        return None if at is None or self.zero is None else round(self.zero + at, 3)


def created_at(line: str) -> tuple[float | None, float]:
    """(UTC seconds, local time of day) of the report's own line."""
    match = _CREATED.search(line)
    if match is None or match[7] not in _MONTHS:
        return None, -1.0
    local = int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])
    moment = (int(match[9]), _MONTHS[match[7]], int(match[8]), int(match[4]), int(match[5]), int(match[6]))
    return float(timegm((*moment, 0, 0, 0))), float(local)
