"""A comparison of more samples than it takes says so, and where the samples are to be had."""

from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from apps.comparison.queries import samples
from apps.labs.models import Lab
from tests.comparison.factories import measured
from tests.sampling import for_each

SignIn = Callable[[str], Client]
WAY_OUT = "/api/v1/samples.csv?operation=write&metric=bandwidth&host=alpha&raid_level=5"


@pytest.fixture(autouse=True)
def measured_samples(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(lab, "alpha", [1e8, 2e8, 3e8], raid_level="5")
    measured(lab, "alpha", [4e8], raid_level="0")
    monkeypatch.setattr(samples, "MOST_SAMPLES", 2)


@for_each("form", ["json", "csv", "mediawiki", "svg"])
def test_by_rest_it_is_a_problem_that_names_the_address(sign_in: SignIn, form: str) -> None:
    client = sign_in("viewer")
    answer = client.get(f"/api/v1/compare/?raid_level=5&host=alpha&format={form}")
    assert answer.status_code == 400
    problem = answer.json()
    assert (problem["field"], problem["found"]) == ("filters", "more than 2 samples")
    assert problem["expected"].endswith(f" {WAY_OUT}")


def test_the_page_says_the_same(sign_in: SignIn) -> None:
    page = sign_in("viewer").get("/compare/?raid_level=5&host=alpha")
    assert page.status_code == 400
    assert WAY_OUT in unescape(page.content.decode())


def test_the_address_has_all_of_them(sign_in: SignIn) -> None:
    found = b"".join(sign_in("viewer").get(WAY_OUT).streaming_content).decode()  # type: ignore[attr-defined]
    assert [line.split(",")[4] for line in found.splitlines()[1:]] == ["100000000", "200000000", "300000000"]
