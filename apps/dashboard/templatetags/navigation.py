"""The site's sections, and which of them a page belongs to."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.conf import settings
from django.urls import NoReverseMatch, reverse
from django.utils.translation import get_language, gettext, gettext_noop

register = template.Library()

INVENTORY = (
    "hosts", "controllers", "disks", "arrays", "filesystems", "targets", "enclosures", "nics", "switches", "snapshots",
)  # fmt: skip
LABELS = {"nics": "NICs"}
RUN_TABS = (("runs", gettext_noop("All runs")), ("queue", gettext_noop("Queue")))
SECTIONS = (
    (gettext_noop("Overview"), "overview", ("",)),
    (gettext_noop("Hosts"), "hosts", (*INVENTORY, "inventory", "findings", "network-links", "storage-paths")),
    (gettext_noop("Runs"), "runs", ("runs", "queue")),
    (gettext_noop("Plans"), "plans", ("plans",)),
    (gettext_noop("Uploads"), "uploads", ("uploads",)),
    (gettext_noop("Compare"), "compare", ("compare", "comparisons")),
    (gettext_noop("Studies"), "studies", ("studies", "claims", "study-comparisons")),
    (gettext_noop("Trends"), "trends", ("trends",)),
    (gettext_noop("Lab"), "lab", ("lab", "labs")),
)


@dataclass(frozen=True)
class NavigationLink:
    label: str
    url: str
    is_current: bool


def _link(label: str, name: str, is_current: bool) -> NavigationLink | None:
    try:
        return NavigationLink(gettext(label), reverse(name), is_current)
    except NoReverseMatch:
        return None


@register.inclusion_tag("_sections.html", takes_context=True)
def sections(context: dict[str, Any]) -> dict[str, Any]:
    """Write the main navigation; a page belongs to the section that owns the first part of its path."""
    first = context["request"].path.strip("/").split("/")[0]
    links = (_link(label, name, first in owned) for label, name, owned in SECTIONS)
    return {"links": [link for link in links if link]}


@register.inclusion_tag("_languages.html")
def languages() -> dict[str, Any]:
    """Write a button for each language; the one that is read is pressed."""
    return {"languages": settings.LANGUAGES, "current": get_language()}


@register.simple_tag(takes_context=True)
def run_tabs(context: dict[str, Any]) -> list[NavigationLink]:
    """Return the two lists of runs, all of them and the queue, for the tabs above them."""
    first = context["request"].path.strip("/").split("/")[0]
    links = (_link(label, name, name == first) for name, label in RUN_TABS)
    return [link for link in links if link]


@register.simple_tag(takes_context=True)
def inventory_tabs(context: dict[str, Any]) -> list[NavigationLink]:
    """Return the kinds of inventory for the tabs above their lists."""
    first = context["request"].path.strip("/").split("/")[0]
    links = (_link(LABELS.get(name, name.capitalize()), name, name == first) for name in INVENTORY)
    return [link for link in links if link]
