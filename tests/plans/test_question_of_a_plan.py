"""Plans that a question of Compare asks for: the way back, and one study for one question. Procedures bring their guards."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from apps.inventory.models import Target
from apps.plans import forms, presets
from apps.studies.models import Plan, Study
from tests.api.conftest import script
from tests.page_text import page_text
from tests.plans.test_pages import form_of

__all__ = ["script"]
SignIn = Callable[[str], Client]
pytestmark = pytest.mark.usefixtures("study")
QUESTION = "raid_level?operation=write&metric=bandwidth&ignore=kernel"
ADDRESS = "/compare/questions/raid_level/?operation=write&amp;metric=bandwidth&amp;ignore=kernel"


def make(client: Client, **changes: object) -> Any:
    return client.post("/plans/new/", form_of(**changes))


def test_a_plan_leads_back_to_its_question(sign_in: SignIn) -> None:
    client = sign_in("engineer")
    form = client.get(f"/plans/new/?{urlencode({'title': 'RAID 5 / RAID 6', 'question': QUESTION})}").content.decode()
    (hidden,) = re.findall('<input type="hidden" name="question" value="([^"]+)"', form)
    assert "For the question" in page_text(form)
    answer = make(client, title="RAID 5 / RAID 6", question=hidden.replace("&amp;", "&"))
    plan = Plan.objects.get()
    assert plan.question == QUESTION
    text = client.get(answer.headers["Location"]).content.decode()
    assert re.search(
        r'Made for the question <a href="[^"]*/raid_level/\?operation=write&amp;metric=bandwidth&amp;ignore=kernel">RAID level',
        text,
    )


def test_what_is_no_question_is_refused_and_one_that_is_gone_has_no_link(sign_in: SignIn) -> None:
    client = sign_in("engineer")
    assert make(client, question="nonsense").status_code == 422
    assert make(client, question="raid_level?metric=nonsense").status_code == 422
    make(client)
    Plan.objects.update(question="of_another_version?x=1")
    assert "Made for the question" not in client.get(f"/plans/{Plan.objects.get().pk}/").content.decode()


def test_by_rest(script: Any) -> None:
    body = {"title": "RAID", "targets": list(Target.objects.values_list("pk", flat=True)), "preset": "quick-check"}
    call = script("run")
    assert call("POST", "plans/", {**body, "question": QUESTION}).json()["question"] == QUESTION
    assert call("POST", "plans/", {**body, "title": "b"}).json()["question"] == ""
    refused = call("POST", "plans/", {**body, "question": "nonsense"})
    assert refused.status_code == 400
    assert refused.json()["field"] == "question"


def test_the_form_offers_the_study_that_has_the_title(sign_in: SignIn) -> None:
    client = sign_in("engineer")
    make(client, title="RAID 5 / RAID 6")
    study = Study.objects.get(title="RAID 5 / RAID 6")
    form = client.get(f"/plans/new/?{urlencode({'title': 'raid 5 / RAID 6'})}").content.decode()
    assert f'<option value="{study.pk}" selected>' in form
    assert "There is a study RAID 5 / RAID 6 already with the plan RAID 5 / RAID 6: it is chosen" in page_text(form)
    refused = make(client, title="RAID 5 / RAID 6")
    text = refused.content.decode()
    assert refused.status_code == 422
    assert f'<option value="{study.pk}" selected>' in text
    assert "A study of this title is there already" in text
    assert Plan.objects.count() == 1
    assert make(client, title="RAID 5 / RAID 6", study=study.pk).status_code == 302
    assert [plan.study for plan in Plan.objects.all()] == [study, study]


def test_a_study_of_another_title_or_lab_is_not_offered(sign_in: SignIn) -> None:
    form = sign_in("engineer").get("/plans/new/?title=Something+else").content.decode()
    assert "There is a study" not in page_text(form)


def checked(html: str) -> list[str]:
    return re.findall(r'name="guards" value="(\w+)"[^>]* checked', html)


def test_a_procedure_ticks_its_own_guards(sign_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    guards = ({"kind": "temperature"}, {"kind": "cache_rule", "factor": 3})
    strict = replace(presets.BY_NAME["write-ladder"], guards=guards)
    monkeypatch.setitem(presets.BY_NAME, "write-ladder", strict)
    assert forms.BY_NAME is presets.BY_NAME
    client = sign_in("engineer")
    text = client.get("/plans/new/?preset=write-ladder").content.decode()
    assert sorted(checked(text)) == ["cache_rule", "temperature"]
    assert "File size at least 3 × RAM" in text
    assert sorted(checked(client.get("/plans/new/?preset=matrix").content.decode())) == [
        "array_settled",
        "idle",
        "space",
    ]
    make(client, preset="write-ladder", guards=["cache_rule", "idle"], title="Mine")
    made = {guard.kind: guard.parameters for guard in Plan.objects.get().guards.all()}
    assert made["cache_rule"]["factor"] == 3, "the procedure's number, and what the person chose"
    assert set(made) == {"cache_rule", "idle"}
