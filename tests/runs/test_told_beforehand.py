"""What the runs' pages say before a person would find it out: what a host allows, which filters there are, what a cancel leaves."""

import pytest
from django.urls import reverse

from apps.agents.models import Agent
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from apps.runs.states import State
from tests.runs.test_pages import form, runs
from tests.shared_world import cast, furnished

__all__ = ["cast", "furnished"]

pytestmark = pytest.mark.django_db


def test_files_beyond_what_the_host_allows_are_refused_before_anything_is_queued(furnished, sign_in):
    """The host has said that it allows 100 GiB."""
    before = len(runs(furnished.lab))
    answer = sign_in("engineer").post(reverse("run-new"), form(furnished.target, file_size="900g"))
    text = answer.content.decode().replace("\xa0", " ")
    assert (answer.status_code, len(runs(furnished.lab))) == (422, before)
    assert "900 GiB in all, expected at most 100 GiB (this host" in text
    both = form(furnished.target, file_size="60g", numjobs="2")
    assert sign_in("engineer").post(reverse("run-new"), both).status_code == 422
    assert sign_in("engineer").post(reverse("run-new"), form(furnished.target, file_size="100g")).status_code == 302


def test_files_of_several_jobs_count_together(furnished, sign_in):
    two = form(furnished.target, file_size="60g")
    two |= {name.replace("jobs-0", "jobs-1"): value for name, value in two.items() if name.startswith("jobs-0")}
    answer = sign_in("engineer").post(reverse("run-new"), two | {"jobs-TOTAL_FORMS": 2})
    text = answer.content.decode().replace("\xa0", " ")
    assert answer.status_code == 422
    assert "file_size: 120 GiB in all, expected at most 100 GiB (this host" in text


def test_a_host_that_has_not_said_what_it_allows_refuses_by_itself(furnished, sign_in):
    with lab_scope(furnished.lab.pk):
        Agent.objects.update(policy={})
    assert sign_in("engineer").post(reverse("run-new"), form(furnished.target, file_size="900g")).status_code == 302


def test_the_list_names_a_filter_that_it_has_not(furnished, sign_in):
    text = sign_in("viewer").get(reverse("runs"), {"operation": "write", "state": "queued", "page": 1}).content.decode()
    assert "There is no filter operation</strong>, so it changes nothing here. There are q, state, host, " in text
    assert "There is no filter" not in sign_in("viewer").get(reverse("runs"), {"rw": "write"}).content.decode()


def test_what_a_cancel_leaves_is_said(furnished, sign_in):
    with lab_scope(furnished.lab.pk):
        Run.objects.filter(pk=furnished.queued.pk).update(state=State.RUNNING)
    asked = sign_in("engineer").get(reverse("run-cancel", args=[furnished.queued.pk])).content.decode()
    assert "Values so far are kept on its page and count in no comparison." in asked


@pytest.mark.parametrize(("problem", "said"), [("cancelled", "</strong></p>"), ("no room", "</strong> no room</p>")])
def test_a_reason_that_is_the_state_itself_is_left_out(furnished, sign_in, problem, said):
    with lab_scope(furnished.lab.pk):
        Run.objects.filter(pk=furnished.queued.pk).update(state=State.CANCELLED, problem=problem)
    assert f"<strong>Cancelled.{said}" in sign_in("viewer").get(furnished.queued.get_absolute_url()).content.decode()
