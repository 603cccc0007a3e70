"""Tables of runs in templates."""

from collections.abc import Iterable

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from apps.runs import tables
from apps.runs.activity import RATES
from apps.runs.models import Run

register = template.Library()


@register.filter
def as_listed(runs: Iterable[Run | tables.RunRow]) -> Iterable[tables.RunRow]:
    """Return what a row of a list shows of each run."""
    return tables.as_listed(runs)


@register.filter
def breakable(address: str) -> SafeString:
    """Allow a line break behind each `@`: a narrow column would break an e-mail address anywhere."""
    return format_html_join(mark_safe("@<wbr>"), "{}", ((part,) for part in address.split("@")))


@register.filter
def is_rate(name: object) -> bool:
    """Return whether this fact is in bytes per second."""
    return name in RATES
