"""Tables of runs in templates."""

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from apps.runs.activity import RATES
from apps.runs.listing import as_listed
from apps.runs.rows_html import rows

register = template.Library()


@register.simple_tag(takes_context=True)
def rows_of_runs(context: Any, runs: Any, ticks: Any = False) -> SafeString:
    """Of runs, or of what `listing` has of them; `ticks`: with a box to choose each of the reader's own lab."""
    lab = context.get("lab")
    return mark_safe(rows(as_listed(runs), lab and lab.pk, ticks=bool(ticks)))  # noqa: S308 (every word is escaped there)


@register.filter
def is_rate(name: Any) -> bool:
    """Is this fact one in bytes per second?"""
    return name in RATES
