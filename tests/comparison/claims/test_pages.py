"""Pages of claims: read by viewers, written by engineers, with what would come of it shown before."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.comparison.claims.draft import ClaimDraft
from apps.comparison.claims.models import Claim
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Provenance, Sample
from apps.studies.models import Study
from tests.comparison.claims.conftest import make_claim, make_study
from tests.conftest import Cast
from tests.page_text import page_text
from tests.sampling import for_each

LIST, NEW = "/studies/paper/claims/", "/studies/paper/claims/new/"
SignIn = Callable[[str], Client]


def typed(**more: Any) -> dict[str, Any]:
    """A claim as the form posts it: stripe over mirror, at each file size."""
    fields = {
        "code": "C09", "statement": "the stripe is twice as fast", "language": "en", "checks": "1",
        "c0-kind": "ratio", "c0-was": "ratio", "c0-groups": "2", "c0-low_word": "at_least", "c0-low": "1.9", "c0-per": ["file_size"],
        "c0g0-source": "samples", "c0g0-configurations": ["c0"], "c0g0-metric": "bandwidth", "c0g0-aggregate": "mean",
        "c0g1-source": "samples", "c0g1-configurations": ["c1"], "c0g1-metric": "bandwidth", "c0g1-aggregate": "mean",
    }  # fmt: skip
    return {**fields, **more}


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return answer.content.decode()


def test_the_list_shows_statement_verdict_and_doubts(sign_in: SignIn, claim: Claim) -> None:
    text = page(sign_in("viewer"), LIST)
    assert "the stripe is ahead" in text
    assert "chip-supported" in text
    assert "Write a claim" not in text


def test_the_list_can_be_narrowed_to_a_verdict(sign_in: SignIn, cast: Cast, study: Study, claim: Claim) -> None:
    with lab_scope(cast.lab.pk):
        make_claim(study, "C02", statement="unknown to us", checks=[{"kind": "not_checkable", "reason": "plots only"}])
    text = page(sign_in("viewer"), f"{LIST}?verdict=not%20checkable")
    assert "unknown to us" in text
    assert "the stripe is ahead" not in text
    assert "No claim of this study is contradicted" in page(sign_in("viewer"), f"{LIST}?verdict=contradicted")


def test_an_empty_list_says_what_to_do(sign_in: SignIn, study: Study) -> None:
    assert "Write the first one" in page(sign_in("engineer"), LIST)
    assert "Engineers of its lab can write them" in page(sign_in("viewer"), LIST)


def test_a_claim_shows_its_arithmetic_its_runs_and_its_history(sign_in: SignIn, cast: Cast, claim: Claim) -> None:
    text = page(sign_in("viewer"), f"/claims/{claim.pk}/")
    assert "bandwidth of stripe 200.0 MB/s > bandwidth of mirror 100.0 MB/s" in page_text(text)
    assert "2 of 2 comparisons hold" in text
    assert "the claim was written" in text
    with lab_scope(cast.lab.pk):
        runs = {f'href="/runs/{pk}/"' for pk in claim.study.configurations.values_list("study_runs__run", flat=True)}
    assert all(link in text for link in runs)
    assert "None would change the verdict" in text  # rounded figures were tried


@pytest.mark.parametrize(("base", "shown"), [("1000", "200.0 MB/s"), ("1024", "190.7 MiB/s")])
def test_its_numbers_are_in_the_readers_base_and_say_exact_values_in_both(
    sign_in: SignIn, claim: Claim, base: str, shown: str
) -> None:
    client = sign_in("viewer")
    client.cookies["spindle_base"] = base
    text = page(client, f"/claims/{claim.pk}/").replace("\u202f", " ").replace("\xa0", " ")
    exact = "200 000 000 B/s = 200.0 MB/s = 190.7 MiB/s"
    assert f'<span title="{exact}">{shown}</span>' in text
    assert f'tabindex="0" title="{exact}; 100 000 000 B/s' in text


def test_readings_that_would_turn_it_say_exact_values_in_both_bases(sign_in: SignIn, cast: Cast, study: Study) -> None:
    with lab_scope(cast.lab.pk):
        mirror = Sample.objects.get(value=1e8)
        Provenance.objects.filter(sample=mirror).update(alternatives=[3e8])
        doubtful = make_claim(study, "C02")
    client = sign_in("viewer")
    client.cookies["spindle_base"] = "1024"
    text = page(client, f"/claims/{doubtful.pk}/").replace("\u202f", " ").replace("\xa0", " ")
    assert "1 would change the verdict" in text
    assert '<span title="300 000 000 B/s = 300.0 MB/s = 286.1 MiB/s">286 MiB/s</span>' in text
    assert '<span title="100 000 000 B/s = 100.0 MB/s = 95.37 MiB/s">95.4 MiB/s</span>' in text


@pytest.mark.parametrize("claims", [1, 6])
def test_the_list_costs_the_same_whatever_there_is(
    sign_in: SignIn, cast: Cast, study: Study, claims: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with lab_scope(cast.lab.pk):
        for number in range(claims):
            make_claim(study, f"C{number}")
    client = sign_in("viewer")
    with django_assert_max_num_queries(9):
        page(client, LIST)


def test_the_preview_says_what_is_matched_and_what_would_come_of_it(sign_in: SignIn, study: Study) -> None:
    answer = sign_in("engineer").post(NEW, typed(act="preview"), headers={"HX-Request": "true"})
    text = answer.content.decode()
    assert "<html" not in text
    assert "chip-supported" in text
    assert "2 samples</strong> of bandwidth of stripe" in text
    assert "2 of 2" in text


def test_a_preview_without_javascript_is_the_whole_page_and_keeps_what_was_typed(sign_in: SignIn, study: Study) -> None:
    text = sign_in("engineer").post(NEW, typed(act="preview", **{"c0-low": "2.5"})).content.decode()
    assert "<html" in text
    assert "chip-contradicted" in text
    assert 'value="2.5"' in text
    with lab_scope(study.lab_id):
        assert not Claim.objects.exists()


def test_saving_writes_the_claim_and_its_verdict(sign_in: SignIn, cast: Cast, study: Study) -> None:
    answer = sign_in("engineer").post(NEW, typed(act="save"))
    with lab_scope(cast.lab.pk):
        claim = Claim.objects.get()
        assert answer.headers["Location"] == f"/claims/{claim.pk}/"
        assert (claim.code, claim.verdict, claim.kind, claim.changed_by) == (
            "C09",
            "supported",
            "ratio",
            "engineer@example.org",
        )
        assert claim.definition["checks"][0]["at_least"] == 1.9
        assert claim.history.count() == 1
        [event] = AuditEvent.objects.filter(act="claim written")
        assert (event.subject, event.who, event.detail) == (
            "C09 of paper", "engineer@example.org", {"verdict": "supported"},
        )  # fmt: skip


def test_a_claim_comes_back_into_the_form_as_it_was_written(sign_in: SignIn, cast: Cast, study: Study) -> None:
    client = sign_in("engineer")
    client.post(NEW, typed(act="save", **{"c0g0-start": "1000m", "c0g0-end": "4000m"}))
    with lab_scope(cast.lab.pk):
        claim = Claim.objects.get()
    text = page(client, f"/claims/{claim.pk}/edit/")
    assert 'value="1000m"' in text
    assert 'value="1.9"' in text
    client.post(f"/claims/{claim.pk}/edit/", typed(act="save", **{"c0-low": "2.5"}))
    with lab_scope(cast.lab.pk):
        found = Claim.objects.get()
        assert (found.verdict, found.history.first().before) == ("contradicted", "supported")


@pytest.mark.slow
@for_each(
    "wrong, message",
    [
        ({"c0-low": "fast"}, "found &#x27;fast&#x27;, expected a number"),
        ({"c0-low": ""}, "at least one of: at_least"),
        ({"c0g0-start": "4 elephants"}, "expected a size such as 4k"),
        ({"statement": ""}, "This field is required"),
        ({"checks": "0"}, "at least one check"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_lost(
    sign_in: SignIn, cast: Cast, study: Study, wrong: dict[str, str], message: str
) -> None:
    answer = sign_in("engineer").post(NEW, typed(act="save", quote="kept as typed", **wrong))
    text = answer.content.decode()
    assert answer.status_code == 422
    assert message in text
    assert "kept as typed" in text
    with lab_scope(cast.lab.pk):
        assert not Claim.objects.exists()


def test_a_code_is_taken_once(sign_in: SignIn, claim: Claim) -> None:
    answer = sign_in("engineer").post(NEW, typed(act="save", code="C01"))
    assert answer.status_code == 422
    assert "C01 is another claim of this study" in answer.content.decode()


def test_checks_and_groups_are_added_and_taken_away(sign_in: SignIn, study: Study) -> None:
    client = sign_in("engineer")

    def fields(**more: str) -> str:
        return client.post(NEW, typed(**more)).content.decode()

    assert 'name="checks" value="2"' in fields(act="add")
    assert 'name="checks" value="0"' in fields(act="remove-0")
    assert 'name="c0-groups" value="3"' in fields(act="more-0", **{"c0-kind": "ranking", "c0-was": "ranking"})
    assert 'name="c0-groups" value="1"' in fields(act="form", **{"c0-kind": "monotony"})
    assert 'name="c0-reason"' in fields(act="form", **{"c0-kind": "not_checkable"})


def test_a_claim_of_many_checks_and_groups_is_opened_and_saved_whole(sign_in: SignIn, cast: Cast, study: Study) -> None:
    group = {"is": "samples", "configurations": ["c0"]}
    checks: list[Any] = [{"kind": "ranking", "is_strict": False, "chain": [group] * 12}]
    checks += [{"kind": "not_checkable", "reason": f"reason {number}"} for number in range(15)]
    with lab_scope(cast.lab.pk):
        claim = make_claim(study, checks=checks)
        draft = ClaimDraft(study, claim, None)
    assert [len(part.groups) for part in draft.parts] == [12] + [0] * 15
    text = page(sign_in("engineer"), f"/claims/{claim.pk}/edit/")
    assert 'name="c0-groups" value="12"' in text
    assert "reason 14" in text
    assert "Add a check" not in text


def test_arithmetic_is_edited_as_it_is_written(sign_in: SignIn, cast: Cast, study: Study) -> None:
    nested = {"is": "arithmetic", "operator": "quotient", "of": [{"is": "samples"}, {"is": "stated", "value": 2}]}
    with lab_scope(cast.lab.pk):
        claim = make_claim(study, checks=[{"kind": "threshold", "of": nested, "above": {"is": "stated", "value": 1}}])
    client = sign_in("engineer")
    assert "&quot;quotient&quot;" in page(client, f"/claims/{claim.pk}/edit/")
    posted = typed(act="save", **{"c0-kind": "written", "c0-written": '{"kind": "threshold"}'})
    assert "of: found None, expected samples" in client.post(f"/claims/{claim.pk}/edit/", posted).content.decode()


def test_deleting_says_what_is_lost_and_does_it(sign_in: SignIn, cast: Cast, claim: Claim) -> None:
    client = sign_in("engineer")
    assert "Will be deleted" in page(client, f"/claims/{claim.pk}/delete/")
    assert client.post(f"/claims/{claim.pk}/delete/").headers["Location"] == LIST
    with lab_scope(claim.study.lab_id):
        [event] = AuditEvent.objects.filter(act="claim deleted")
        assert (event.subject, event.who) == (f"{claim.code} of paper", "engineer@example.org")
    with lab_scope(cast.lab.pk):
        assert not Claim.objects.exists()


def test_viewers_read_and_do_not_write(sign_in: SignIn, claim: Claim) -> None:
    client = sign_in("viewer")
    for path in (NEW, f"/claims/{claim.pk}/edit/", f"/claims/{claim.pk}/delete/"):
        assert client.get(path).status_code == 403
        assert client.post(path, typed(act="save")).status_code == 403


def test_another_labs_claims_are_not_there(sign_in: SignIn, claim: Claim) -> None:
    client = sign_in("stranger")
    for path in (LIST, NEW, f"/claims/{claim.pk}/", f"/claims/{claim.pk}/edit/", f"/claims/{claim.pk}/delete/"):
        assert client.get(path).status_code == 404


def test_a_published_labs_claims_are_read_and_not_changed(sign_in: SignIn, cast: Cast) -> None:
    study = make_study(cast.other_lab)
    with lab_scope(cast.other_lab.pk):
        claim = make_claim(study)
    Lab.objects.filter(pk=cast.other_lab.pk).update(is_published=True)
    client = sign_in("owner")
    assert "the stripe is ahead" in page(client, LIST)
    text = page(client, f"/claims/{claim.pk}/")
    assert "Edit" not in text.partition("<main")[2]
    for path in (NEW, f"/claims/{claim.pk}/edit/", f"/claims/{claim.pk}/delete/"):
        assert client.get(path).status_code == 404
        assert client.post(path, typed(act="save")).status_code == 404
    with lab_scope(cast.other_lab.pk):
        assert Claim.objects.get().definition == claim.definition


def test_text_of_people_is_text(sign_in: SignIn, cast: Cast, study: Study) -> None:
    with lab_scope(cast.lab.pk):
        claim = make_claim(study, statement="<script>alert(1)</script>", quote="<b>x</b>")
    for path in (LIST, f"/claims/{claim.pk}/"):
        text = page(sign_in("viewer"), path)
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text
