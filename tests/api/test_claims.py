"""Claims for scripts: verdict, numbers, samples, and what would turn the verdict."""

from collections.abc import Callable

import pytest
from pytest_django import DjangoAssertNumQueries

from apps.api.resources.claims import ClaimSerializer
from apps.comparison.claims.models import Claim
from apps.labs.isolation import lab_scope
from apps.runs.models import Provenance, Sample
from apps.studies.models import Study
from tests.api.conftest import Script
from tests.api.test_contract import has
from tests.comparison.claims.conftest import make_claim, make_study
from tests.conftest import Cast

FIELDS = (
    "id statement verdict computed samples sensitivity study code kind definition source_lines evaluated_at history"
)


@pytest.fixture
def study(cast: Cast) -> Study:
    return make_study(cast.lab)


@pytest.fixture
def claim(cast: Cast, study: Study) -> Claim:
    with lab_scope(cast.lab.pk):
        Provenance.objects.filter(sample__value=1.2e8).update(alternatives=[1.2e7])
        return make_claim(study)


def test_a_claim(reader: Script, cast: Cast, claim: Claim) -> None:
    found = reader.get(f"claims/{claim.pk}/").json()
    has(found, FIELDS, ClaimSerializer)
    assert (found["code"], found["verdict"], found["study"]) == ("C01", "supported", "paper")
    (check,) = found["computed"]["checks"]
    assert [(line["low"], line["holds"]) for line in check["lines"]] == [(2.0, True), (2.0, True)]
    with lab_scope(cast.lab.pk):
        assert set(found["samples"]) == set(Sample.objects.values_list("pk", flat=True))
    (doubt,) = found["sensitivity"]
    assert (doubt["instead_of"], doubt["value"], doubt["verdict"]) == (1.2e8, 1.2e7, "partly")
    assert [(one["before"], one["after"]) for one in found["history"]] == [(None, "supported")]
    assert found["page"] == f"http://testserver/claims/{claim.pk}/"


def test_asking_again_costs_a_304_until_the_verdict_is_new(reader: Script, cast: Cast, claim: Claim) -> None:
    tag = reader.get(f"claims/{claim.pk}/").headers["ETag"]
    assert reader.get(f"claims/{claim.pk}/", **{"If-None-Match": tag}).status_code == 304
    with lab_scope(cast.lab.pk):
        Claim.objects.filter(pk=claim.pk).update(verdict="partly")
    assert reader.get(f"claims/{claim.pk}/", **{"If-None-Match": tag}).status_code == 200


def test_the_list_is_filtered_by_study_and_verdict(reader: Script, cast: Cast, study: Study, claim: Claim) -> None:
    with lab_scope(cast.lab.pk):
        make_claim(study, "C02", checks=[{"kind": "not_checkable", "reason": "plots only"}])

    def codes(query: str) -> list[str]:
        return [one["code"] for one in reader.get(f"claims/?{query}").json()["results"]]

    assert codes("") == codes("study=paper") == codes(f"study={study.pk}") == ["C01", "C02"]
    assert codes("verdict=supported") == ["C01"]
    assert codes("verdict=supported&verdict=not%20checkable") == ["C01", "C02"]
    assert codes("study=nothing") == []
    wrong = reader.get("claims/?verdict=true")
    assert wrong.status_code == 400
    assert "one of: supported, partly, contradicted, not shown, not checkable" in wrong.json()["detail"]


@pytest.mark.parametrize("count", [1, 5])
def test_the_list_costs_the_same_whatever_there_is(
    reader: Script, cast: Cast, study: Study, count: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with lab_scope(cast.lab.pk):
        for number in range(count):
            make_claim(study, f"C{number}")
    with django_assert_max_num_queries(6):
        assert len(reader.get("claims/").json()["results"]) == count


def test_another_labs_claim_is_404(script: Callable[[str], Script], cast: Cast) -> None:
    theirs = make_study(cast.other_lab)
    with lab_scope(cast.other_lab.pk):
        hidden = make_claim(theirs)
    reader = script("read")
    assert reader.get(f"claims/{hidden.pk}/").status_code == 404
    assert reader.get("claims/").json()["results"] == []
