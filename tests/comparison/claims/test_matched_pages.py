"""Pages, REST and documents of claims about questions: written in one click, read with their sets and confounders."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.comparison.claims.models import Claim
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.studies.models import Study
from tests.comparison.claims.test_matched import study, write
from tests.comparison.like_for_like.simulated_labs import old_machine
from tests.comparison.like_for_like.stored_labs import store
from tests.conftest import Cast
from tests.page_text import page_text
from tests.sampling import for_each

__all__ = ["study"]

SignIn = Callable[[str], Client]
ABOUT = "/claims/about/raid_level/?operation=write&metric=bandwidth&against=single&level=5"


@pytest.fixture
def runs(lab: Lab) -> list[Any]:
    return store(lab, old_machine(7))


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, answer.content.decode()[:500]
    return answer.content.decode()


def typed(study: Study, **more: Any) -> dict[str, Any]:
    fields = {
        "study": study.pk, "code": "Q1", "level": "5", "against": "single", "direction": "higher", "size": "1.5",
        "statement": "RAID 5 writes half as fast again", "language": "en", "act": "save",
    }  # fmt: skip
    return {**fields, **more}


@pytest.mark.usefixtures("runs")
def test_a_question_leads_to_a_claim_about_it_in_one_click(sign_in: SignIn, study: Study) -> None:
    client = sign_in("engineer")
    for path in ("/compare/", "/compare/questions/raid_level/"):
        links = re.findall(r'href="(/claims/about/raid_level/[^"]*)"', page(client, path))
        assert links, path
        assert "/claims/about/" not in page(sign_in("viewer"), path)
    text = page(client, next(link for link in links if "level=5" in link).replace("&amp;", "&"))
    assert "Bandwidth of write: RAID 5 is higher than single disk, everything else held equal" in text
    assert '<option value="5" selected>RAID 5</option>' in text
    assert "chip-supported" in text
    assert '<svg class="forest"' in text


@pytest.mark.usefixtures("runs")
def test_it_is_written_with_its_verdict_and_shows_sets_and_confounders(
    sign_in: SignIn, study: Study, cast: Cast
) -> None:
    answer = sign_in("engineer").post(ABOUT, typed(study))
    with lab_scope(cast.lab.pk):
        claim = Claim.objects.get()
        assert (claim.kind, claim.verdict, claim.question["size"]) == ("question", "supported", 1.5)
        assert AuditEvent.objects.filter(act="claim written", subject="Q1 of disks").count() == 1
    assert answer.headers["Location"] == f"/claims/{claim.pk}/"
    text = page(sign_in("viewer"), answer.headers["Location"])
    told = page_text(text)
    assert "Claimed: RAID 5 ÷ single disk at least 1.50" in told
    assert re.search(r"RAID 5 2\.\d+ × single disk \(2\.\d+ to 2\.\d+\) in \d matched sets: effect", told)
    assert '<svg class="forest"' in text
    assert "disks (4 / 1): implied by the factor" in told
    assert "controller recorded by no run" in told
    assert "Doubtful readings" not in told
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/compare/[^"]*)"', text)]
    assert any("run=" in link for link in links)
    assert any(link.startswith("/compare/questions/raid_level/") for link in links)
    for link in links:
        assert sign_in("viewer").get(link).status_code == 200, link
    for path in ("/studies/disks/", "/studies/disks/claims/"):
        assert "RAID 5 writes half as fast again" in page(sign_in("viewer"), path)
    told = page_text(page(sign_in("viewer"), "/studies/disks/"))
    assert "3 matched sets with their runs" in told  # hardware and software RAID 5 apart
    assert "disks (4 / 1): implied by the factor" in told


@pytest.mark.usefixtures("runs")
def test_what_cannot_be_answered_says_what_is_missing(sign_in: SignIn, study: Study) -> None:
    claim = write(study, factor="kernel", level="6.1", against="2.6")
    for path in (f"/claims/{claim.pk}/", "/studies/disks/"):
        told = page_text(page(sign_in("viewer"), path))
        assert "Cannot be answered: No two runs are equal in everything else" in told
        assert "3 runs of kernel" in told


@pytest.mark.usefixtures("runs")
@for_each(
    "wrong, message",
    [
        ({"size": "fast"}, "Enter a number"),
        ({"size": "0.5"}, "expected a number above 0, from 1 to 1000"),
        ({"against": "5"}, "expected another level"),
        ({"level": "60"}, "Select a valid choice"),
        ({"statement": ""}, "This field is required"),
        ({"code": "Q0"}, "Q0 is another claim of this study"),
    ],
    taken_back=True,
)
def test_what_does_not_fit_is_said_at_its_field(
    sign_in: SignIn, study: Study, wrong: dict[str, str], message: str
) -> None:
    write(study, "Q0")
    answer = sign_in("engineer").post(ABOUT, typed(study, **wrong))
    assert answer.status_code == 422
    assert message in page_text(answer.content.decode())
    assert Claim.objects.count() == 1


@pytest.mark.usefixtures("runs")
def test_the_preview_follows_what_is_chosen_and_saves_nothing(sign_in: SignIn, study: Study) -> None:
    text = sign_in("engineer").post(ABOUT, typed(study, act="preview", direction="lower", size="")).content.decode()
    assert "chip-contradicted" in text
    assert not Claim.objects.exists()


@pytest.mark.usefixtures("runs")
def test_it_is_edited_and_deleted(sign_in: SignIn, study: Study) -> None:
    claim = write(study, where=[{"name": "tool", "equals": ["fio"]}])
    client = sign_in("engineer")
    text = page(client, f"/claims/{claim.pk}/edit/")
    assert "RAID 5 writes faster" in text
    client.post(f"/claims/{claim.pk}/edit/", typed(study, direction="lower", size=""))
    claim.refresh_from_db()
    assert (claim.verdict, claim.question["where"][0]["name"]) == ("contradicted", "tool")
    assert [change.after for change in claim.history.all()] == ["contradicted", "supported"]
    assert client.post(f"/claims/{claim.pk}/delete/").status_code == 302


@pytest.mark.usefixtures("runs")
def test_without_a_study_the_page_says_where_to_make_one(sign_in: SignIn) -> None:
    text = page(sign_in("engineer"), ABOUT)
    assert "A claim belongs to a study, and your lab has none of its own yet." in text


@pytest.mark.usefixtures("runs")
def test_viewers_read_and_do_not_write_and_strangers_find_nothing(sign_in: SignIn, study: Study) -> None:
    claim = write(study)
    assert sign_in("viewer").get(ABOUT).status_code == 403
    assert sign_in("viewer").post(ABOUT, typed(study)).status_code == 403
    assert sign_in("stranger").get(f"/claims/{claim.pk}/").status_code == 404
    answer = sign_in("stranger").get(ABOUT, follow=True)
    assert "RAID 5" not in answer.content.decode()
    assert sign_in("engineer").get("/claims/about/colour/").status_code == 404
    assert sign_in("engineer").get("/claims/about/kernel/?metric=joy").status_code == 400


@pytest.mark.usefixtures("runs")
def test_a_claim_is_not_written_into_another_labs_study(sign_in: SignIn, study: Study, cast: Cast) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Study.objects.create(lab=cast.other_lab, slug="theirs", title="Theirs")
    answer = sign_in("engineer").post(ABOUT, typed(theirs))
    assert answer.status_code == 422
    with lab_scope(cast.other_lab.pk):
        assert not Claim.objects.exists()


@pytest.mark.usefixtures("runs")
def test_rest_has_what_is_claimed_and_the_answer(sign_in: SignIn, study: Study) -> None:
    claim = write(study, size=1.5)
    body = sign_in("viewer").get(f"/api/v1/claims/{claim.pk}/").json()
    assert (body["kind"], body["verdict"]) == ("question", "supported")
    asked = body["question"]
    assert (asked["factor"], asked["level"], asked["against"], asked["low"], asked["high"]) == (
        "raid_level", "5", "single", 1.5, None,
    )  # fmt: skip
    (contrast,) = body["answer"]["contrasts"]
    assert contrast["low"] < 2.2 < contrast["high"]
    assert all(len(one["runs"]["5"]) == one["n"][0] for one in contrast["strata"])
    assert "disks (4 / 1): implied by the factor" in {one["text"] for one in body["confounders"]}
    listed = sign_in("viewer").get("/api/v1/claims/?verdict=supported").json()["results"]
    assert [one["code"] for one in listed] == ["Q1"]
    opened = write(study, "Q2", factor="kernel", level="6.1", against="2.6")
    body = sign_in("viewer").get(f"/api/v1/claims/{opened.pk}/").json()
    assert body["answer"]["missing"][0]["n"] == 3
    assert sign_in("viewer").get("/api/v1/claims/?verdict=not%20shown").json()["results"] == []


@pytest.mark.usefixtures("runs")
def test_the_wiki_page_of_the_study_has_its_sets(sign_in: SignIn, study: Study) -> None:
    write(study)
    text = sign_in("viewer").get("/api/v1/studies/disks/?format=mediawiki").content.decode()
    assert "Q1: RAID level" in text
    assert "Q1: RAID 5 ÷ single disk" in text
    assert "disks (4 / 1): implied by the factor" in text


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("it", "Affermato: RAID 5 ÷ disco singolo maggiore di 1"),
        ("ru", "Утверждается: RAID 5 ÷ одиночный диск больше 1"),
    ],
)
def test_the_claim_is_said_in_the_readers_language(sign_in: SignIn, study: Study, language: str, told: str) -> None:
    claim = write(study)
    client = sign_in("viewer")
    client.post("/language/", {"language": language, "next": "/"})
    assert told in page_text(client.get(f"/claims/{claim.pk}/", headers={"Accept-Language": language}).content.decode())
