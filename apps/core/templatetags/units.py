"""Filters for people's units, built into every template: `{{ host.ram_bytes|bytes }}`, `{{ value|metric_value:metric }}`."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.core import quantities, units
from apps.core.text import shorten
from apps.core.unit_base import base

register = template.Library()
MOST = 10**30


def _number(value: object) -> units.Number | None:
    """Return the number, or None for anything else and for integers beyond any float: hosts and files may have given it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, int) and abs(value) > MOST):
        return None
    return value


def _unit_of(metric: object) -> str:
    """Return the unit of a `Metric`, or the unit itself."""
    return str(getattr(metric, "unit", metric) or "")


@register.filter
def moment(at: datetime | str | None) -> str | SafeString:
    """Return a point in time, or its ISO 8601 text, as `2026-11-26 22:31 UTC`, with its seconds on hover."""
    known = parse_datetime(at) if isinstance(at, str) else at
    if known is None:
        return units.NO_VALUE
    exact = f"{known.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', known.isoformat(), exact, units.moment(known))


@register.filter
def moment_text(at: datetime | None) -> str:
    """Return a point in time as plain text in UTC, for options and other places that hold no elements."""
    return units.moment(at)


@register.filter(name="bytes")
def bytes_(value: object) -> str:
    """Return a size of memory, disks, files or blocks: `1 GiB`."""
    return units.size(_number(value))


@register.filter
def rate(value: Any, in_base: Any = None) -> str:
    """Return bytes per second as `182 MB/s`, or `173 MiB/s` in the reader's base; `|rate:1000` fixes the base."""
    return units.human(_number(value), "B/s", int(in_base or base()))


@register.filter
def bit_rate(value: object) -> str:
    """Return a link's bits per second: `10 Gb/s`."""
    return units.bit_rate(_number(value))


@register.filter
def duration_ns(value: object) -> str:
    """Return nanoseconds as `12.3 µs`."""
    return units.human(_number(value), "ns")


@register.filter
def metric_value(value: object, metric: object = "") -> str:
    """Return a value of a metric or base unit in the reader's units: `{{ value|metric_value:"B/s" }}`."""
    number, unit = _number(value), _unit_of(metric)
    if number is not None and not unit and metric and number % 1 == 0:
        return units.plain(int(number))
    return units.human(number, unit, base())


@register.filter
def exact(value: object, metric: object = "") -> str:
    """Return the value with all digits in its base unit, bytes in both bases, for `title`."""
    return units.in_both_bases(_number(value), _unit_of(metric))


@register.filter
def as_written(text: object) -> str:
    """Return a sentence with quantities (`apps.core.quantities`) in the reader's units, for `title`."""
    return quantities.written(str(text), base())


@register.filter
def in_units(text: object) -> str | SafeString:
    """Return a sentence with quantities as HTML in which each number shows its exact value on hover."""
    parts = quantities.parts_of(str(text), base())
    every = "; ".join(dict.fromkeys(exact for _, exact in parts if exact))
    if not every:
        return str(text)
    inside = format_html_join("", "{}", ((_pointed_at(*part),) for part in parts))
    return format_html('<span class="quantities" tabindex="0" title="{}">{}</span>', every, inside)


def _pointed_at(words: str, exact: str) -> str | SafeString:
    return format_html('<span title="{}">{}</span>', exact, words) if exact else words


@register.filter
def count(value: object) -> str:
    """Return a whole number with thin spaces: `12 345`."""
    number = _number(value)
    return units.NO_VALUE if number is None else units.plain(number)


@register.filter
def about(value: object) -> str:
    """Return estimated seconds as a duration no finer than an estimate is: `34 min`."""
    return units.about(_number(value))


@register.filter
def shortened(text: object, most: int) -> str:
    """Return a text of at most so many characters that ends after a whole word; the whole belongs into `title`."""
    return shorten(str(text), most)


@register.filter
def share_of(part: object, whole: object) -> str:
    """Return a part of a whole in percent: `73.5 %`."""
    a, b = _number(part), _number(whole)
    return units.NO_VALUE if a is None or not b else units.human(a / b, "fraction")
