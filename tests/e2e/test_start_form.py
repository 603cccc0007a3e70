"""The form that starts runs in a browser: rare options behind a search, and jobs out of a pasted job file."""

import os
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
GOOD = "[global]\nsize=64m\n[a]\nrw=randrw\nbssplit=4k/60:64k/40\nrate=10m\n"


def shoot(page: Any, name: str) -> None:
    """Keep a picture where `SPINDLE_PICTURES` names a folder, for somebody to look at."""
    if folder := os.environ.get("SPINDLE_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), pytest.param(1400, "light", marks=pytest.mark.long)])
def test_an_option_is_found_set_and_in_the_job_file(
    signed_in: Any, complaints: list[str], width: int, scheme: str
) -> None:
    page = signed_in("engineer", width=width, color_scheme=scheme)
    page.goto("/runs/new/")
    page.get_by_text("More options").click()
    search = page.get_by_label("Find an option")
    search.fill("rate limit")
    expect(page.get_by_text("2 options")).to_be_visible()
    expect(page.get_by_label("Rate limit, bytes/s")).to_be_visible()
    expect(page.get_by_label("Nice")).to_be_attached()
    expect(page.get_by_label("Nice")).to_be_hidden()
    page.get_by_label("Rate limit, bytes/s").fill("10m,5m")
    expect(page.locator("#equivalent")).to_contain_text("rate=10m,5m")
    shoot(page, f"options-{width}-{scheme}")
    search.fill("nothing like it")
    expect(page.get_by_text("0 options")).to_be_visible()
    search.fill("")
    expect(page.get_by_text("Files and layout")).to_be_visible()
    width_of_page = page.evaluate("document.documentElement.scrollWidth")
    assert width_of_page <= width
    assert complaints == []


def test_a_pasted_job_file_fills_the_jobs_or_names_its_lines(signed_in: Any, complaints: list[str]) -> None:
    page = signed_in("engineer", width=1280)
    page.goto("/runs/new/")
    page.get_by_text("From a fio job file…").click()
    page.get_by_label("Paste a job file").fill(f"{GOOD}filename=/dev/sda\n")
    page.get_by_role("button", name="Take over its jobs").click()
    expect(page.get_by_text("Line 7:")).to_be_visible()
    shoot(page, "job-file-refused")
    page.get_by_label("Paste a job file").fill(GOOD)
    page.get_by_role("button", name="Take over its jobs").click()
    expect(page.get_by_text("The job file is taken over: 1 job.")).to_be_visible()
    expect(page.get_by_label("Mix of block sizes")).to_have_value("4k/60:64k/40")
    shoot(page, "job-file-taken")
    assert [line for line in complaints if "422" not in line] == []
