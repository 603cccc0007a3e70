"""The charts of a run and of trends by keyboard alone, with their words, their tables and their downloads, in a real
browser: of a run that has ended and of one that goes on.
"""

import json
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from apps.core.pubsub import forget, remember
from apps.labs.isolation import lab_scope
from apps.trends.evaluation import evaluate
from tests.dashboard import world
from tests.e2e.looking import faults
from tests.e2e.test_pages import without_streams
from tests.trends.nights import measured_nights, noise, watch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OVER_TIME = ("bandwidth", "iops", "latency_mean")
POINTS = """id => Chart.getChart(id).data.datasets.filter((set) => !set.shade).flatMap((set) => set.data)
  .filter((point) => Number.isFinite(point.y)).length"""


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ")


def frame_of(page: Page, name: str) -> Locator:
    return page.locator(f"#chart-{name}").locator("..")


def says(frame: Locator) -> str:
    return plain(frame.locator("xpath=following-sibling::p[@role='status']").inner_text())


def reached(page: Page, most: int = 80) -> list[str]:
    """The charts that the Tab key comes to until it begins anew, by their canvas."""
    found: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.querySelector(':scope > canvas')?.id ?? ''")
        if name in found:
            break
        found += [name] if name else []
    return found


@pytest.fixture
def running(furnished: Any) -> Any:
    """A run that has told three moments, to Redis as an agent's chunks would."""
    with lab_scope(furnished.lab.pk):
        world.attempt_at(furnished.queued, world.State.RUNNING)
    for n in range(3):
        remember(f"run:{furnished.queued.pk}", told(n), 1000, 60)
    yield furnished.queued
    forget(f"run:{furnished.queued.pk}")


def told(n: int) -> dict[str, Any]:
    """The moments are a second apart, but for the last, which comes ten seconds late."""
    job = {"name": "job0", "operation": "randread", "bandwidth": 1e8 * (n + 1), "iops": 6e4, "latency_mean": 2.6e5}
    return {
        "n": n,
        "t": n + (11.0 if n == 4 else 1.0),
        "progress": 0.1 * n,
        "jobs": [job | {"done": 0.1 * n}],
        "bandwidth": {},
        "iops": {},
    }


def streaming(page: Page, count: int) -> None:
    body = "".join(f"id: {n}\nevent: progress\ndata: {json.dumps(told(n))}\n\n" for n in range(count))
    page.route(
        "**/events/runs/*/",
        lambda route: route.fulfill(body="retry: 600000\n\n" + body, content_type="text/event-stream"),
    )


def test_every_chart_of_a_run_is_reached_and_read_by_keyboard(signed_in: Any, furnished: Any) -> None:
    page = signed_in()
    page.goto(furnished.finished.get_absolute_url())
    page.wait_for_load_state("networkidle")
    charts = page.evaluate("[...document.querySelectorAll('canvas')].map((canvas) => canvas.id)")
    assert {f"chart-{name}" for name in (*OVER_TIME, "histogram", "curve")} <= set(charts)
    assert reached(page) == charts
    for chart in charts:
        frame = frame_of(page, chart.removeprefix("chart-"))
        frame.focus()
        page.keyboard.press("Home")
        first = says(frame)
        page.keyboard.press("End")
        assert "job0 randread" in first, chart
        assert says(frame) != first, chart
        page.keyboard.press("ArrowDown")
        assert "job1 write" in says(frame), chart
        page.keyboard.press("Escape")
        assert says(frame) == "", chart


@pytest.mark.long
def test_a_chart_over_time_says_what_it_shows_and_its_table_has_the_same(signed_in: Any, furnished: Any) -> None:
    page = signed_in()
    page.goto(furnished.finished.get_absolute_url())
    page.wait_for_load_state("networkidle")
    label = plain(str(frame_of(page, "bandwidth").get_attribute("aria-label")))
    assert "job0 randread: 3 values from 1.00 s to 3.00 s, mean 1.64 MB/s" in label
    assert label.endswith("Arrow keys walk its points; Home and End go to the first and the last; Escape leaves.")
    page.get_by_text("Bandwidth as a table").click()
    rows = page.locator("#points-bandwidth tbody tr")
    expect(rows).to_have_count(page.evaluate(POINTS, "chart-bandwidth"))
    walked = frame_of(page, "bandwidth")
    walked.focus()
    page.keyboard.press("Home")
    at, name, value = (plain(one) for one in rows.first.locator("th, td").all_inner_texts())
    assert (at, name) == ("1.00 s", "job0 randread")
    assert says(walked).startswith(f"{name}, 1.0 s: {value}")


def test_a_live_chart_has_words_a_table_and_keys_while_it_grows(signed_in: Any, running: Any, complaints: Any) -> None:
    page = signed_in()
    streaming(page, 3)
    page.goto(running.get_absolute_url())
    expect(page.locator("#said-bandwidth")).to_contain_text("begins at 100\u00a0MB/s and is now at 300\u00a0MB/s")
    frame = frame_of(page, "bandwidth")
    assert "mean 200 MB/s, 100 MB/s to 300 MB/s" in plain(str(frame.get_attribute("aria-label")))
    assert reached(page) == [f"chart-{name}" for name in OVER_TIME]
    frame.focus()
    page.keyboard.press("End")
    assert says(frame) == "job0 randread, 3.0 s: 300 MB/s"
    summary = page.get_by_text("Bandwidth as a table")
    rows = page.locator("#points-bandwidth tbody tr")
    summary.click()
    expect(rows).to_have_count(3)
    summary.click()
    remember(f"run:{running.pk}", told(3), 1000, 60)
    summary.click()
    expect(rows).to_have_count(4)
    assert "400 MB/s" in plain(rows.last.inner_text())
    assert complaints == []


@pytest.mark.long
def test_a_gap_in_a_live_run_is_said_by_the_page_as_by_the_server(signed_in: Any, running: Any) -> None:
    for n in (3, 4):
        remember(f"run:{running.pk}", told(n), 1000, 60)
    page = signed_in()
    without_streams(page)
    page.goto(running.get_absolute_url())
    sent = page.locator("#said-bandwidth").inner_text()
    assert plain(sent).endswith("begins at 100 MB/s and ends at 500 MB/s, nothing from 4.00 s to 15.0 s.")
    page.unroute("**/events/runs/*/")
    streaming(page, 5)
    page.goto(running.get_absolute_url())
    ours = sent.partition(" over time. ")[2].replace("ends at", "is now at")
    expect(page.locator("#said-bandwidth")).to_have_text(f"Bandwidth. {ours}")


@pytest.mark.long
def test_the_downloads_of_live_charts_answer(signed_in: Any, running: Any) -> None:
    page = signed_in()
    streaming(page, 3)
    page.goto(running.get_absolute_url())
    kinds = {}
    expect(page.locator("figure").first.locator(".downloads")).to_be_visible()
    for link in page.locator("figure").first.locator(".downloads a").all():
        answer = page.request.get(str(link.get_attribute("href")))
        kinds[link.inner_text()] = (answer.status, answer.headers["content-type"].partition(";")[0])
    assert kinds == {
        "CSV": (200, "text/csv"), "JSON": (200, "application/json"), "SVG": (200, "image/svg+xml"), "PNG": (200, "image/png"),
    }  # fmt: skip


@pytest.mark.long
def test_without_javascript_a_run_has_pictures_and_tables(open_browser: Any, sign_in: Any, live_server: Any,
                                                          furnished: Any) -> None:  # fmt: skip
    page = open_browser(java_script_enabled=False)
    session = sign_in("viewer").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page.goto(furnished.finished.get_absolute_url())
    pictures = page.locator(".chart-picture")
    assert pictures.count() == page.locator("canvas").count()
    assert plain(str(pictures.first.get_attribute("alt"))).startswith("Chart over time: Bandwidth of run ")
    page.get_by_text("Bandwidth as a table").click()
    page.get_by_role("link", name="Open the table on its own page").first.click()
    expect(page.get_by_role("heading", name="Bandwidth over time")).to_be_visible()


def test_the_list_of_trends_leads_to_the_table_and_all_is_for_everybody(
    signed_in: Any, furnished: Any, complaints: Any
) -> None:
    with lab_scope(furnished.lab.pk):
        measured_nights(furnished.lab, [*(4e8 * noise(30, 1)), *(3e8 * noise(10, 2))])
        watched = watch(furnished.lab)
        evaluate(watched)
    page = signed_in()
    without_streams(page)
    metric = reverse("run-over-time", args=[furnished.finished.pk, "bandwidth"])
    assert faults(page, ["/trends/", f"/trends/{watched.pk}/", metric], complaints) == {}
    page.goto("/trends/")
    line = page.get_by_role("img", name="The last 40 of 40 runs")
    assert "1 change of level: −" in str(line.get_attribute("aria-label"))
    page.get_by_role("link", name="Table of ").click()
    page.wait_for_url("**#runs")
    expect(page.locator("#runs tbody tr")).to_have_count(40)
    expect(page.locator("#runs tbody tr").first).to_be_visible()
