"""The runs behind a cell: thousands of links on a page of a large lab, of which each by itself would ask for its address."""

from collections.abc import Iterable

from django import template
from django.utils.safestring import SafeString, mark_safe

from apps.lib.addresses import numbered

register = template.Library()


@register.simple_tag
def run_links(numbers: Iterable[int]) -> SafeString:
    """`1, 2, 3`, each a link to its run."""
    address = numbered("run")
    return mark_safe(", ".join([f'<a href="{address % pk}">{int(pk)}</a>' for pk in numbers]))  # noqa: S308 (whole numbers only)
