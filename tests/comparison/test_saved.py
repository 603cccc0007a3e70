"""Saved comparisons: a question under a name and a short address; engineers save, everybody of the lab opens."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.comparison.models import SavedComparison
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.comparison.factories import measured
from tests.conftest import Cast
from tests.sampling import for_each
from tests.statements import statements

SignIn = Callable[[str], Client]
QUERY = "metric=bandwidth&operation=write&x=host&series=label&scale=log&raid_level=5"


@pytest.fixture
def saved(lab: Lab) -> SavedComparison:
    made: SavedComparison = SavedComparison.objects.create(lab=lab, name="RAID 5", query=QUERY, created_by="who")
    return made


def test_an_engineer_saves_what_the_page_asks_and_gets_a_short_address(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8], raid_level="5")
    client = sign_in("engineer")
    page = client.get(f"/compare/?{QUERY}")
    question = page.context["comparison"].question.address
    answer = client.post("/comparisons/", {"name": "All of RAID 5", "query": question})
    made = SavedComparison.objects.get(name="All of RAID 5")
    assert answer.headers["Location"] == f"/comparisons/{made.pk}/"
    opened = client.get(f"/comparisons/{made.pk}/", follow=True)
    assert opened.context["comparison"].question == page.context["comparison"].question
    assert "All of RAID 5" in opened.content.decode()


def test_what_is_saved_is_the_canonical_address(lab: Lab, sign_in: SignIn) -> None:
    sign_in("engineer").post("/comparisons/", {"name": "n", "query": "raid_level=5&scale=log&x=host"})
    assert SavedComparison.objects.get().query == f"{QUERY}&base=1000"


@pytest.mark.slow
def test_everybody_who_opens_it_sees_the_same_digits(lab: Lab, sign_in: SignIn) -> None:
    measured(lab, "alpha", [1e8], raid_level="5")
    client = sign_in("engineer")
    saved_at = client.post("/comparisons/", {"name": "n", "query": QUERY}).headers["Location"]
    old = SavedComparison.objects.create(lab=lab, name="old", query=QUERY, created_by="who")
    link = client.get(f"/compare/?{QUERY}").context["permalink"]
    another = sign_in("viewer")
    another.cookies["spindle_base"] = "1024"
    assert '<html lang="en" data-base="1024">' in another.get(f"/compare/?{QUERY}").content.decode()
    for address in (saved_at, old.get_absolute_url(), link):
        page = another.get(address, follow=True).content.decode()
        assert '<html lang="en" data-base="1000">' in page
        assert "100 MB/s" in page


@for_each(
    "form, sentence",
    [
        ({"name": "n", "query": "metric=speed"}, "Not saved: Query: metric: found &#x27;speed&#x27;, expected one of"),
        ({"name": "", "query": QUERY}, "Not saved: Name: This field is required."),
        ({"name": "n" * 201, "query": QUERY}, "Not saved: Name: Ensure this value has at most 200 characters"),
    ],
    taken_back=True,
)
def test_what_can_not_be_saved_is_told_why(lab: Lab, sign_in: SignIn, form: dict[str, str], sentence: str) -> None:
    assert sentence in sign_in("engineer").post("/comparisons/", form, follow=True).content.decode()
    assert not SavedComparison.objects.exists()


def test_a_viewer_opens_and_lists_but_changes_nothing(saved: SavedComparison, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    assert client.get(f"/comparisons/{saved.pk}/").headers["Location"] == f"/compare/?{QUERY}&base=1000"
    page = client.get("/comparisons/").content.decode()
    assert "RAID 5" in page
    assert "Rename" not in page
    for address in ("/comparisons/", f"/comparisons/{saved.pk}/rename/", f"/comparisons/{saved.pk}/delete/"):
        assert client.post(address, {"name": "other", "query": QUERY}).status_code == 403
    assert SavedComparison.objects.get().name == "RAID 5"
    assert "Save under a short address" not in client.get("/compare/free/").content.decode()


def test_an_engineer_renames(saved: SavedComparison, sign_in: SignIn) -> None:
    page = sign_in("engineer").post(f"/comparisons/{saved.pk}/rename/", {"name": "Level 5"}, follow=True)
    assert "Now called “Level 5”." in page.content.decode()
    assert SavedComparison.objects.get().name == "Level 5"


def test_an_engineer_deletes_after_reading_what_will_be_lost(saved: SavedComparison, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    assert "its name and its short address" in client.get(f"/comparisons/{saved.pk}/delete/").content.decode()
    assert SavedComparison.objects.exists()
    client.post(f"/comparisons/{saved.pk}/delete/")
    assert not SavedComparison.objects.exists()
    assert client.get(f"/comparisons/{saved.pk}/").status_code == 404


def test_another_labs_saved_comparison_is_not_there(cast: Cast, sign_in: SignIn) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = SavedComparison.objects.create(lab=cast.other_lab, name="secret", query=QUERY, created_by="who")
    client = sign_in("owner")
    assert client.get(f"/comparisons/{theirs.pk}/").status_code == 404
    assert client.post(f"/comparisons/{theirs.pk}/delete/").status_code == 404
    assert "secret" not in client.get("/comparisons/").content.decode()


def test_an_empty_list_says_how_to_fill_it(lab: Lab, sign_in: SignIn) -> None:
    assert "save it there under a name" in sign_in("engineer").get("/comparisons/").content.decode()
    assert "Engineers of this lab can save one" in sign_in("viewer").get("/comparisons/").content.decode()


def test_scripts_read_what_is_saved_and_where_its_answer_is(saved: SavedComparison, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    (listed,) = client.get("/api/v1/comparisons/").json()["results"]
    assert listed == client.get(f"/api/v1/comparisons/{saved.pk}/").json()
    assert (listed["id"], listed["name"]) == (saved.pk, "RAID 5")
    assert listed["page"] == f"http://testserver/comparisons/{saved.pk}/"
    assert listed["compare_url"] == f"http://testserver/api/v1/compare/?{QUERY}"


def test_the_list_costs_the_same_for_one_and_for_thirty(saved: SavedComparison, lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("engineer")
    of_one = statements(lambda: client.get("/comparisons/"))
    for number in range(29):
        SavedComparison.objects.create(lab=lab, name=f"RAID {number}", query=QUERY, created_by=saved.created_by)
    assert len(statements(lambda: client.get("/comparisons/"))) == len(of_one)
    assert "RAID 28" in client.get("/comparisons/").content.decode()
