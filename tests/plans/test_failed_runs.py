"""What a night has left on the pages: runs that do not count, by which run their step was made again, and what guards found."""

import html
import re

import pytest

from apps.labs.models import Lab
from apps.plans import services
from apps.plans.execution_page import ExecutionPage
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Plan
from tests.api.conftest import script
from tests.plans.conftest import Callable, advance_all, answer, end, end_all

__all__ = ["script"]
pytestmark = pytest.mark.django_db
ONE_ROUND = {"kind": "fixed", "rounds": 1}
LIMITED = {"kind": "idle", "load": 1000, "rate": 2e9}


def page_of(plan: Plan) -> ExecutionPage:
    return ExecutionPage(Plan.objects.whole().get(pk=plan.pk))


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.fixture
def night(lab: Lab, write_plan: Callable[..., Plan]) -> tuple[Plan, Run, Run]:
    """A plan that is done, of which one run was interrupted and made again; with both runs."""
    plan = write_plan(stopping=ONE_ROUND, guards=[LIMITED])
    services.start_plan(plan, actor="eve", retries=1)
    advance_all(plan)
    first = Run.objects.open().order_by("pk")[0]
    end(first, State.INTERRUPTED)
    Run.objects.filter(pk=first.pk).update(problem="the host was restarted")
    second = Run.objects.open().filter(host=first.host).get()
    while end_all():
        advance_all(plan)
    return plan, first, second


def test_the_plans_page_lists_what_does_not_count_and_what_made_it_again(night, sign_in) -> None:
    plan, first, second = night
    [failed] = page_of(plan).failed_runs
    assert (failed.run.pk, failed.problem, failed.again) == (first.pk, "the host was restarted", second.pk)
    text = text_of(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "4 of 4 runs · 4 cells done · 1 run does not count: 1 interrupted" in text
    assert f"run {first.pk} alpha, small, round 1 interrupted the host was restarted run {second.pk}" in text
    assert re.search(r"Started by eve, [^·]+ · done [^·]+, \d+ s after its start", text), re.findall(
        "Started by.{80}", text
    )


def test_a_plan_whose_runs_all_count_says_nothing_of_others(lab: Lab, write_plan, sign_in) -> None:
    plan = write_plan(stopping=ONE_ROUND)
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    text = text_of(sign_in("viewer").get(f"/plans/{plan.pk}/").content.decode())
    assert "not count" not in text, "and a run under way is none of them"
    assert ", after" not in text


def test_rest_has_the_runs_that_do_not_count(night, script) -> None:
    plan, first, second = night
    answered = script("read")("GET", f"plans/{plan.pk}/").json()
    assert answered["failed_runs"] == [
        {
            "run": first.pk, "configuration": "alpha", "point": "small", "round": 1, "state": "interrupted",
            "problem": "the host was restarted", "made_again": second.pk,
        }
    ]  # fmt: skip


def test_the_page_of_the_run_leads_to_the_one_that_made_its_step_again(night, sign_in) -> None:
    _, first, second = night
    text = text_of(sign_in("engineer").get(f"/runs/{first.pk}/").content.decode())
    assert f"its plan has made the step again: run {second.pk} , finished." in text
    assert "start the same run again" not in text
    assert "made again" not in text_of(sign_in("engineer").get(f"/runs/{second.pk}/").content.decode())


def test_a_guard_stands_on_what_the_runs_that_count_have_found(night, script, sign_in) -> None:
    plan, *_ = night
    sentence = "At most 1\u202f000 tasks or cores are busy on the host, and its disks and its network move at most"
    found = "(asked for; of the runs that count: 4 not checked)."  # by figures around the run, which nobody sent
    [guard] = script("read")("GET", f"plans/{plan.pk}/").json()["guards"]
    assert guard["sentence"].startswith(sentence)
    assert guard["sentence"].endswith(found)
    assert guard["outcomes"] == {"passed": 0, "failed": 0, "not checked": 4}
    page = text_of(sign_in("viewer").get(f"/studies/{plan.study.slug}/").content.decode())
    assert " ".join(f"{sentence} 2\u202f000\u00a0MB/s each {found}".split()) in page
    document = sign_in("viewer").get(f"/api/v1/studies/{plan.study.slug}/?format=markdown&lang=it").content.decode()
    assert "richiesto; delle prove che contano: non verificata in 4" in html.unescape(document)


def test_a_guard_that_held_before_each_run_says_so(lab: Lab, write_plan, sign_in) -> None:
    plan = write_plan(stopping=ONE_ROUND, guards=[{"kind": "users_out"}, {"kind": "alone", "is_required": False}])
    services.start_plan(plan, actor="eve")
    while Run.objects.open().exists() or "started" in advance_all(plan):
        for run in Run.objects.open():
            held = [answer(asked, "passed" if asked["guard"] == "users_out" else "failed") for asked in run.guards]
            end(run, guards=held)
    page = text_of(sign_in("viewer").get(f"/studies/{plan.study.slug}/").content.decode())
    assert "nobody is logged in (asked for; of the runs that count: 4 passed)." in page
    assert "could warm a cache (asked for; of the runs that count: 4 failed)." in page


@pytest.mark.slow
def test_a_step_of_an_early_round_that_failed_for_good_is_told_and_can_be_retried(
    lab: Lab, write_plan, sign_in
) -> None:
    """The later rounds of its cell finished: the cell is not failed, and yet a run of it is missing in the morning."""
    plan = write_plan()  # two rounds
    services.start_plan(plan, actor="eve")
    advance_all(plan)
    lost = Run.objects.open().order_by("pk")[0]
    end(lost, State.FAILED)
    text = text_of(sign_in("engineer").get(f"/plans/{plan.pk}/").content.decode())
    assert f"run {lost.pk} alpha, small, round 1 failed – not yet" in text
    while end_all():
        pass
    page = page_of(plan)
    assert (page.state, page.rounds) == ("done", (7, 8))
    assert page.execution.reason == "1 step failed and was not made again: retry it, or leave the cell with fewer runs."
    client = sign_in("engineer")
    text = client.get(f"/plans/{plan.pk}/").content.decode()
    assert "Retry 1 failed step" in text
    assert text.count('name="row" value="alpha"') == 1, "its cell alone has a button"
    assert f"run {lost.pk} alpha, small, round 1 failed – no" in text_of(text)
    answered = client.post(f"/plans/{plan.pk}/retry/", {"row": "alpha", "point": "small"}, follow=True)
    assert "1 failed step of" in answered.content.decode()
    page = page_of(plan)
    assert (page.state, page.execution.reason, page.can_retry) == ("running", "", False)
    advance_all(plan)
    end_all()
    page = page_of(plan)
    assert (page.state, page.rounds, page.execution.reason) == ("done", (8, 8), "")
