"""The whole way in a real browser: sign in, start a run by the form, watch it live, see it finished, cancel another."""

import shutil
from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, Route, expect

from tests.faults.stack import Stack

pytestmark = [
    pytest.mark.browser,
    pytest.mark.fio,
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]


@pytest.fixture
def stack(transactional_db, cast, tmp_path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    try:
        made.up()
        yield made
    finally:
        made.down()


@pytest.fixture
def signed_in(stack: Stack, chromium: Browser, cast) -> Iterator[Page]:
    client = Client()
    client.force_login(cast.engineer, backend="allauth.account.auth_backends.AuthenticationBackend")
    cookie = client.cookies["sessionid"].value
    context = chromium.new_context()
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": stack.url}])
    yield context.new_page()
    context.close()


def test_a_run_is_started_watched_and_seen_finished(stack: Stack, signed_in: Page) -> None:
    page = signed_in
    page.goto(f"{stack.url}/runs/new/")
    page.get_by_label("Repetitions").fill("1")
    page.locator("#id_jobs-0-rw").select_option("randwrite")
    page.locator("#id_jobs-0-file_size").fill("8m")
    page.locator("#id_jobs-0-runtime").fill("4")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/**")
    expect(page.get_by_role("progressbar").first).to_be_visible(timeout=15000)
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.get_by_text("p99 completion latency (clat)", exact=True).first).to_be_visible(timeout=40000)
    text = page.inner_text("body")
    assert "finished" in text
    assert "rw=randwrite" in text


def test_a_page_whose_server_was_away_goes_on_by_itself_and_cancels_its_run(stack: Stack, signed_in: Page) -> None:
    asked = []

    def away_at_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fulfill(status=502, body="bad gateway")
        else:
            route.continue_()

    signed_in.route("**/events/runs/**", away_at_first)
    run = stack.run(seconds=60)
    stack.wait_for(run, "running")
    signed_in.goto(f"{stack.url}/runs/{run.pk}/")
    expect(signed_in.locator("#live-note")).to_have_text("Connection lost, trying again …")
    expect(signed_in.locator("#live-note")).to_contain_text("s since the start")
    assert len(asked) == 2
    signed_in.get_by_role("link", name="Cancel …").click()
    signed_in.get_by_role("button", name="Cancel the run").click()
    stack.wait_for(run, "cancelled", 15)
    assert not stack.fio_processes()


@pytest.mark.long
def test_what_was_said_of_the_reading_goes_when_the_run_ends(stack: Stack, signed_in: Page) -> None:
    states = [
        '{"state":"running","reading":true,"ended":false,"progress":0.98}',
        '{"state":"finished","reading":false,"ended":true,"progress":1}',
    ]
    body = "".join(f"event: state\ndata: {one}\n\n" for one in states)
    signed_in.route("**/events/runs/**", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    signed_in.add_init_script(
        "const real = window.setTimeout; window.setTimeout = (work, ms) => ms === 800 ? 0 : real(work, ms);"
    )  # the page is not loaded anew
    run = stack.run(seconds=8)
    signed_in.goto(f"{stack.url}/runs/{run.pk}/")
    expect(signed_in.locator("#run-state .chip").first).to_have_text("finished")
    expect(signed_in.locator("#live-note")).to_have_text("")
    expect(signed_in.locator("#live-percent")).to_have_text("100\u00a0%")
    expect(signed_in.get_by_text("being read")).to_have_count(0)
    stack.wait_for(run, "finished")
