"""The site's sections, and which of them a page belongs to."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from django import template
from django.conf import settings
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, gettext_noop

register = template.Library()

INVENTORY = (
    "hosts", "controllers", "disks", "arrays", "filesystems", "targets", "enclosures", "nics", "switches", "snapshots",
)  # fmt: skip
LABELS = {"nics": "NICs"}
SECTIONS = (
    (gettext_noop("Overview"), "overview", ("",)),
    (gettext_noop("Hosts"), "hosts", (*INVENTORY, "inventory", "findings", "network-links", "storage-paths")),
    (gettext_noop("Runs"), "runs", ("runs",)),
    (gettext_noop("Uploads"), "uploads", ("uploads",)),
    (gettext_noop("Compare"), "compare", ("compare", "comparisons")),
    (gettext_noop("Studies"), "studies", ("studies", "claims", "study-comparisons")),
    (gettext_noop("Trends"), "trends", ("trends",)),
    (gettext_noop("Lab"), "lab", ("lab", "labs")),
)


@dataclass(frozen=True)
class Link:
    label: str
    url: str
    is_current: bool


def _link(label: str, name: str, is_current: bool) -> Link | None:
    try:
        return Link(gettext(label), reverse(name), is_current)
    except NoReverseMatch:
        return None


@register.simple_tag(takes_context=True)
def sections(context: dict[str, Any]) -> SafeString:
    """The main navigation's list; a page belongs to the section that owns the first part of its path."""
    first = context["request"].path.strip("/").split("/")[0]
    current = next((name for _, name, owned in SECTIONS if first in owned), "")
    return _sections(current, get_language(), get_script_prefix())


# These stand on every page and are the same on all of them: a template takes longer for them than a page's data need.
@cache
def _sections(current: str, _language: str, _prefix: str) -> SafeString:
    links = (_link(label, name, name == current) for label, name, _ in SECTIONS)
    items = [
        (link.url, mark_safe(' aria-current="page"') if link.is_current else "", link.label) for link in links if link
    ]
    return format_html("<ul>{}</ul>", format_html_join("", '<li><a href="{}"{}>{}</a></li>', items))


@register.simple_tag
def address(name: str) -> str:
    """As `url`, for addresses without parts."""
    return _address(name, get_script_prefix())


@cache
def _address(name: str, _prefix: str) -> str:
    return reverse(name)


@register.simple_tag
def languages() -> SafeString:
    """A button for each language; the one that is read is pressed."""
    return _languages(get_language())


@cache
def _languages(current: str) -> SafeString:
    buttons = [(code, code, "true" if code == current else "false", name) for code, name in settings.LANGUAGES]
    button = '<button name="language" value="{}" lang="{}" class="btn btn-sm" aria-pressed="{}">{}</button>'
    return format_html_join(" ", button, buttons)


@register.simple_tag(takes_context=True)
def inventory_tabs(context: dict[str, Any]) -> list[Link]:
    """The kinds of inventory, for the tabs above their lists."""
    first = context["request"].path.strip("/").split("/")[0]
    links = (_link(LABELS.get(name, name.capitalize()), name, name == first) for name in INVENTORY)
    return [link for link in links if link]
