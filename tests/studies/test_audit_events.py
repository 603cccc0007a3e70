"""What people do to a study and its plans is in the lab's audit trail, with who did it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.studies.models import Plan, Study
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.schema import plan_of
from tests.comparison.factories import measured
from tests.conftest import Cast
from tests.studies.test_plan_pages import WRITTEN, by_hand, form_of, study

__all__ = ["study"]
SignIn = Callable[[str], Client]
ME = "engineer@example.org"


def trail(lab: Lab, *acts: str) -> list[tuple[str, str, str, dict[str, Any]]]:
    events = AuditEvent.objects.filter(lab=lab, act__in=acts).order_by("pk")
    return [(event.act, event.subject, event.who, event.detail) for event in events]


def test_a_study_that_is_made_changed_filled_and_deleted(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    runs = [run.pk for run in measured(lab, "alpha", [9e7, 9.2e7])]
    client.post("/studies/new/", {"title": "Tapes", "language": "en", "slug": ""})
    client.post("/studies/tapes/edit/", {"title": "Old tapes", "language": "en", "slug": "old-tapes"})
    made = Study.objects.get()
    client.post("/studies/runs/", {"run": runs, "place": f"study-{made.pk}"})
    client.post("/studies/new/", {"title": "", "language": "en", "slug": ""})
    client.get("/studies/old-tapes/delete/")
    client.post("/studies/old-tapes/delete/")
    acts = ("study written", "runs put into a study", "study deleted")
    assert trail(lab, *acts) == [
        ("study written", "tapes", ME, {}),
        ("study written", "old-tapes", ME, {}),
        ("runs put into a study", "old-tapes", ME, {"runs": runs}),
        ("study deleted", "old-tapes", ME, {}),
    ]
    assert not Study.objects.exists()


def test_a_plan_that_is_written_changed_and_deleted(lab: Lab, study: Study, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    client.post("/studies/disks/plan/new/", form_of())
    plan = Plan.objects.get()
    client.post(f"/plans/{plan.pk}/cell/?row=small&point=all-of-it", {"reason": "No wish to wait.", "note": ""})
    client.post("/studies/disks/plan/new/", form_of(title=""))
    client.get(f"/plans/{plan.pk}/delete/")
    client.post(f"/plans/{plan.pk}/delete/")
    acts = ("plan written", "plan cell written", "plan deleted")
    name = f"{plan.name} of disks"
    assert trail(lab, *acts) == [
        ("plan written", name, ME, {}),
        ("plan cell written", "Small, All of it", ME, {}),
        ("plan deleted", name, ME, {}),
    ]
    assert not Plan.objects.exists()


def test_runs_that_are_taken_into_a_plan(lab: Lab, study: Study, sign_in: SignIn) -> None:
    plan = save_plan(study, plan_of(WRITTEN), actor="me", position=0)[0]
    by_hand(lab, "host-small", WRITTEN["points"][0]["file_size"], 2)
    sign_in("engineer").post(f"/plans/{plan.pk}/take/")
    assert trail(lab, "runs taken into a plan") == [("runs taken into a plan", "reading of disks", ME, {"runs": 2})]


@pytest.mark.parametrize("act", ["edit", "delete"])
def test_another_labs_study_is_neither_changed_nor_in_the_trail(
    lab: Lab, cast: Cast, sign_in: SignIn, act: str
) -> None:
    with lab_scope(cast.other_lab.pk):
        Study.objects.create(lab=cast.other_lab, slug="theirs", title="Theirs")
    answer = sign_in("engineer").post(f"/studies/theirs/{act}/", {"title": "Ours", "language": "en", "slug": "theirs"})
    assert answer.status_code == 404
    with lab_scope(cast.other_lab.pk):
        assert Study.objects.get().title == "Theirs"
        assert trail(cast.other_lab, "study written", "study deleted") == []
    assert trail(lab, "study written", "study deleted") == []
