"""In a browser: the chart draws what the table says, htmx changes both together, and nothing breaks the site's policy."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab, Member, Role, User
from tests.comparison.factories import MIB, measured, run, sample, target
from tests.trends.nights import QUERY, measured_nights, noise, watch

CHART = "Chart.getChart(document.querySelector('[data-compare-chart] canvas'))"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(live_server: LiveServer, chromium: Any) -> Iterator[Any]:
    lab = Lab.objects.create(name="Lab", slug="lab")
    user = User.objects.create_user("who@example.org", "correct horse battery")
    Member.objects.create(lab=lab, user=user, role=Role.VIEWER)
    with lab_scope(lab.pk):
        measured(lab, "alpha", [9.0e7, 9.1e7, 9.2e7], file_size=100 * MIB)
        measured(lab, "alpha", [8.0e7], file_size=200 * MIB)
        measured(lab, "beta", [1.8e8], file_size=200 * MIB, interface="NVMe")
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    context = chromium.new_context()
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda said: page.wrong.append(said.text) if said.type == "error" else None)
    page.site = live_server.url
    yield page
    context.close()
    assert page.wrong == []


EVERYTHING = "metric=bandwidth&operation=write"  # without a question the page opens on what was measured alike


def until(page: Any, expression: str) -> None:
    """Playwright's own waiting evaluates text inside the page, which the site's policy rightly forbids."""
    for _ in range(200):  # 20 s, as in tests/e2e
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never true: {expression}")


def drawn(page: Any) -> Any:
    """Per series its name and (label, value or None) as Chart.js holds them after it has read the data."""
    return page.evaluate(
        f"(() => {{ const c = {CHART}; return c.data.datasets.map((d, i) => [d.label, "
        "d.data.map((p, at) => [c.data.labels[at], Number.isNaN(p.y) ? null : c.getDatasetMeta(i)._parsed[at].y])]); })()"
    )


def test_the_chart_draws_what_the_table_says(page: Any) -> None:
    page.goto(f"{page.site}/compare/?{EVERYTHING}")
    until(page, f"{CHART} !== undefined")
    assert drawn(page) == [
        ["alpha · scratch", [["100\u00a0MiB", 91], ["200\u00a0MiB", 80]]],
        ["beta · scratch", [["100\u00a0MiB", None], ["200\u00a0MiB", 180]]],
    ]
    assert page.locator(".compare-table tbody tr").first.inner_text().startswith("100\u00a0MiB")


def test_a_filter_changes_address_table_and_chart_together(page: Any) -> None:
    page.goto(f"{page.site}/compare/?scale=log")
    until(page, f"{CHART} !== undefined")
    page.click("#facets summary")
    page.check("input[name=interface][value=NVMe]")
    until(page, f"{CHART}?.data.datasets.length === 1")
    until(page, "location.search.includes('interface=NVMe')")
    assert [name for name, _ in drawn(page)] == ["beta · scratch"]
    assert page.locator("#facets input:checked").count() == 1
    page.click(".chosen a")
    until(page, f"{CHART}?.data.datasets.length === 2")
    until(page, "!location.search.includes('interface')")
    assert page.locator("#facets input:checked").count() == 0


@pytest.mark.long
def test_choices_of_filters_that_come_late_do_not_undo_one(page: Any) -> None:
    page.route("**/compare/filters/**", lambda route: None)  # never answered
    page.goto(f"{page.site}/compare/?{EVERYTHING}")
    until(page, f"{CHART} !== undefined")
    with page.expect_request("**/compare/filters/**"):
        page.click("#facets summary")
    with page.expect_event("requestfailed", lambda request: "/compare/filters/" in request.url):  # it is not waited for
        page.check("input[name=interface][value=NVMe]")
    until(page, f"{CHART}?.data.datasets.length === 1")
    assert page.locator("#facets input:checked").count() == 1


@pytest.mark.long
def test_what_is_a_bound_is_drawn_as_a_bound(page: Any) -> None:
    lab = Lab.objects.get()
    with lab_scope(lab.pk):
        sample(run(lab, target(lab, "gamma")), None, file_size=100 * MIB, low=5e7, quality="lower_bound")
    page.goto(f"{page.site}/compare/?host=gamma")
    until(page, f"{CHART} !== undefined")
    assert page.evaluate(f"{CHART}.data.datasets[0].backgroundColor[0] instanceof CanvasPattern")  # hatched
    with lab_scope(lab.pk):
        sample(run(lab, target(lab, "gamma")), 6e7, file_size=200 * MIB)
    page.reload()
    until(page, f"{CHART} !== undefined")
    assert page.evaluate(f"{CHART}.getDatasetMeta(0).data[0].options.pointStyle") == "triangle"
    assert page.evaluate(f"{CHART}.getDatasetMeta(0).data[1].options.pointStyle") == "circle"
    assert "≥\u00a050.0" in page.locator(".compare-table tbody").inner_text().replace("≥ ", "≥\u00a0")


@pytest.mark.long
def test_opened_filters_bring_what_is_left_out_with_its_runs(page: Any) -> None:
    page.goto(f"{page.site}/compare/?host=beta")
    assert page.locator("#facet-choices input[name=host]").count() == 1
    page.click("#facets summary")
    until(page, "document.querySelectorAll('#facet-choices input[name=host]').length === 2")
    assert page.url.endswith("?host=beta")
    page.check("#facet-choices input[name=host][value=alpha]")
    until(page, f"{CHART}?.data.datasets.length === 2")
    assert page.locator("#facets").get_attribute("open") is not None


@pytest.mark.long
def test_the_most_equal_pair_is_one_click_away(page: Any) -> None:
    lab = Lab.objects.get()
    with lab_scope(lab.pk):
        measured(lab, "gamma", [1.7e8], file_size=200 * MIB, interface="SATA")
    page.goto(f"{page.site}/compare/?{EVERYTHING}")
    page.click(".suggestion a")
    until(page, f"{CHART}?.data.datasets.length === 2")
    assert page.locator(".chosen a").count() == 2


def test_the_docs_page_works_under_the_sites_policy(page: Any) -> None:
    """Swagger UI holds only what is near the window, so the page is scrolled as a reader would."""
    page.goto(f"{page.site}/api/docs/")
    page.wait_for_selector("text=/api/v1/arrays/")
    for _ in range(60):
        if page.locator("text=/api/v1/compare/").count():
            return
        page.mouse.wheel(0, 300)
        page.wait_for_timeout(250)
    raise AssertionError("scrolling never came to /api/v1/compare/")


@pytest.mark.long
def test_a_dot_beyond_the_whiskers_lies_inside_the_frame(page: Any) -> None:
    lab = Lab.objects.get()
    with lab_scope(lab.pk):
        measured(lab, "delta", [*[5e7] * 4, *[1.5e8] * 5, 9e8, 1e6], file_size=100 * MIB)
    page.goto(f"{page.site}/compare/?host=delta&chart=box")
    until(page, f"{CHART} !== undefined")
    assert page.evaluate(f"{CHART}.scales.y.max") >= 900
    assert page.evaluate(f"{CHART}.scales.y.min") <= 1


@pytest.mark.long
def test_a_watchs_chart_is_walked_by_keyboard_and_enter_opens_the_run(page: Any) -> None:
    lab = Lab.objects.get()
    with lab_scope(lab.pk):
        values = 4e8 * noise(40, 1)
        values[30:] *= 0.8
        runs = measured_nights(lab, list(values), host="nightly")
        watched = watch(lab, query=QUERY.replace("alpha", "nightly"))
    page.goto(f"{page.site}/trends/{watched.pk}/")
    until(page, "Chart.getChart(document.querySelector('[data-trend-chart] canvas')) !== undefined")
    page.locator("[data-trend-chart]").focus()
    page.keyboard.press("End")
    says = page.locator(".chart-says")
    assert says.inner_text().startswith(f"run {runs[-1].pk}, ")
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    assert "first of a new level, −" in says.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{runs[30].pk}/")


@pytest.mark.long
def test_the_highest_mark_keeps_off_the_frame(page: Any) -> None:
    """97 is so close below a round 100 that the frame would almost touch it."""
    with lab_scope(Lab.objects.get().pk):
        measured(Lab.objects.get(), "gamma", [9.7e7], file_size=100 * MIB)
        measured(Lab.objects.get(), "gamma", [9.0e7], file_size=200 * MIB)
    page.goto(f"{page.site}/compare/?host=gamma")
    until(page, f"{CHART} !== undefined")
    room = page.evaluate(
        f"(() => {{ const c = {CHART}, area = c.chartArea;"
        "return (c.scales.y.getPixelForValue(97) - area.top) / (area.bottom - area.top); })()"
    )
    assert room > 0.05
