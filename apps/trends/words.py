"""Formats of changes, intervals and durations for people."""

from apps.core import units

MINUTE, HOUR, DAY = 60, 3600, 86400


def signed(fraction: float | None) -> str:
    """Format a fraction with its sign, such as `−11.5 %` or `+3.20 %`."""
    if fraction is None:
        return units.NO_VALUE
    return f"{'+' if fraction > 0 else ''}{units.human(fraction, 'fraction')}"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval of fractions, such as `−12.6 % to −10.4 %`."""
    return "no interval" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def span(seconds: float) -> str:
    """Format a duration in its largest unit, such as `3 days`, `5 hours` or `12 minutes`."""
    for size, word in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (1, "second")):
        count = round(seconds / size)
        if seconds >= size or size == 1:
            return f"{units.plain(count)} {word}{'' if count == 1 else 's'}"
    return ""
