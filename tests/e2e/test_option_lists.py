"""Lists of options in a browser: found by a search, written as points of a plan, previewed before runs are started."""

import os
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PICTURES = os.environ.get("SPINDLE_PICTURES")  # a folder for pictures of the pages


def take(page: Any, name: str) -> None:
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), pytest.param(1400, "light", marks=pytest.mark.long)])
def test_an_option_is_found_and_becomes_a_dimension(signed_in, complaints, furnished, width: int, scheme: str) -> None:
    page = signed_in(width=width, color_scheme=scheme)
    page.goto(f"/plans/new/?target={furnished.target.pk}&title=Engines")
    page.get_by_label("Procedure", exact=True).select_option("matrix")
    page.get_by_label("Block sizes", exact=True).fill("4k")
    page.get_by_label("Queue depths", exact=True).fill("8, 16")
    page.get_by_text("More options of fio").click()
    page.get_by_label("Find an option").fill("ioengine")
    page.get_by_label("Engine (ioengine)").fill("libaio, io_uring")
    page.get_by_label("Find an option").fill("rate")
    page.get_by_label("Rate limit, bytes/s (rate)", exact=True).fill("default; 1m; 1m,2m")
    expect(page.locator("#plan-estimate")).to_contain_text("120", timeout=20_000)
    take(page, f"plan-form-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing is cut off"
    page.get_by_role("button", name="Write the plan").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Engines")
    expect(page.locator("main")).to_contain_text("ioengine=io_uring rate=1m,2m")
    take(page, f"plan-page-{width}-{scheme}")
    assert complaints == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), pytest.param(1400, "dark", marks=pytest.mark.long)])
def test_a_start_says_how_many_runs_it_is(signed_in, complaints, furnished, width: int, scheme: str) -> None:
    page = signed_in(width=width, color_scheme=scheme)
    page.goto(f"/runs/new/?target={furnished.target.pk}")
    page.get_by_label("Options with several values").fill("iodepth = 1, 2, 4..64\nioengine = libaio, io_uring")
    expect(page.locator("#equivalent")).to_contain_text("The first of 14 combinations")
    expect(page.locator("#equivalent")).to_contain_text("42 runs")
    take(page, f"start-form-{width}-{scheme}")
    page.get_by_label("Options with several values").fill("iodepth = 1, x")
    expect(page.locator("#equivalent")).to_contain_text("options.iodepth: found 'x'")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints == []
