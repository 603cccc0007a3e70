"""The pages in a real browser: they work, look whole in light and dark and on a phone, and everybody can use them."""

import json
import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.conftest import PASSWORD
from tests.dashboard import world
from tests.e2e.looking import faults, look
from tests.sampling import sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def addresses(furnished):
    host = furnished.host
    with lab_scope(furnished.lab.pk):
        return [
            "/", "/hosts/", host.get_absolute_url(), "/disks/", "/arrays/", "/filesystems/", "/targets/",
            "/controllers/", "/snapshots/",
            reverse("array", args=[host.arrays.first().pk]), reverse("disk", args=[host.disks.first().pk]),
            reverse("snapshot", args=[furnished.finished.snapshot_id]), furnished.target.get_absolute_url(), "/runs/",
            furnished.finished.get_absolute_url(), furnished.queued.get_absolute_url(), reverse("run-cancel",
            args=[furnished.queued.pk]),
            reverse("run-artefact-view", args=[furnished.finished.pk, "result.json"]), "/runs/new/", "/lab/",
            "/lab/tokens/", "/lab/agents/",
            "/lab/audit/", "/lab/agents/enrol/", "/accounts/password/change/",
        ]  # fmt: skip


def without_streams(page):
    page.route("**/events/runs/*/", lambda route: route.fulfill(status=204))


@pytest.mark.parametrize("half", [0, 1])
def test_every_page_is_for_everybody_light_dark_and_on_a_phone(signed_in, furnished, complaints, half):
    page = signed_in("owner")
    without_streams(page)
    assert faults(page, sample(addresses(furnished)[half::2], 5), complaints) == {}


def test_the_page_that_says_what_is_not_there(signed_in, complaints):
    found = look(signed_in("owner"), "/hosts/999/", complaints)
    assert len(found) == 1
    assert "404" in found[0], "only the browser's own word for it"


def test_the_sign_in_page_breaks_none_either(open_browser, furnished, complaints):
    assert look(open_browser(), "/accounts/login/", complaints) == []


def test_a_wrong_password_is_said_in_words(open_browser, furnished):
    page = open_browser()
    page.goto("/")
    page.get_by_label("E-mail address").fill("engineer@example.org")
    page.get_by_label("Password").fill("wrong wrong wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not correct")


def test_the_right_password_leads_to_the_start_page(open_browser, furnished, complaints):
    page = open_browser()
    page.goto("/")
    page.get_by_label("E-mail address").fill("engineer@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs")).to_be_visible()
    assert complaints == []


def test_colours_follow_the_system_until_somebody_chooses(signed_in):
    page = signed_in(color_scheme="dark")
    page.goto("/")
    theme = page.locator("html")
    expect(theme).to_have_attribute("data-bs-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(theme).to_have_attribute("data-bs-theme", "light")
    page.get_by_role("button", name="Dark colours").click()
    expect(theme).to_have_attribute("data-bs-theme", "dark")
    page.goto("/runs/")
    expect(theme).to_have_attribute("data-bs-theme", "dark")
    page.get_by_role("button", name="Dark colours").click()
    expect(theme).to_have_attribute("data-bs-theme", "light")


def test_the_host_page_draws_its_stack(signed_in, furnished):
    page = signed_in()
    page.goto(furnished.host.get_absolute_url())
    tree = page.get_by_role("region", name="Storage tree")
    expect(tree.get_by_role("link", name="md10")).to_have_count(2)
    expect(tree.get_by_text("degraded")).to_be_visible()
    tree.get_by_role("link", name="sda").click()
    expect(page.get_by_role("heading", name="sda")).to_be_visible()


def drawn(page, chart):
    """How many points a chart has drawn."""
    return page.evaluate("id => Chart.getChart(id).data.datasets.filter(s => !s.shade).map(s => s.data.length)", chart)


def test_the_run_page_draws_what_its_tables_say(signed_in, furnished):
    page = signed_in()
    page.goto(furnished.finished.get_absolute_url())
    page.wait_for_load_state("networkidle")
    for chart in ("chart-bandwidth", "chart-iops", "chart-latency_mean", "chart-histogram", "chart-curve"):
        assert drawn(page, chart), chart
        assert all(points > 1 for points in drawn(page, chart)), chart
    with page.expect_download() as download:
        page.get_by_role("link", name="result.json").click()
    assert download.value.suggested_filename == f"run-{furnished.finished.pk}-result.json"


def test_the_run_page_is_live_while_fio_runs(signed_in, furnished):
    with lab_scope(furnished.lab.pk):
        world.attempt_at(furnished.queued, world.State.RUNNING)
    jobs = [{"name": "job0", "operation": "randread", "bandwidth": 2.5e8, "iops": 61000.0, "latency_mean": 260000.0,
    "done": 0.5},
            {"name": "job1", "operation": "write", "bandwidth": None, "iops": None, "latency_mean": None,
            "done": 0.0}]  # fmt: skip
    points = [{"n": n, "t": n + 1.0, "progress": 0.1 * n, "jobs": jobs, "bandwidth": {}, "iops": {}} for n in range(5)]
    stream = "".join(f"id: {one['n']}\nevent: progress\ndata: {json.dumps(one)}\n\n" for one in points)
    page = signed_in()
    page.route(
        "**/events/runs/*/",
        lambda route: route.fulfill(body="retry: 600000\n\n" + stream, content_type="text/event-stream"),
    )
    page.goto(furnished.queued.get_absolute_url())
    expect(page.locator("#live-percent")).to_have_text("40\u00a0%")
    expect(page.locator("#live-jobs tr").first).to_contain_text("250\u00a0MB/s")
    expect(page.locator("#live-jobs tr").last).to_contain_text("–")
    assert drawn(page, "chart-iops") == [5]


def test_the_run_page_looks_again_when_the_run_has_ended(signed_in, furnished):
    page = signed_in()
    stream = 'event: state\ndata: {"state": "cancelled", "ended": true}\n\n'
    held = []
    page.route("**/events/runs/*/", lambda route: held.append(route))  # Playwright takes functions alone
    with page.expect_request("**/events/runs/*/"):
        page.goto(furnished.queued.get_absolute_url())
    with lab_scope(furnished.lab.pk):
        Run.objects.filter(pk=furnished.queued.pk).update(state="cancelled", problem="Cancelled by a test.")
    held[0].fulfill(body=stream, content_type="text/event-stream")
    expect(page.get_by_text("Cancelled by a test.")).to_be_visible()


def test_filters_change_the_list_and_the_address(signed_in, furnished):
    page = signed_in()
    page.goto("/runs/")
    page.get_by_label("State").select_option("finished")
    expect(page.get_by_text("1 run, newest first")).to_be_visible()
    expect(page).to_have_url(re.compile("state=finished"))
    page.get_by_label("Find").fill("nowhere")
    expect(page.get_by_text("No run matches")).to_be_visible()
    page.reload()
    expect(page.get_by_text("No run matches")).to_be_visible()


def test_the_form_shows_fios_words_while_one_types_and_then_starts_the_run(signed_in, furnished):
    page = signed_in()
    page.goto("/runs/new/")
    preview = page.locator("#equivalent")
    expect(preview).to_contain_text("rw=randread")
    page.locator("#id_jobs-0-block_size").fill("64k")
    expect(preview).to_contain_text("bs=64k")
    page.locator("#id_jobs-0-iodepth").fill("32")
    expect(preview).to_contain_text("psync has one I/O under way at a time")
    page.locator("#id_jobs-0-ioengine").select_option("libaio")
    expect(preview).to_contain_text("iodepth=32")
    page.get_by_role("button", name="Add a job after these").click()
    page.locator("#id_jobs-1-rw").select_option("write")
    expect(preview).to_contain_text("[job1]")
    page.get_by_label("Repetitions").fill("1")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile(r"Run \d+"))).to_be_visible()
    expect(page.get_by_label("fio job file", exact=True)).to_contain_text("rw=write")


def test_without_javascript_a_run_can_be_reviewed_and_started(open_browser, furnished):
    page = open_browser(java_script_enabled=False)
    page.goto("/accounts/login/")
    page.get_by_label("E-mail address").fill("engineer@example.org")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.goto("/runs/new/")
    page.get_by_role("button", name="Review").click()
    expect(page.locator("#equivalent")).to_contain_text("rw=randread")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("3 repetitions are queued")).to_be_visible()
    page.get_by_label("State").select_option("finished")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("1 run, newest first")).to_be_visible()


def test_the_keyboard_alone_reaches_everything(signed_in, furnished):
    page = signed_in()
    page.goto("/runs/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("main").get_by_role("link", name="Start a run")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/new/")
    page.get_by_label("Repetitions").focus()
    with lab_scope(furnished.lab.pk):
        before = Run.objects.count()
    with page.expect_navigation():
        page.keyboard.press("Enter")  # a form is sent by its first button: that must never be one that starts anything
    expect(page.locator("#equivalent")).to_contain_text("rw=randread")
    assert page.url.endswith("/runs/new/")
    with lab_scope(furnished.lab.pk):
        assert Run.objects.count() == before


def test_a_menu_opens_and_closes_by_keyboard(signed_in, furnished):
    page = signed_in()
    page.goto(furnished.finished.get_absolute_url())
    page.locator("summary", has_text="Export").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="MediaWiki")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="MediaWiki")).to_be_hidden()


def test_removing_a_member_asks_first(signed_in, furnished):
    page = signed_in("owner")
    page.goto("/lab/")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.evaluate("addEventListener('submit', (event) => { window.isStopped = event.defaultPrevented; })")
    page.get_by_role("button", name="Remove viewer@example.org").click()
    assert page.evaluate("window.isStopped") is True
    assert "lose access at once" in asked[0]
    expect(page.get_by_text("viewer@example.org").first).to_be_visible()
