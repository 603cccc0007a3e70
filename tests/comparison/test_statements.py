"""How many statements pages take: as many for many rows as for one."""

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.comparison.claims.evaluation import evaluate
from apps.comparison.claims.models import Claim
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.models import SavedComparison
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.notifications.models import Delivery, DeliveryState, Destination
from apps.runs.models import Run, Sample
from apps.studies.models import Configuration, Study, StudyRun
from apps.trends.models import Recipient, Watch
from apps.wiki.documents.document import Addresses, document_of
from tests.comparison.claims.conftest import make_claim, make_study
from tests.comparison.factories import measured, published, sample
from tests.conftest import Cast

SignIn = Callable[[str], Client]
QUERY = "metric=bandwidth&operation=write&x=file_size&series=label&study=paper"


def statements(client: Client, address: str) -> int:
    """Of the second answer: the first one fills what is remembered."""
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.slow
def test_the_page_of_a_claim(cast: Cast, sign_in: SignIn) -> None:
    study, client = make_study(cast.lab), sign_in("viewer")
    with lab_scope(cast.lab.pk):
        claim = make_claim(study)
    address, before = f"/claims/{claim.pk}/", len(claim.samples)
    few = statements(client, address)
    with lab_scope(cast.lab.pk):
        for label, places in {"stripe": range(10, 50), "mirror": range(10, 50)}.items():
            _more_runs(cast.lab, study, label, {size: 1e8 + size for size in places})
        for number in range(30):
            claim.history.create(before="supported", after="contradicted", why=f"data came {number}", computed={})
            make_claim(study, f"D{number}")
        evaluate(claim)
        after = Claim.objects.get(pk=claim.pk)
    assert len(after.samples) >= before + 80
    assert len(after.computed["checks"][0]["lines"]) > 40
    assert statements(client, address) == few


def _more_runs(lab: Lab, study: Study, label: str, values: dict[int, float]) -> None:
    row = Configuration.objects.get(study=study, label=label)
    for size, value in values.items():
        (run,) = measured(lab, "more", [value], file_size=size * 1024**2)
        StudyRun.objects.create(run=run, configuration=row)


def test_the_page_of_destinations(cast: Cast, sign_in: SignIn) -> None:
    client = sign_in("owner")
    _destinations(cast.lab, range(1))
    few = statements(client, "/trends/destinations/")
    _destinations(cast.lab, range(1, 9))
    with lab_scope(cast.lab.pk):
        assert (Destination.objects.count(), Delivery.objects.count(), Recipient.objects.count()) == (9, 27, 9)
    assert statements(client, "/trends/destinations/") == few


def _destinations(lab: Lab, numbers: range) -> None:
    """Each is told of a watch of its own; one delivery of each state."""
    with lab_scope(lab.pk):
        for number in numbers:
            watch = Watch.objects.create(lab=lab, name=f"watch {number}", query=QUERY, created_by="who")
            to = Destination.objects.create(
                lab=lab,
                kind="email",
                name=f"n{number}",
                address=f"n{number}@example.org",
                created_by="who",
            )
            Recipient.objects.create(lab=lab, watch=watch, destination=to)
            for state in (DeliveryState.WAITING, DeliveryState.SENT, DeliveryState.DEAD):
                Delivery.objects.create(lab=lab, destination=to, watch=watch, state=state, payload={})


DOCUMENTS = ["/studies/paper/wiki/", "/api/v1/studies/paper/?format=mediawiki", "/studies/paper/wording/?lang=it"]
MEASURES = [("write", "iops"), ("read", "bandwidth"), ("read", "iops"), ("randread", "iops"), ("randwrite", "iops")]


def all_statements(client: Client, addresses: list[str]) -> dict[str, int]:
    return {address: statements(client, address) for address in addresses}


@pytest.mark.slow
def test_the_pages_of_a_study(cast: Cast, sign_in: SignIn) -> None:
    """However many configurations, runs, claims, measures, and comparisons that people put into it."""
    study, client = make_study(cast.lab), sign_in("engineer")
    with lab_scope(cast.lab.pk):
        make_claim(study)
        _compare(study, 0, QUERY)
    addresses = ["/studies/paper/", "/studies/paper/claims/", "/studies/", *DOCUMENTS]
    few = all_statements(client, addresses)
    with lab_scope(cast.lab.pk):
        for number in range(6):
            published(cast.lab, f"more-{number}", {1000: 1e8, 4000: 6e7})
            make_claim(study, f"D{number}")
        _more_runs(cast.lab, study, "stripe", dict.fromkeys(range(10, 30), 100000000.0))
    assert all_statements(client, addresses) == few
    with lab_scope(cast.lab.pk):
        _more_measures(study)
        for number, query in enumerate(_queries(), start=1):
            _compare(study, number, query)
    assert all_statements(client, addresses) == few


# {claim} and {watch} are the first ones.
ALL_OTHERS = [
    f"/compare/?{QUERY}", f"/compare/filters/?{QUERY}", "/compare/side-by-side/?study=paper", "/compare/side-by-side/choose/",
    "/comparisons/", "/studies/paper/comparisons/", "/studies/paper/claims/new/", "/claims/{claim}/edit/",
    "/trends/", "/trends/new/", "/trends/{watch}/", "/trends/{watch}/edit/",
    f"/api/v1/compare/?{QUERY}", f"/api/v1/compare/?{QUERY}&format=mediawiki", "/api/v1/compare/side-by-side/?study=paper",
    "/api/v1/comparisons/", "/api/v1/claims/", "/api/v1/claims/{claim}/", "/api/v1/trends/", "/api/v1/trends/{watch}/",
]  # fmt: skip


@pytest.mark.slow
def test_every_other_page_of_comparisons(cast: Cast, sign_in: SignIn) -> None:
    """However many runs, configurations, measures, claims, watches and saved comparisons."""
    study, client = make_study(cast.lab), sign_in("engineer")
    with lab_scope(cast.lab.pk):
        claim = make_claim(study)
        watch = _watched(cast.lab, study, 0)
    addresses = [address.format(claim=claim.pk, watch=watch.pk) for address in ALL_OTHERS]
    few = all_statements(client, addresses)
    with lab_scope(cast.lab.pk):
        for number in range(1, 7):
            published(cast.lab, f"more-{number}", {1000: 1e8, 4000: 6e7})
            make_claim(study, f"D{number}")
            _watched(cast.lab, study, number)
        _more_runs(cast.lab, study, "stripe", dict.fromkeys(range(10, 30), 100000000.0))
        _more_measures(study)
        evaluate(claim)
    assert all_statements(client, addresses) == few


def _watched(lab: Lab, study: Study, number: int) -> Watch:
    _compare(study, number, QUERY)
    SavedComparison.objects.create(lab=lab, name=f"s{number}", query=QUERY, created_by="who")
    made: Watch = Watch.objects.create(lab=lab, name=f"w{number}", query=QUERY, created_by="who")
    return made


def _queries() -> list[str]:
    """Of each measure, of another choice of runs, and of one that is refused."""
    measures = [f"metric={metric}&operation={operation}&series=label&study=paper" for operation, metric in MEASURES]
    return [*measures, f"{QUERY}&raid_level=0", f"{QUERY}&run=none", "metric=nothing"]


@pytest.mark.slow
def test_the_documents_of_a_study_without_comparisons(cast: Cast, sign_in: SignIn) -> None:
    """However many operations and metrics were measured."""
    study, client = make_study(cast.lab), sign_in("engineer")
    few = all_statements(client, DOCUMENTS)
    with lab_scope(cast.lab.pk):
        _more_measures(study)
        made = Sample.objects.values("measure").distinct().count()
    assert made == 1 + len(MEASURES)
    assert all_statements(client, DOCUMENTS) == few


def _more_measures(study: Study) -> None:
    for one in Run.objects.filter(study_run__configuration__study=study):
        for number, (operation, metric) in enumerate(MEASURES):
            sample(one, 100.0 + number, operation, metric, file_size=10**9)


def test_the_documents_have_all_comparisons(cast: Cast) -> None:
    """What few statements ask for is there: each table, and why there is none."""
    study = make_study(cast.lab)
    with lab_scope(cast.lab.pk):
        _more_measures(study)
        for number, query in enumerate(_queries()):
            _compare(study, number, query)
        sections = document_of(study, "en", Addresses("", str)).sections
    found = {one.heading: one for one in sections if re.fullmatch(r"C\d", one.heading)}
    tables = {heading: one.table.rows for heading, one in found.items() if one.table}
    assert [tables[f"C{number}"] for number in range(5)] == [
        (("1\N{NO-BREAK SPACE}GB", *[f"10{n} (2)"] * 2),) for n in range(5)
    ]
    assert [len(row) for row in tables["C5"]] == [2, 2]  # the stripe alone
    assert [name for name in found if name not in tables] == ["C6", "C7"]
    assert [found[name].paragraphs[0].partition(",")[0] for name in ("C6", "C7")] == [
        "This comparison cannot be made any more: run: found 'none'",
        "This comparison cannot be made any more: metric: found 'nothing'",
    ]


def _compare(study: Study, number: int, query: str) -> None:
    StudyComparison.objects.create(
        study=study, name=f"c{number}", title=f"C{number}", created_by="who", query=query, position=number
    )
