"""One visit to a page, looked at in every way: rules of accessibility, both colour schemes, a phone's width, the console."""

from collections.abc import Iterable, Iterator
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.sampling import IS_LONG

AXE_TAGS = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}  # all that colours change
DESK, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}


def broken_rules(page: Page, rules: dict[str, Any] = AXE_TAGS) -> list[str]:
    """Each broken rule with the first elements that break it; the page as it stands.

    What axe says of rules that hold is ten times as long and takes longer to send than the rules take: it stays there.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    only = {**rules, "resultTypes": ["violations"]}
    found = page.evaluate("rules => axe.run(rules).then(said => said.violations)", only)
    return [f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:3]]}" for one in found]


def look(page: Page, address: str, complaints: list[str]) -> list[str]:
    """What is wrong with the page at `address`, in words. It is opened light and wide, then turned dark and narrow."""
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light", reduced_motion="reduce")  # no colour is caught half-way
    page.wait_for_load_state("networkidle")
    complaints.clear()  # of the page before
    page.goto(address)
    page.wait_for_load_state("networkidle")
    wrong = broken_rules(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    wrong += [f"dark: {one}" for one in broken_rules(page, CONTRAST)]
    return wrong + too_wide(page) + [f"the browser complains: {one}" for one in complaints]


def too_wide(page: Page) -> list[str]:
    """A page that scrolls sideways on a phone. Charts follow the new width within a frame or two."""
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")
    width = page.evaluate("document.documentElement.scrollWidth")
    return [f"{width} px wide on a phone of {PHONE['width']}"] if width > PHONE["width"] else []


def in_sizes(page: Page, *sizes: tuple[int, str]) -> Iterator[tuple[int, str]]:
    """Give the page each width (px) and colour scheme in turn, to be opened in; the usual form has the first alone."""
    for width, scheme in sizes if IS_LONG else sizes[:1]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        yield width, scheme


def faults(page: Page, addresses: Iterable[str], complaints: list[str]) -> dict[str, list[str]]:
    """What is wrong, by address; empty where all is well."""
    looked = {address: look(page, address, complaints) for address in addresses}
    return {address: wrong for address, wrong in looked.items() if wrong}
