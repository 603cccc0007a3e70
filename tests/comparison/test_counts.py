"""Beside each choice of a filter stands how many runs it would leave, as the other filters are."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.comparison.queries.choices import counts
from apps.comparison.question import Question
from apps.labs.models import Lab
from tests.comparison.factories import GIB, MIB, measured, published

SignIn = Callable[[str], Client]


@pytest.fixture
def runs(lab: Lab) -> None:
    measured(lab, "alpha", [1e8, 1e8, 1e8], raid_level="5", disk_count=4)
    measured(lab, "beta", [1e8, 1e8], raid_level="0", disk_count=4)
    measured(lab, "beta", [1e8], raid_level="0", disk_count=8, file_size=GIB)
    measured(lab, "gamma", [1e8])


def found(*filters: tuple[str, str]) -> dict[str, dict[object, int]]:
    return {name: dict(values) for name, values in counts(Question(filters=filters)).items()}


@pytest.mark.usefixtures("runs")
def test_a_filter_offers_what_it_leaves_out_with_its_runs() -> None:
    assert found(("raid_level", "5")) == {"raid_level": {"5": 3, "0": 3, None: 1}}


@pytest.mark.usefixtures("runs")
def test_the_other_filters_narrow_the_counts() -> None:
    both = found(("raid_level", "0"), ("disk_count", "4"))
    assert both == {"raid_level": {"5": 3, "0": 2}, "disk_count": {4: 2, 8: 1}}


@pytest.mark.usefixtures("runs")
def test_names_and_points_are_counted_too() -> None:
    assert found(("host", "alpha"))["host"] == {"alpha": 3, "beta": 3, "gamma": 1}
    assert found(("file_size", str(GIB)))["file_size"] == {256 * MIB: 6, GIB: 1}


def test_a_study_of_no_study_is_unknown(lab: Lab) -> None:
    published(lab, "RAID 5", {100: 1e8})
    measured(lab, "alpha", [1e8])
    assert found(("study", "paper"))["study"] == {"paper": 1, None: 1}


@pytest.mark.usefixtures("runs")
def test_one_query_counts_all_filters() -> None:
    with CaptureQueriesContext(connection) as captured:
        found(("raid_level", "0"), ("disk_count", "4"), ("host", "beta"), ("file_size", str(GIB)), ("run", "1"))
    assert len(captured) == 1
    with CaptureQueriesContext(connection) as captured:
        assert found(("run", "1")) == {}
    assert len(captured) == 0


@pytest.mark.usefixtures("runs")
def test_the_filters_fragment_has_all_choices_and_the_page_keeps_to_those_in_force(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    fragment = client.get("/compare/filters/?raid_level=5").content.decode()
    assert '<span>5 <span class="muted">3</span></span>' in fragment
    assert '<span>0 <span class="muted">3</span></span>' in fragment
    assert '<span>unknown <span class="muted">1</span></span>' in fragment
    page = client.get("/compare/?raid_level=5").content.decode()
    assert '<span>0 <span class="muted">3</span></span>' not in page
    again = client.get("/compare/?raid_level=5", headers={"HX-Request": "true"}).content.decode()
    assert '<span>0 <span class="muted">3</span></span>' in again


@pytest.mark.usefixtures("runs")
def test_the_fragments_queries_do_not_grow_with_the_data(lab: Lab, sign_in: SignIn) -> None:
    client = sign_in("viewer")

    def asked() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get("/compare/filters/?raid_level=5&disk_count=4")
        return len(captured)

    asked()
    few = asked()
    for number in range(8):
        measured(lab, f"host-{number}", [1e8] * 3, raid_level="5", disk_count=4)
    assert asked() == few


def test_filters_of_nothing_are_not_found(lab: Lab, sign_in: SignIn) -> None:
    assert sign_in("viewer").get("/compare/filters/?metric=speed").status_code == 404


def test_a_filter_of_too_many_values_is_named(lab: Lab, sign_in: SignIn) -> None:
    for number in range(25):
        measured(lab, f"node{number:02}", [1e8], raid_level=str(number % 2))
    page = sign_in("viewer").get("/compare/?metric=bandwidth").content.decode()
    assert "host (25, in the address <code>host=…</code>)" in page
    assert 'name="host"' not in page
    assert 'name="raid_level"' in page
    chosen = sign_in("viewer").get("/compare/?host=node03").content.decode()
    assert "1 sample" in chosen
    assert 'name="host" value="node03"' in chosen
