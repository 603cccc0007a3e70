"""The queue's page in a real browser: it follows what happens, keeps ticks and focus, and works by keyboard alone."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from apps.runs.services import cancel_run, offer_next_run
from apps.runs.states import State
from tests.dashboard import world
from tests.e2e.looking import faults
from tests.sampling import sample

pytestmark = pytest.mark.browser


def queued(furnished: world.World) -> list[int]:
    with lab_scope(furnished.lab.pk):
        waiting = Run.objects.filter(lab=furnished.lab, state=State.QUEUED)
        return list(waiting.in_dispatch_order().values_list("pk", flat=True))


def shown(page: Page) -> list[int]:
    ids: list[str] = page.locator("tr[id^=queue-run-]").evaluate_all("rows => rows.map(row => row.id)")
    return [int(name.rpartition("-")[2]) for name in ids]


@pytest.fixture
def page(furnished: world.World, signed_in: Any) -> Page:
    with lab_scope(furnished.lab.pk):
        world.start(furnished.lab, furnished.target, 3)
    page: Page = signed_in("engineer")
    page.goto("/queue/")
    page.evaluate("window.sameDocument = true")
    return page


def test_ticks_and_focus_stay_while_the_page_follows_the_queue(
    furnished: world.World, page: Page, complaints: list[str]
) -> None:
    first, second, third, fourth = queued(furnished)
    page.locator(f"#tick-{third}").check()
    page.locator("#queue-priority").select_option("low")
    page.locator(f"#down-{second}").focus()
    with lab_scope(furnished.lab.pk):
        cancel_run(Run.objects.get(pk=first), "engineer")
        new = world.start(furnished.lab, furnished.target)
    expect(page.locator(f"#queue-run-{new.pk}")).to_be_visible()
    assert shown(page) == [second, third, fourth, new.pk]
    expect(page.locator(f"#tick-{third}")).to_be_checked()
    expect(page.locator(f"#tick-{fourth}")).not_to_be_checked()
    expect(page.locator(f"#down-{second}")).to_be_focused()
    expect(page.locator("#queue-priority")).to_have_value("low")
    assert page.evaluate("window.sameDocument")
    assert complaints == []


def test_runs_are_moved_and_get_priorities_by_keyboard_alone(furnished: world.World, page: Page) -> None:
    first, second, third, fourth = queued(furnished)
    page.locator(f"#front-{third}").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#queue-message")).to_have_text(f"Run {third} is moved to the front.")
    assert shown(page) == queued(furnished) == [third, first, second, fourth]
    expect(page.locator(f"#front-{third}")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(f"#up-{third}")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#queue-message")).to_have_text(f"Run {third} is moved down.")
    expect(page.locator(f"#down-{third}")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#queue-run-" + str(third) + " td.num").first).to_have_text("3")
    assert shown(page) == queued(furnished) == [first, second, third, fourth]
    page.locator(f"#tick-{fourth}").focus()
    page.keyboard.press("Space")
    expect(page.locator(f"#tick-{fourth}")).to_be_checked()
    page.get_by_role("button", name="Set priority").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#queue-message")).to_have_text("1 run now has high priority.")
    assert shown(page) == queued(furnished) == [fourth, first, second, third]
    expect(page.locator(f"#tick-{fourth}")).to_be_checked()


def test_ticked_runs_are_cancelled_after_a_question(furnished: world.World, page: Page) -> None:
    first, *_ = queued(furnished)
    page.locator("#tick-all").check()
    page.locator(f"#tick-{first}").uncheck()
    page.get_by_role("button", name="Cancel selected…").click()
    expect(page.get_by_role("heading", name="Cancel 3 runs?")).to_be_visible()
    page.get_by_role("button", name="Cancel the runs").click()
    expect(page.get_by_text("3 runs cancelled.")).to_be_visible()
    assert shown(page) == queued(furnished) == [first]


def test_its_pages_are_for_everybody_light_dark_and_on_a_phone(
    furnished: world.World, signed_in: Any, complaints: list[str]
) -> None:
    with lab_scope(furnished.lab.pk):
        world.start(furnished.lab, furnished.target)
        attempt = offer_next_run(furnished.host.pk)
        assert attempt
        attempt.accept()
        attempt.lose()
        Run.objects.filter(pk=furnished.finished.pk).update(labels={"cable": "old"}, note="after the move")
    addresses = [
        "/queue/", f"/queue/cancel/?run={attempt.run_id}", f"/hosts/{furnished.host.pk}/abandon/",
        f"/runs/new/?like={furnished.finished.pk}", f"/runs/{attempt.run_id}/", furnished.finished.get_absolute_url(),
    ]  # fmt: skip
    page: Page = signed_in("engineer")
    page.route("**/events/runs/*/", lambda route: route.fulfill(status=204))
    assert faults(page, sample(addresses, 4), complaints) == {}


def test_the_page_itself_never_scrolls_sideways(furnished: world.World, page: Page) -> None:
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    beyond = {}
    for width in (390, 768, 1024, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        beyond[width] = page.evaluate(sideways)
    assert {width: pixels for width, pixels in beyond.items() if pixels > 0} == {}
