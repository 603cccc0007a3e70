"""A lab's own studies on their pages: what is there, what is not, and who may see it."""

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.comparison.in_studies.models import StudyComparison
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Sample
from apps.studies.models import Configuration, Study
from tests.comparison.claims.conftest import make_claim, make_study
from tests.comparison.factories import MIB, published
from tests.conftest import Cast

SignIn = Callable[[str], Client]


def own(lab: Lab, slug: str, **fields: str) -> Study:
    with lab_scope(lab.pk):
        study: Study = Study.objects.create(lab=lab, slug=slug, **{"title": "Our disks", **fields})
        return study


def test_no_studies_say_what_to_do_next(cast: Cast, sign_in: SignIn) -> None:
    assert "Make the first one" in sign_in("engineer").get("/studies/").content.decode()
    seen_by_viewer = sign_in("viewer").get("/studies/").content.decode()
    assert "Engineers of this lab can make them" in seen_by_viewer
    assert "Make the first one" not in seen_by_viewer


def test_an_empty_study_has_every_part_and_says_what_is_missing(cast: Cast, sign_in: SignIn) -> None:
    own(cast.lab, "ours", question="Which is faster?", notes="Bought in May.")
    text = sign_in("engineer").get("/studies/ours/").content.decode()
    for words in (
        "Which is faster?", "Nothing is set up yet", "Nothing has been measured yet", "No claims", "Bought in May.",
        "There are no results to check.", "No file has been uploaded",
    ):  # fmt: skip
        assert words in text
    assert "Printed tables" not in text


def test_a_study_shows_its_configurations_claims_and_what_was_measured(cast: Cast, sign_in: SignIn) -> None:
    study = make_study(cast.lab)
    with lab_scope(cast.lab.pk):
        make_claim(study)
    text = sign_in("viewer").get("/studies/paper/").content.decode()
    for words in (
        "stripe",
        "mirror",
        "the stripe is ahead",
        "supported",
        "metric=bandwidth&amp;operation=write&amp;study=paper",
    ):
        assert words in text
    assert "May be memory, not disk" in text


@pytest.mark.slow
def test_a_comparison_that_was_put_into_the_study_stands_in_its_results(cast: Cast, sign_in: SignIn) -> None:
    study = make_study(cast.lab)
    with lab_scope(cast.lab.pk):
        StudyComparison.objects.create(
            study=study, name="by-size", title="By size", caption="as bought", created_by="who",
            query="metric=bandwidth&operation=write&study=paper",
        )  # fmt: skip
    client = sign_in("viewer")
    text = client.get("/studies/paper/").content.decode()
    assert "By size" in text
    assert "/api/v1/charts/paper/by-size/?format=svg" in text
    picture = client.get("/api/v1/charts/paper/by-size/?format=svg")
    assert picture.status_code == 200
    table = client.get("/api/v1/tables/paper/by-size/").json()
    assert table["series"] == ["stripe", "mirror"]


def test_a_comparison_in_a_study_is_as_telling_as_on_its_own_page(cast: Cast, sign_in: SignIn) -> None:
    study = make_study(cast.lab)
    address = "metric=bandwidth&operation=write&study=paper"
    with lab_scope(cast.lab.pk):
        Sample.objects.filter(point__file_size=4000 * MIB).update(printed="120 MB/s", source_line=17)
        StudyComparison.objects.create(study=study, name="by-size", title="By size", created_by="who", query=address)
        StudyComparison.objects.create(
            study=study, name="again", title="Again", created_by="who", query=address, shows=StudyComparison.Shows.TABLE
        )
    client = sign_in("viewer")
    text = client.get("/studies/paper/").content.decode()
    page_of_it = client.get(f"/compare/?{address}").content.decode()
    whole, again = (text.split(f'id="chart-{name}"')[1].split("</article>")[0] for name in ("by-size", "again"))
    described = client.get("/api/v1/charts/paper/by-size/").json()["description"]
    assert whole.count(f'alt="{described}"') == 2
    assert f'<figcaption class="chart-caption">{described}' in whole
    for form in ("svg", "png", "csv", "json"):
        assert f'<a href="/api/v1/charts/paper/by-size/?format={form}"' in whole
    assert "/api/v1/charts/paper/again/" not in again  # it is shown as a table
    with lab_scope(cast.lab.pk):
        run = study.configurations.get(name="c0").study_runs.earliest("run").run_id
    assert f'<a class="quiet-link" href="/runs/{run}/">' in whole
    exact = re.findall(r'<td class="num" title="[^"]+ MB/s = [^"]+ MiB/s[^"]*"', whole.replace("\xa0", " "))
    assert exact == re.findall(r'<td class="num" title="[^"]+"', page_of_it.replace("\xa0", " "))
    assert len(exact) == 4
    assert "printed “120 MB/s”, line 17 of the result" in whole
    assert "Confounders: also different" in whole
    assert "RAID level 0 / 1" in whole
    assert "<summary>" in whole
    assert "May be memory, not disk</summary>" in whole


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 4])
def test_a_page_costs_the_same_whatever_was_measured(cast: Cast, sign_in: SignIn, count: int) -> None:
    study = make_study(cast.lab)
    with lab_scope(cast.lab.pk):
        for number in range(count):
            published(cast.lab, f"more-{number}", {1000: 1e8, 4000: 6e7})
            make_claim(study, f"C{number}")
    client = sign_in("viewer")
    client.get("/studies/paper/")
    with CaptureQueriesContext(connection) as queries:
        client.get("/studies/paper/")
    assert len(queries) == QUERIES
    with CaptureQueriesContext(connection) as queries:
        client.get("/studies/")
    assert len(queries) == QUERIES_OF_THE_LIST


QUERIES, QUERIES_OF_THE_LIST = 22, 13


def test_a_labs_own_study_comes_before_a_report_of_the_same_name(cast: Cast, sign_in: SignIn) -> None:
    reports = Lab.objects.create(name="Published", slug="published", is_published=True)
    own(reports, "dtn-ucsc", title="The report")
    own(cast.lab, "dtn-ucsc", title="Ours of that name")
    text = sign_in("viewer").get("/studies/dtn-ucsc/").content.decode()
    assert "Ours of that name" in text
    assert "bon_csv2html" not in text
    stranger = sign_in("stranger").get("/studies/dtn-ucsc/").content.decode()
    assert "The report" in stranger
    assert "bon_csv2html" in stranger


def test_another_labs_study_is_not_there(cast: Cast, sign_in: SignIn) -> None:
    study = own(cast.other_lab, "theirs", title="xyzzy")
    with lab_scope(cast.other_lab.pk):
        Configuration.objects.create(study=study, name="one", label="xyzzy")
    client = sign_in("owner")
    assert client.get("/studies/theirs/").status_code == 404
    for address in ("studies/theirs/", "tables/theirs/any/", "charts/theirs/any/"):
        assert client.get(f"/api/v1/{address}").status_code == 404
    assert b"xyzzy" not in client.get("/studies/").content


def test_only_engineers_of_its_lab_get_buttons_that_change(cast: Cast, sign_in: SignIn) -> None:
    own(cast.lab, "ours")
    assert "/studies/ours/edit/" in sign_in("engineer").get("/studies/ours/").content.decode()
    assert "/studies/ours/edit/" not in sign_in("viewer").get("/studies/ours/").content.decode()


def test_a_stranger_to_the_site_is_asked_to_sign_in(db: None) -> None:
    assert Client().get("/studies/").status_code == 302
