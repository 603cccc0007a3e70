"""What the pages for editing say: articles, places, values of rows."""

from typing import Any

from django import template
from django.forms.utils import ErrorDict

register = template.Library()


@register.filter
def article(word: str) -> str:
    """Return the article for a word: `a disk`, `an array`, `a NIC`."""
    return "an" if word[0].lower() in "aeio" else "a"


@register.filter
def has_fields(errors: ErrorDict) -> bool:
    """Return whether any of the errors is about one field."""
    return any(name != "__all__" for name in errors)


@register.filter
def place_of(name: str) -> str:
    """Return the row that an error's name is about: `members.3.what` → `member 3`."""
    parts = name.split(".")
    return f"{parts[0].rstrip('s')} {parts[1]}" if len(parts) > 1 else name


@register.filter
def value_of(row: Any, name: str) -> Any:
    return row.get(name, "")
