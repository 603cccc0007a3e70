"""Addresses for pages with hundreds of links, where asking for each by itself takes longer than the page's data."""

from html import escape

from django.urls import reverse


def numbered(page: str) -> str:
    """Of pages that are named by a number, escaped for HTML: `numbered("run") % 7` → `/runs/7/`."""
    before, _, behind = (escape(part).replace("%", "%%") for part in reverse(page, args=[0]).rpartition("0"))
    return f"{before}%d{behind}"
