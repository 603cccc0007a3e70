"""Charts in a real browser: every kind draws the server's numbers, can be walked by keyboard and looked at closer, and
breaks neither accessibility nor the site's policy.
"""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.labs.isolation import lab_scope
from tests.comparison.factories import MIB, measured, run, sample, target
from tests.e2e.looking import faults
from tests.e2e.test_pages import without_streams

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

KINDS = {
    "line": "host=alpha&host=beta",
    "bar": "host=alpha&host=beta",
    "paired": "host=alpha&host=beta",
    "box": "host=alpha&host=beta",
    "matrix": "host=alpha&host=beta",
    "heat": "host=thumper&series=block_size",
}
DRAWN = """() => { const c = Chart.getChart(document.querySelector('[data-compare-chart] canvas'));
  return c.data.datasets.map((set) => set.data.map((one) => one.v ?? one.median ?? one.y ?? null)); }"""
SENT = """() => { const sent = JSON.parse(document.getElementById('chart-data').textContent);
  if (sent.tiles.length) return [sent.tiles.map((tile) => tile.v)];
  return sent.series.map((one) => one.points.map((point) => point && (point.box ? point.box.median : point.y))); }"""


@pytest.fixture
def compared(furnished: Any) -> None:
    with lab_scope(furnished.lab.pk):
        for host, speed in (("alpha", 2e8), ("beta", 1e8)):
            for size in (64 * MIB, 512 * MIB):
                measured(furnished.lab, host, [speed * part for part in (0.98, 0.99, 1, 1.01, 1.3)], file_size=size)
        matrix = run(furnished.lab, target(furnished.lab, "thumper"), tool="iozone", origin="uploaded")
        for size in (64, 128, 256):
            for block in (4, 64, 1024):
                printed = {"printed": f"{size * block} KB/s", "source_line": 7} if block == 4 else {}
                sample(matrix, 1e5 * size * block, file_size=size * MIB, block_size=block * 1024, **printed)


@pytest.fixture
def entered(open_browser: Any, sign_in: Any, live_server: Any, compared: None) -> Any:
    """`entered(width=390)`: the engineer's page. The sign-in form has its own tests."""

    def opened(**options: Any) -> Page:
        page: Page = open_browser(**options)
        session = sign_in("engineer").cookies["sessionid"].value
        page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        return page

    return opened


@pytest.fixture
def desk(entered: Any) -> Page:
    opened: Page = entered()
    without_streams(opened)
    return opened


def settled(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")


def said(page: Page) -> str:
    return str(page.locator(".chart-says").first.inner_text()).replace("\u00a0", " ").replace("\u202f", " ")


def test_every_kind_draws_what_the_server_sent(desk: Page, complaints: list[str]) -> None:
    found = {}
    for kind, query in KINDS.items():
        settled(desk, f"/compare/?chart={kind}&{query}")
        drawn, sent = desk.evaluate(DRAWN), desk.evaluate(SENT)
        found[kind] = drawn == sent and sum(map(len, drawn)) > 3
    assert found == dict.fromkeys(KINDS, True)
    assert complaints == []


def test_the_comparison_with_its_chart_is_for_everybody(desk: Page, complaints: list[str]) -> None:
    addresses = [f"/compare/?chart={kind}&{KINDS[kind]}" for kind in ("line", "heat")]
    assert faults(desk, addresses, complaints) == {}


def test_arrow_keys_walk_the_points_and_say_them(desk: Page) -> None:
    settled(desk, f"/compare/?chart=line&{KINDS['line']}")
    desk.locator("[data-compare-chart]").focus()
    desk.keyboard.press("ArrowRight")
    assert said(desk).startswith("alpha · scratch, 64 MiB: 211 MB/s (")
    desk.keyboard.press("ArrowDown")
    desk.keyboard.press("End")
    assert said(desk).startswith("beta · scratch, 512 MiB: 106 MB/s (")
    assert "n = 5" in said(desk)
    desk.keyboard.press("Escape")
    assert said(desk) == ""
    settled(desk, f"/compare/?chart=heat&{KINDS['heat']}")
    desk.locator("[data-compare-chart]").focus()
    for key in ("Home", "ArrowRight", "ArrowUp"):
        desk.keyboard.press(key)
    assert said(desk).startswith("1 MiB, 128 MiB: 13 107 MB/s") or "13.1" in said(desk)


@pytest.mark.long
def test_one_looks_closer_and_comes_back(desk: Page) -> None:
    settled(desk, f"/compare/?{KINDS['line']}")
    whole = desk.get_by_role("button", name="Whole chart")
    expect(whole).to_be_disabled()
    desk.get_by_role("button", name="Zoom in").click()
    expect(whole).to_be_enabled()
    whole.click()
    expect(whole).to_be_disabled()


@pytest.mark.long
def test_the_surface_is_fetched_only_when_somebody_asks(desk: Page, complaints: list[str]) -> None:
    fetched: list[str] = []
    desk.on("request", lambda request: fetched.append(request.url))
    settled(desk, f"/compare/?chart=heat&{KINDS['heat']}")
    assert not [one for one in fetched if "vis-graph3d" in one]
    button = desk.get_by_role("button", name="Show as a surface")
    button.click()
    expect(desk.locator("[data-chart-surface] canvas")).to_be_visible()
    assert [one for one in fetched if "vis-graph3d" in one]
    desk.get_by_role("button", name="Turn left").click()
    button.click()
    expect(desk.locator("[data-chart-surface]")).to_be_hidden()
    assert complaints == []


SURFACE = """async () => {
  const { Surface } = await import("/static/js/surface.js");
  const data = JSON.parse(document.getElementById("chart-data").textContent);
  const place = document.querySelector("[data-chart-surface]");
  place.hidden = false;
  const address = document.querySelector("[data-chart-show-surface]").dataset.chartShowSurface;
  const { graph } = await Surface.made(place, data, address);
  const drawn = graph.dataPoints.map(({ point }) => [point.x, point.y, point.z]);
  return [drawn, data.tiles.filter((tile) => tile.v !== null).map((tile) => [tile.x, tile.y, tile.v])];
}"""


@pytest.mark.long
def test_the_surface_stands_at_the_numbers_of_the_heat_map(desk: Page) -> None:
    settled(desk, f"/compare/?chart=heat&{KINDS['heat']}")
    drawn, sent = desk.evaluate(SURFACE)
    assert len(sent) == 9
    assert sorted(drawn) == sorted(sent)


def test_the_downloads_at_the_top_answer(desk: Page) -> None:
    settled(desk, f"/compare/?chart=heat&{KINDS['heat']}")
    kinds = {}
    desk.click("#export-menu > summary")
    for link in desk.locator("#export-menu a[download]").all():
        answer = desk.request.get(str(link.get_attribute("href")))
        kinds[link.inner_text()] = (answer.status, answer.headers["content-type"].partition(";")[0])
    assert kinds == {
        "CSV": (200, "text/csv"), "JSON": (200, "application/json"), "SVG": (200, "image/svg+xml"), "PNG": (200, "image/png"),
    }  # fmt: skip


@pytest.mark.long
def test_without_javascript_there_is_the_servers_picture(entered: Any) -> None:
    page = entered(java_script_enabled=False)
    page.goto(f"/compare/?{KINDS['line']}")
    picture = page.locator(".chart-picture")
    expect(picture).to_be_visible()
    assert "Line chart: Bandwidth of write by file size" in str(picture.get_attribute("alt"))


@pytest.mark.long
def test_what_was_printed_is_said_to_the_keyboard_too(desk: Page) -> None:
    settled(desk, f"/compare/?{KINDS['heat']}")
    desk.locator(".compare-table td[title] a").first.focus()
    desk.keyboard.press("Shift+Tab")
    desk.keyboard.press("Tab")
    tip = desk.locator("[role=tooltip]")
    expect(tip).to_be_visible()
    assert "printed “256 KB/s”, line 7 of the result" in tip.inner_text()
    desk.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_mb_or_mib_is_chosen_once_for_all_pages(desk: Page, furnished: Any) -> None:
    settled(desk, furnished.finished.get_absolute_url())
    assert "MiB/s" not in desk.locator(".sample-groups").inner_text()
    with desk.expect_navigation(wait_until="networkidle"):
        desk.get_by_role("button", name="MiB/s").click()
    assert desk.url.endswith(furnished.finished.get_absolute_url())
    assert "MiB/s" in desk.locator(".sample-groups").inner_text()
    assert desk.evaluate("document.documentElement.dataset.base") == "1024"
    settled(desk, f"/compare/?{KINDS['line']}")
    assert "Bandwidth (MiB/s)" in desk.evaluate("document.getElementById('chart-data').textContent")
    desk.locator("#ask-base").select_option("1000")
    desk.wait_for_url("**/compare/?metric=*")
    settled(desk, furnished.finished.get_absolute_url())
    assert desk.evaluate("document.documentElement.dataset.base") == "1000"


@pytest.mark.long
def test_a_runs_latency_charts_are_walked_and_fit_on_a_phone(entered: Any, furnished: Any) -> None:
    page = entered(width=390)
    for address in (furnished.finished.get_absolute_url(), f"/compare/?chart=heat&{KINDS['heat']}"):
        settled(page, address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    settled(page, furnished.finished.get_absolute_url())
    frame = page.locator("#chart-curve").locator("..")
    frame.focus()
    page.keyboard.press("Home")
    assert "%: " in frame.locator("xpath=following-sibling::p[@role='status']").inner_text()
