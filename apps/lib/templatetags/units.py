"""Filters for people's units, built into every template: `{{ host.ram_bytes|bytes }}`, `{{ value|metric_value:metric
}}`.
"""

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.lib import quantities, units
from apps.lib.reader_base import base

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
def rate(value: Any, in_base: Any = None) -> str:
    """Bytes per second as `182 MB/s`, or as `173 MiB/s` where the reader wants it so; `|rate:1000` whoever reads."""
    return units.human(_number(value), "B/s", int(in_base or base()))


@register.filter
def bit_rate(value: Any) -> str:
    """A link's bits per second as `10 Gb/s`."""
    return units.bit_rate(_number(value))


@register.filter
def duration_ns(value: Any) -> str:
    """Nanoseconds as `12.3 µs`."""
    return units.human(_number(value), "ns")


@register.filter
def metric_value(value: Any, metric: Any = "") -> str:
    """A value of a metric, or of a base unit, in people's units: `{{ value|metric_value:"B/s" }}`. A count of a metric is whole."""
    number, unit = _number(value), _unit_of(metric)
    if number is not None and not unit and metric and number % 1 == 0:
        return units.plain(int(number))
    return units.human(number, unit, base())


@register.filter
def exact(value: Any, metric: Any = "") -> str:
    """The value with all its digits in its base unit, and bytes in both bases, for `title`."""
    return units.in_both_bases(_number(value), _unit_of(metric))


@register.filter
def as_written(text: Any) -> str:
    """A sentence with quantities in it (`apps/lib/quantities.py`) in the reader's units, for `title`."""
    return quantities.written(str(text), base())


@register.filter
def in_units(text: Any) -> str | SafeString:
    """The same for a page: a number says its exact value in both bases on hover, and the sentence all of its numbers' on focus."""
    parts = quantities.parts_of(str(text), base())
    every = "; ".join(dict.fromkeys(exact for _, exact in parts if exact))
    if not every:
        return str(text)
    inside = format_html_join("", "{}", ((_pointed_at(*part),) for part in parts))
    return format_html('<span class="quantities" tabindex="0" title="{}">{}</span>', every, inside)


def _pointed_at(words: str, exact: str) -> str | SafeString:
    return format_html('<span title="{}">{}</span>', exact, words) if exact else words


@register.filter
def count(value: Any) -> str:
    """`12 345`."""
    number = _number(value)
    return units.NO_VALUE if number is None else units.plain(number)


@register.filter
def share_of(part: Any, whole: Any) -> str:
    """A part of a whole in percent: `73.5 %`."""
    a, b = _number(part), _number(whole)
    return units.NO_VALUE if a is None or not b else units.human(a / b, "fraction")
