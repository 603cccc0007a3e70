"""Filters for people's units, built into every template: `{{ host.ram_bytes|bytes }}`, `{{ value|metric_value:metric
}}`.
"""

from typing import Any

from django import template

from apps.lib import units

register = template.Library()


def _number(value: Any) -> units.Number | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _unit_of(metric: Any) -> str:
    """A `Metric` (anything with `.unit`) or the unit itself."""
    return str(getattr(metric, "unit", metric) or "")


@register.filter(name="bytes")
def bytes_(value: Any) -> str:
    """`1 GiB`: sizes of memory, disks, files and blocks."""
    return units.size(_number(value))


@register.filter
def rate(value: Any, base: Any = 1000) -> str:
    """Bytes per second as `182 MB/s`; `|rate:1024` as `173 MiB/s`."""
    return units.human(_number(value), "B/s", int(base))


@register.filter
def duration_ns(value: Any) -> str:
    """Nanoseconds as `12.3 µs`."""
    return units.human(_number(value), "ns")


@register.filter
def metric_value(value: Any, metric: Any = "") -> str:
    """A value of a metric, or of a base unit, in people's units: `{{ value|metric_value:"B/s" }}`."""
    return units.human(_number(value), _unit_of(metric))


@register.filter
def exact(value: Any, metric: Any = "") -> str:
    """The value with all its digits and its base unit, for `title`."""
    return units.exact(_number(value), _unit_of(metric))


@register.filter
def count(value: Any) -> str:
    """`12 345`."""
    number = _number(value)
    return units.NO_VALUE if number is None else units.plain(number)
